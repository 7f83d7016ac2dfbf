#pragma once

#include <atomic>
#include <cstdint>

namespace llamaint {

// Counters since the engine started, written by its thread, read by any. Seconds and numbers are totals;
// the gauges at the end are the state after the last step.
struct Metrics {
    std::atomic<uint64_t> requests{ 0 };
    std::atomic<uint64_t> finished_stop{ 0 };
    std::atomic<uint64_t> finished_length{ 0 };
    std::atomic<uint64_t> finished_cancelled{ 0 };
    std::atomic<uint64_t> finished_deadline{ 0 };
    std::atomic<uint64_t> finished_error{ 0 };
    std::atomic<uint64_t> prompt_tokens{ 0 };  // evaluated
    std::atomic<uint64_t> cached_tokens{ 0 };  // of prompts, taken from the prefix cache
    std::atomic<uint64_t> generated_tokens{ 0 };
    std::atomic<uint64_t> steps{ 0 };
    std::atomic<uint64_t> preemptions{ 0 };
    std::atomic<uint64_t> evictions{ 0 };
    std::atomic<uint64_t> aborted_steps{ 0 };
    std::atomic<uint64_t> failed_steps{ 0 };
    std::atomic<uint64_t> thread_changes{ 0 };
    std::atomic<uint64_t> decode_us{ 0 };  // inside llama_decode
    std::atomic<uint64_t> sample_us{ 0 };  // choosing tokens, text and stop strings

    std::atomic<uint32_t> running{ 0 };
    std::atomic<uint32_t> waiting{ 0 };
    std::atomic<uint32_t> cached_sequences{ 0 };
    std::atomic<uint32_t> cells_used{ 0 };
    std::atomic<uint32_t> threads{ 0 };
};

}  // namespace llamaint
