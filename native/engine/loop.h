#pragma once

#include "abort_gate.h"
#include "metrics.h"
#include "sequence.h"
#include "slots.h"
#include "thread_governor.h"

#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace llamaint {

// The heart of the engine: admits, plans, decodes, samples. Lives on the engine thread alone.
//
// Every step leaves each sequence either advanced or exactly where it was (Sequence's invariant);
// whatever happens, each choice ends in one chunk that carries a finish.
class Loop {
  public:
    struct Options {
        uint32_t n_parallel;
        uint32_t max_rows;      // of one decode
        uint32_t prefill_rows;  // prompt rows beside generating sequences
        bool adaptive_threads;
        bool no_perf;
    };

    Loop(Context & context, const Options & options, const Slots::Options & slot_options, AbortGate & gate,
         Metrics & metrics);
    ~Loop();

    void add(std::shared_ptr<Request> request);

    // The engine was idle and has work again.
    void wake();

    // One step. False when there is nothing to do until the next add().
    bool step();

    // Ends everything that runs or waits with `error`.
    void fail_all(const Error & error);

  private:
    using SequencePtr = std::unique_ptr<Sequence>;
    struct Planned {
        Sequence * sequence;
        uint32_t n_rows;
        int32_t output_row;  // row of the batch that yields logits, -1 while the prompt goes on
    };
    enum class Decoded { ok, no_room, aborted, failed };

    // One step, in this order.
    void sweep();
    void admit();
    std::vector<Planned> plan();
    Decoded decode(std::vector<Planned> & planned);
    void commit(const std::vector<Planned> & planned);
    void reap();

    int32_t threads_for(const std::vector<Planned> & planned) const;
    void make_room();
    void after_no_room(const std::vector<Planned> & planned);
    void undo(const std::vector<Planned> & planned);
    void isolate(const std::vector<Planned> & planned);

    void start(SequencePtr sequence, int32_t slot, uint32_t n_reused);
    void start_siblings(const Sequence & leader, std::vector<SequencePtr> siblings, const std::vector<float> & logits);
    void preempt_youngest();
    void sample(Sequence & sequence, float * logits);
    void finish(Sequence & sequence, Finish reason, std::shared_ptr<Error> error = nullptr, Chunk last = {});
    void send(const Sequence & sequence, Chunk chunk);
    void publish();

    Context & context_;
    const Options options_;
    Slots slots_;
    AbortGate & gate_;
    Metrics & metrics_;
    ThreadGovernor governor_;
    llama_batch batch_;

    std::deque<SequencePtr> waiting_;   // oldest first; preempted ones return to the front
    std::vector<SequencePtr> running_;  // oldest first
    std::vector<SequencePtr> started_;  // siblings that joined during commit()
    // Chunks of this step: they leave when slots and gauges show the state after it.
    std::vector<std::pair<std::shared_ptr<Handle>, Chunk>> outbox_;
    uint32_t row_limit_;   // halved when the cache has no room for a step, back up after
    std::string failure_;  // llama.cpp's reason for the last failed decode
};

}  // namespace llamaint
