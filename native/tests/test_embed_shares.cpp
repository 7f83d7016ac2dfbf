#include "engine/embed_shares.h"

#include <doctest/doctest.h>

using namespace llamaint;
using Rows = std::vector<uint32_t>;

TEST_CASE("texts that fit together get what they want") {
    CHECK(fair_shares({ 3, 1, 4 }, 8) == Rows{ 3, 1, 4 });
    CHECK(fair_shares({ 3, 1, 4 }, 100) == Rows{ 3, 1, 4 });
}

TEST_CASE("a long text does not take the rows of the short ones behind it") {
    CHECK(fair_shares({ 1000, 5, 5 }, 90) == Rows{ 80, 5, 5 });
    CHECK(fair_shares({ 5, 1000, 5 }, 90) == Rows{ 5, 80, 5 });
}

TEST_CASE("what is left over goes to the oldest") {
    CHECK(fair_shares({ 100, 100, 100 }, 64) == Rows{ 22, 21, 21 });
    CHECK(fair_shares({ 100, 100, 2 }, 62) == Rows{ 40, 20, 2 });
}

TEST_CASE("more texts than rows: the oldest goes first") {
    CHECK(fair_shares({ 5, 5, 5, 5 }, 2) == Rows{ 2, 0, 0, 0 });
}

TEST_CASE("texts that wait take no rows") {
    CHECK(fair_shares({ 0, 7, 0 }, 10) == Rows{ 0, 7, 0 });
    CHECK(fair_shares({}, 10).empty());
}
