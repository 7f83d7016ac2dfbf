#include "core/error.h"
#include "core/row_max.h"

#include <doctest/doctest.h>
#include <limits>
#include <vector>

using namespace llamaint;

namespace {

// Two whole blocks and a rest.
std::vector<float> row(int32_t n = 2 * 256 + 5) {
    return std::vector<float>(static_cast<size_t>(n), -1.0f);
}

LargestLogit largest_of(const std::vector<float> & logits) {
    return largest_logit(logits.data(), static_cast<int32_t>(logits.size()));
}

}  // namespace

TEST_CASE("the largest logit is found wherever it stands") {
    for (const size_t at : { 0, 17, 255, 256, 511, 512, 516 }) {
        std::vector<float> logits = row();
        logits[at] = 2.5f;
        CHECK(largest_of(logits).token == static_cast<int32_t>(at));
        CHECK(largest_of(logits).logit == 2.5f);
    }
}

TEST_CASE("the first of equal logits counts") {
    std::vector<float> logits = row();
    for (const size_t at : { 40, 41, 300, 515 }) {
        logits[at] = 7.0f;
    }
    CHECK(largest_of(logits).token == 40);
    CHECK(largest_of(row(3)).token == 0);
}

TEST_CASE("a row that nothing can be picked from is refused") {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const size_t at : { 3, 400, 514 }) {
        for (const float bad : { nan, infinity }) {
            std::vector<float> logits = row();
            logits[at] = bad;
            CHECK_THROWS_AS(largest_of(logits), Error);
        }
    }
    CHECK_THROWS_AS(largest_of(std::vector<float>(600, -infinity)), Error);
    std::vector<float> one_possible(600, -infinity);
    one_possible[599] = -1e30f;
    CHECK(largest_of(one_possible).token == 599);
}
