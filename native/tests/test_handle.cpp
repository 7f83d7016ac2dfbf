#include "engine/handle.h"

#include <doctest/doctest.h>
#include <thread>

using namespace llamaint;

namespace {

Chunk text(int32_t choice, const std::string & text) {
    Chunk chunk;
    chunk.choice = choice;
    chunk.text = text;
    return chunk;
}

Chunk end(int32_t choice, Finish finish = Finish::stop) {
    Chunk chunk;
    chunk.choice = choice;
    chunk.finish = finish;
    return chunk;
}

}  // namespace

TEST_CASE("chunks that nobody took are merged per choice") {
    Handle handle(1, 2, true, std::make_shared<Notifier>());
    handle.push(text(0, "a"));
    handle.push(text(1, "x"));
    handle.push(text(0, "b"));
    handle.push(end(0));
    const auto chunks = handle.take();
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[0].text == "ab");
    CHECK(chunks[0].finish == Finish::stop);
    CHECK(chunks[1].text == "x");
    CHECK_FALSE(handle.done());
    handle.push(end(1));
    CHECK_FALSE(handle.done());
    handle.take();
    CHECK(handle.done());
}

TEST_CASE("without streaming everything arrives with the last end") {
    Handle handle(1, 1, false, std::make_shared<Notifier>());
    handle.push(text(0, "a"));
    CHECK(handle.take().empty());
    CHECK(handle.wait(0.0).empty());
    handle.push(end(0));
    const auto chunks = handle.take();
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].text == "a");
}

TEST_CASE("a watched handle is announced once per delivery, also when watched late") {
    auto notifier = std::make_shared<Notifier>();
    Handle handle(7, 1, true, notifier);
    handle.push(text(0, "a"));
    CHECK(notifier->wait(0.0).empty());
    handle.watch();
    CHECK(notifier->wait(0.0) == std::vector<uint64_t>{ 7 });
    handle.push(text(0, "b"));
    handle.push(text(0, "c"));
    CHECK(notifier->wait(0.0) == std::vector<uint64_t>{ 7 });
}

TEST_CASE("a waiting thread wakes when text comes and when the notifier closes") {
    auto notifier = std::make_shared<Notifier>();
    Handle handle(1, 1, true, notifier);
    std::thread writer([&] { handle.push(text(0, "a")); });
    CHECK(handle.wait(60.0).size() == 1);
    writer.join();
    std::thread closer([&] { notifier->close(); });
    CHECK_THROWS_AS(notifier->wait(60.0), Error);
    closer.join();
}

TEST_CASE("the cancel callback runs once") {
    Handle handle(1, 1, true, std::make_shared<Notifier>());
    int calls = 0;
    handle.on_cancel([&] { calls++; });
    handle.cancel();
    handle.cancel();
    CHECK(calls == 1);
    CHECK(handle.cancelled());
}
