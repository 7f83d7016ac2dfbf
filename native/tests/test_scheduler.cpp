#include "engine/admission.h"
#include "engine/scheduler.h"

#include <doctest/doctest.h>
#include <numeric>

using namespace llamaint;

namespace {

constexpr SeqView generating{ 1, true };

SeqView prompt(uint32_t pending) {
    return { pending, false };
}

uint32_t sum(const std::vector<uint32_t> & rows) {
    return std::accumulate(rows.begin(), rows.end(), 0u);
}

}  // namespace

TEST_CASE("generating sequences get a row each before any prompt") {
    const auto rows = plan_rows({ prompt(500), generating, generating }, { 64, 1000, 32, 16 });
    CHECK(rows == std::vector<uint32_t>{ 32, 1, 1 });
}

TEST_CASE("a prompt alone takes the whole decode") {
    CHECK(plan_rows({ prompt(500) }, { 512, 1000, 32, 16 })[0] == 500);
    CHECK(plan_rows({ prompt(5000) }, { 512, 9000, 32, 16 })[0] == 512);
}

TEST_CASE("a short prompt is not held up by a long one before it") {
    const auto rows = plan_rows({ prompt(4000), prompt(20) }, { 512, 9000, 128, 32 });
    CHECK(rows[1] == 20);
    CHECK(sum(rows) == 512);
}

TEST_CASE("the oldest prompt takes what fairness leaves") {
    const auto rows = plan_rows({ prompt(300), prompt(300), prompt(300) }, { 400, 9000, 128, 50 });
    CHECK(rows == std::vector<uint32_t>{ 300, 50, 50 });
}

TEST_CASE("a short rest of a prompt does not wait for a decode of its own") {
    const auto rows = plan_rows({ generating, prompt(40), prompt(49), prompt(70) }, { 512, 9000, 96, 32 });
    CHECK(rows == std::vector<uint32_t>{ 1, 40, 32, 24 });
}

TEST_CASE("no plan exceeds rows or free cells") {
    for (uint32_t max_rows : { 1u, 7u, 64u }) {
        for (uint32_t free_cells : { 0u, 3u, 1000u }) {
            const auto rows =
                plan_rows({ generating, prompt(90), generating, prompt(3) }, { max_rows, free_cells, 16, 8 });
            CHECK(sum(rows) <= std::min(max_rows, free_cells));
            CHECK(rows[0] <= 1);
            CHECK(rows[1] <= 90);
            CHECK(rows[3] <= 3);
        }
    }
}

TEST_CASE("a request starts when its cells are free beside what is promised") {
    CHECK(may_start({ 1, 4, 100, 40, 60 }));
    CHECK_FALSE(may_start({ 1, 4, 100, 41, 60 }));
    CHECK_FALSE(may_start({ 4, 4, 1000, 0, 1 }));
}

TEST_CASE("alone, a request always starts") {
    CHECK(may_start({ 0, 1, 10, 0, 4000 }));
}
