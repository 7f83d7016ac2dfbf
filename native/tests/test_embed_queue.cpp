#include "engine/embed_queue.h"

#include <doctest/doctest.h>
#include <future>
#include <thread>

using namespace llamaint;

namespace {

std::shared_ptr<EmbedHandle> job(uint64_t id, const std::vector<size_t> & lengths) {
    std::vector<Tokens> texts;
    for (const size_t length : lengths) {
        texts.emplace_back(length, 1);
    }
    return std::make_shared<EmbedHandle>(id, std::move(texts), 4, false, std::make_shared<Notifier>());
}

EmbedQueue::Request request(uint64_t want, uint64_t room = 1000, uint32_t worker = 0) {
    EmbedQueue::Request request;
    request.worker = worker;
    request.wait = false;
    request.room = room;
    request.want = want;
    request.share = 1;
    request.n_texts = 100;
    return request;
}

// "1.0 2.0": first text of job 1, first text of job 2.
std::string names(const EmbedQueue::Pack & pack) {
    std::string names;
    for (const EmbedText & text : pack.texts) {
        names += (names.empty() ? "" : " ") + std::to_string(text.job->id()) + "." + std::to_string(text.index);
    }
    return names;
}

}  // namespace

TEST_CASE("jobs take turns, so a short one does not wait behind a long one") {
    EmbedQueue queue;
    queue.push(job(1, { 10, 10, 10, 10 }));
    queue.push(job(2, { 10 }));
    CHECK(names(queue.take(request(30))) == "1.0 2.0 1.1");
    CHECK(names(queue.take(request(30))) == "1.2 1.3");
    CHECK(queue.take(request(30)).texts.empty());
}

TEST_CASE("a text longer than wanted is taken alone, one longer than the room stays") {
    EmbedQueue queue;
    queue.push(job(1, { 50, 5 }));
    CHECK(names(queue.take(request(10, 40))).empty());
    CHECK(names(queue.take(request(10, 60))) == "1.0");
    CHECK(names(queue.take(request(10, 60))) == "1.1");
}

TEST_CASE("idle workers split the work") {
    EmbedQueue queue;
    queue.open(2);
    queue.push(job(1, { 10, 10, 10, 10 }));
    const auto first = queue.take(request(100));
    CHECK(names(first) == "1.0 1.1");
    CHECK_FALSE(first.alone);
    const auto second = queue.take(request(100, 1000, 1));
    CHECK(names(second) == "1.2 1.3");
    CHECK_FALSE(second.alone);
    queue.done();
    queue.done();
    queue.push(job(2, { 10 }));
    CHECK(queue.take(request(100)).alone);
}

TEST_CASE("work that is too small is not split") {
    EmbedQueue queue;
    queue.open(4);
    queue.push(job(1, { 10, 10, 10, 10 }));
    EmbedQueue::Request whole = request(100);
    whole.share = 64;
    CHECK(queue.take(whole).texts.size() == 4);
}

TEST_CASE("a later worker starts only when the earlier ones are busy") {
    EmbedQueue queue;
    queue.open(2);
    queue.push(job(1, { 10, 10 }));
    CHECK(queue.take(request(10, 1000, 1)).texts.empty());
    CHECK(names(queue.take(request(10))) == "1.0");
    CHECK(names(queue.take(request(10, 1000, 1))) == "1.1");
}

TEST_CASE("texts without tokens never come out, and a job of nothing else has ended") {
    EmbedQueue queue;
    queue.push(job(1, { 0, 7, 0, 0, 8, 0 }));
    const auto empty = job(2, { 0, 0 });
    queue.push(empty);
    CHECK(empty->ended());
    CHECK(names(queue.take(request(100))) == "1.1 1.4");
    CHECK(queue.waiting_tokens() == 0);
}

TEST_CASE("a cancelled job leaves the queue and its tokens do not count") {
    EmbedQueue queue;
    const auto victim = job(1, { 10, 10 });
    queue.push(victim);
    queue.push(job(2, { 5 }));
    CHECK(queue.waiting_tokens() == 25);
    victim->cancel();
    CHECK(names(queue.take(request(100))) == "2.0");
    CHECK(queue.waiting_tokens() == 0);
}

TEST_CASE("close ends what waits, refuses what comes, and lets a waiting worker go") {
    EmbedQueue queue;
    auto waiting = std::async(std::launch::async, [&] {
        EmbedQueue::Request patient = request(10);
        patient.wait = true;
        return queue.take(patient).texts.size();
    });
    queue.close();
    CHECK(waiting.get() == 0);
    CHECK(queue.closed());
    CHECK_THROWS_AS(queue.push(job(1, { 1 })), Error);

    EmbedQueue full;
    const auto left = job(2, { 5 });
    full.push(left);
    full.close();
    CHECK_THROWS_WITH_AS(left->result(), "the engine was closed", Error);
}

TEST_CASE("a job ends with its last text, once, and tells whoever watches") {
    const auto notifier = std::make_shared<Notifier>();
    EmbedHandle handle(7, { Tokens{ 1 }, Tokens{}, Tokens{ 2 } }, 2, false, notifier);
    handle.watch();
    handle.finish_text();
    CHECK_FALSE(handle.wait(0));
    handle.pooled(2)[1] = 3.0f;
    handle.finish_text();
    CHECK(handle.wait(0));
    CHECK(notifier->wait(0) == std::vector<uint64_t>{ 7 });
    handle.cancel();
    handle.fail(Error(ErrorCode::engine, "too late"));
    CHECK(handle.result()->pooled == std::vector<float>{ 0, 0, 0, 0, 0, 3 });
}
