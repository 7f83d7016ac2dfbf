#include "core/pooling.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace llamaint;

namespace {

std::vector<float> pooled(Pooling pooling, const std::vector<std::vector<float>> & rows) {
    RowPool pool(pooling, 2);
    for (const auto & row : rows) {
        pool.add(row.data());
    }
    std::vector<float> out(2, -1.0f);
    pool.finish(out.data());
    return out;
}

}  // namespace

TEST_CASE("mean, first and last row") {
    const std::vector<std::vector<float>> rows = { { 1, 10 }, { 2, 20 }, { 6, 60 } };
    CHECK(pooled(Pooling::mean, rows) == std::vector<float>{ 3, 30 });
    CHECK(pooled(Pooling::cls, rows) == std::vector<float>{ 1, 10 });
    CHECK(pooled(Pooling::last, rows) == std::vector<float>{ 6, 60 });
}

TEST_CASE("no rows give zeros") {
    for (const Pooling pooling : { Pooling::mean, Pooling::cls, Pooling::last }) {
        CHECK(pooled(pooling, {}) == std::vector<float>{ 0, 0 });
    }
}

TEST_CASE("a mean over many rows loses nothing to rounding") {
    RowPool pool(Pooling::mean, 1);
    const float large = 3e7f;
    const float small = 0.25f;
    for (int i = 0; i < 100000; i++) {
        pool.add(i % 2 ? &large : &small);
    }
    float mean = 0;
    pool.finish(&mean);
    CHECK(mean == doctest::Approx(1.5e7 + 0.125).epsilon(1e-7));
}

TEST_CASE("values that are not finite are an error") {
    CHECK_THROWS_AS(pooled(Pooling::mean, { { 1, NAN } }), Error);
    CHECK_THROWS_AS(pooled(Pooling::last, { { 1, 2 }, { INFINITY, 2 } }), Error);
    CHECK(pooled(Pooling::cls, { { 1, 2 }, { INFINITY, 2 } }) == std::vector<float>{ 1, 2 });
}
