#pragma once

#include <atomic>
#include <cstdint>

namespace llamaint {

// Counters since the engine started, written by its workers.
struct EmbedMetrics {
    std::atomic<uint64_t> jobs{ 0 };
    std::atomic<uint64_t> texts{ 0 };   // finished
    std::atomic<uint64_t> tokens{ 0 };  // evaluated
    std::atomic<uint64_t> decodes{ 0 };
    std::atomic<uint64_t> aborted_decodes{ 0 };
    std::atomic<uint64_t> failed_decodes{ 0 };
    std::atomic<uint64_t> grown_contexts{ 0 };
    std::atomic<uint64_t> decode_us{ 0 };  // inside llama_decode, all workers together
};

}  // namespace llamaint
