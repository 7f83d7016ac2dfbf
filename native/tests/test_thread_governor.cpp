#include "engine/thread_governor.h"

#include <doctest/doctest.h>

using llamaint::ThreadGovernor;

namespace {

// Decodes for `seconds` of virtual time; returns the tokens made.
template <typename StepTime> int run(ThreadGovernor & governor, double seconds, StepTime step_time, uint32_t rows = 1) {
    int tokens = 0;
    for (double t = 0; t < seconds; tokens++) {
        const double step = step_time(governor.threads());
        t += step;
        governor.observe(rows, step);
    }
    return tokens;
}

// Seconds per token of SmolLM2-135M on 2 cores: idle, and beside one busy process (docs/dev/threads.md).
double idle(int32_t threads) {
    return threads == 2 ? 0.0069 : 0.0120;
}

double contended(int32_t threads) {
    return threads == 2 ? 0.0256 : 0.0119;
}

}  // namespace

TEST_CASE("an idle machine keeps all threads and loses little to trials") {
    ThreadGovernor governor(2, true);
    const int      tokens = run(governor, 10.0, idle);
    CHECK(governor.threads() == 2);
    CHECK(tokens > 0.985 * 10.0 / idle(2));
}

TEST_CASE("contention that appears is noticed, and its end too") {
    ThreadGovernor governor(2, true);
    run(governor, 3.0, idle);
    const int tokens = run(governor, 10.0, contended);
    CHECK(governor.threads() == 1);
    CHECK(tokens > 0.9 * 10.0 / contended(1));
    run(governor, 10.0, idle);
    CHECK(governor.threads() == 2);
}

TEST_CASE("a machine that was busy from the start is noticed as well") {
    ThreadGovernor governor(2, true);
    const int      tokens = run(governor, 10.0, contended);
    CHECK(governor.threads() == 1);
    CHECK(tokens > 0.85 * 10.0 / contended(1));
}

TEST_CASE("many cores step down and up by halves") {
    ThreadGovernor governor(8, true);
    run(governor, 10.0, [](int32_t threads) { return threads > 2 ? 0.050 : 0.010 * 2 / threads; });
    CHECK(governor.threads() == 2);
    run(governor, 30.0, [](int32_t threads) { return 0.040 / threads; });
    CHECK(governor.threads() == 8);
}

TEST_CASE("a fixed count is never changed") {
    ThreadGovernor governor(2, false);
    run(governor, 10.0, contended);
    CHECK(governor.threads() == 2);
}

TEST_CASE("prompts and changing batch sizes do not confuse it") {
    ThreadGovernor governor(2, true);
    for (int i = 0; i < 2000; i++) {
        const uint32_t rows = i % 7 == 0 ? 512 : 1 + i % 16;
        governor.observe(rows, 0.002 * rows);
    }
    CHECK(governor.threads() == 2);
}
