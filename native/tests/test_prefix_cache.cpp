#include "engine/prefix_cache.h"

#include <doctest/doctest.h>

using llamaint::PrefixCache;

TEST_CASE("the longest common front is found and the last prompt token is left to evaluate") {
    PrefixCache cache;
    cache.insert(0, { 1, 2, 3, 9 });
    cache.insert(1, { 1, 2, 3, 4, 5 });
    CHECK(cache.find({ 1, 2, 3, 4, 7 }, false).entry->slot == 1);
    CHECK(cache.find({ 1, 2, 3, 4, 7 }, false).length == 4);
    CHECK(cache.find({ 1, 2, 3, 4, 5 }, false).length == 4);
    CHECK(cache.find({ 8, 2 }, false).entry == nullptr);
    CHECK(cache.find({ 1 }, false).entry == nullptr);
}

TEST_CASE("memory that cannot be cut back is reused only whole") {
    PrefixCache cache;
    cache.insert(0, { 1, 2, 3, 4 });
    cache.insert(1, { 1, 2 });
    CHECK(cache.find({ 1, 2, 3, 7 }, true).entry->slot == 1);
    CHECK(cache.find({ 1, 2, 3, 7 }, true).length == 2);
    CHECK(cache.find({ 1, 2 }, true).entry == nullptr);
    CHECK(cache.find({ 1, 2, 3, 4, 5 }, true).length == 4);
}

TEST_CASE("the least recently used entry is evicted first") {
    PrefixCache cache;
    cache.insert(0, { 1 });
    cache.insert(1, { 2 });
    cache.insert(2, { 3 });
    cache.touch(0);
    CHECK(cache.oldest() == 1);
    CHECK(cache.oldest(1) == 2);
    cache.erase(1);
    CHECK(cache.oldest() == 2);
    cache.clear();
    CHECK(cache.oldest() == -1);
}
