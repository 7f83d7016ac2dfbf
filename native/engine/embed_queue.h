#pragma once

#include "embed_handle.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace llamaint {

// Jobs on their way to the workers. Texts are handed out one job at a time in turn, so that one short
// query does not wait behind a long list of documents.
class EmbedQueue {
  public:
    // What a worker can take now.
    struct Request {
        uint32_t worker = 0;  // 0-based; worker i starts only while i others are busy
        bool wait = true;     // until there is a text, or close()
        uint64_t room = 0;    // tokens; a text that is longer stays, and those behind it
        uint64_t want = 0;    // tokens; further texts are taken only while their sum stays within this
        uint64_t share = 0;   // tokens; work is split between idle workers, but not below this
        size_t n_texts = 0;   // at most
    };

    struct Pack {
        std::vector<EmbedText> texts;  // empty: nothing fits, or the queue is closed
        bool alone = false;            // nothing else waits or runs
    };

    // Before the first worker starts.
    void open(uint32_t n_workers) { n_workers_ = n_workers; }

    // Throws Error(closed).
    void push(std::shared_ptr<EmbedHandle> job);

    // A worker that was given texts counts as busy until it calls done().
    Pack take(const Request & request);
    void done();

    // Ends the waiting jobs with Error(closed) and lets the workers go.
    void close();
    bool closed() const;

    uint64_t waiting_tokens() const;

  private:
    struct Pending {
        std::shared_ptr<EmbedHandle> job;
        uint32_t next = 0;      // text
        uint64_t n_tokens = 0;  // of the texts from `next` on
    };

    void drop_ended();
    void pop_front_text();

    uint32_t n_workers_ = 1;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Pending> pending_;
    uint64_t n_tokens_ = 0;  // of all pending
    uint32_t n_busy_ = 0;
    bool closed_ = false;
};

}  // namespace llamaint
