#include "engine/thread_governor.h"

#include <doctest/doctest.h>

using llamaint::ThreadGovernor;

namespace {

// A machine whose other programs keep `busy` cores busy; `told` says whether it reports them.
struct Machine {
    int32_t busy = 0;
    bool told = true;

    ThreadGovernor::Runnable runnable() {
        return [this] { return told ? 1 + busy : 0; };
    }
};

// Decodes for `seconds` of virtual time; returns the tokens made.
template <typename StepTime>
int run(ThreadGovernor & governor, double seconds, StepTime step_time, uint32_t rows = 1) {
    int tokens = 0;
    for (double t = 0; t < seconds; tokens++) {
        const double step = step_time(governor.threads());
        t += step;
        governor.observe(rows, step);
    }
    return tokens;
}

// Seconds per token of SmolLM2-135M on 2 cores: idle, beside one busy process, and beside many, where
// two threads hardly ever run at the same time (docs/dev/threads.md).
double idle(int32_t threads) {
    return threads == 2 ? 0.0069 : 0.0120;
}

double contended(int32_t threads) {
    return threads == 2 ? 0.0256 : 0.0119;
}

double crowded(int32_t threads) {
    return threads == 2 ? 1.0 : 0.05;
}

}  // namespace

TEST_CASE("an idle machine keeps all threads and loses nearly nothing to trials") {
    for (const bool told : { true, false }) {
        Machine machine{ 0, told };
        ThreadGovernor governor(2, true, machine.runnable());
        governor.begin();
        const int tokens = run(governor, 20.0, idle);
        CHECK(governor.threads() == 2);
        CHECK(tokens > 0.985 * 20.0 / idle(2));
    }
}

TEST_CASE("contention that appears is noticed, and its end too") {
    for (const bool told : { true, false }) {
        CAPTURE(told);
        Machine machine{ 0, told };
        ThreadGovernor governor(2, true, machine.runnable());
        run(governor, 3.0, idle);
        machine.busy = 1;
        const int tokens = run(governor, 10.0, contended);
        CHECK(governor.threads() == 1);
        CHECK(tokens > 0.9 * 10.0 / contended(1));
        machine.busy = 0;
        run(governor, 20.0, idle);
        CHECK(governor.threads() == 2);
    }
}

TEST_CASE("a machine that was busy from the start is noticed as well") {
    Machine machine{ 1, true };
    ThreadGovernor governor(2, true, machine.runnable());
    governor.begin();
    CHECK(governor.threads() == 1);
    CHECK(run(governor, 10.0, contended) > 0.95 * 10.0 / contended(1));
}

TEST_CASE("trials on a crowded machine cost little although each is twenty times slower") {
    for (const bool told : { true, false }) {
        CAPTURE(told);
        Machine machine{ 8, told };
        ThreadGovernor governor(2, true, machine.runnable());
        governor.begin();
        const int tokens = run(governor, 120.0, crowded);
        CHECK(governor.threads() == 1);
        CHECK(tokens > 0.85 * 120.0 / crowded(1));
    }
}

TEST_CASE("many cores step down over plateaus and up again") {
    Machine machine{ 6, true };
    ThreadGovernor governor(8, true, machine.runnable());
    run(governor, 10.0, [](int32_t threads) { return threads > 2 ? 0.050 : 0.010 * 2 / threads; });
    CHECK(governor.threads() == 2);
    machine.busy = 0;
    run(governor, 30.0, [](int32_t threads) { return 0.040 / threads; });
    CHECK(governor.threads() == 8);
}

TEST_CASE("work that begins beside busy programs starts with the free cores") {
    Machine machine{ 5, true };
    ThreadGovernor governor(8, true, machine.runnable());
    governor.begin();
    CHECK(governor.threads() == 3);
    machine.busy = 40;
    governor.begin();
    CHECK(governor.threads() == 1);
    machine.busy = 0;
    governor.begin();
    CHECK(governor.threads() == 8);
}

TEST_CASE("a fixed count is never changed") {
    Machine machine{ 8, true };
    ThreadGovernor governor(2, false, machine.runnable());
    governor.begin();
    run(governor, 10.0, contended);
    CHECK(governor.threads() == 2);
}

TEST_CASE("prompts and changing batch sizes do not confuse it") {
    Machine machine;
    ThreadGovernor governor(2, true, machine.runnable());
    for (uint32_t i = 0; i < 2000; i++) {
        const uint32_t rows = i % 7 == 0 ? 512 : 1 + i % 16;
        governor.observe(rows, 0.002 * rows);
    }
    CHECK(governor.threads() == 2);
}
