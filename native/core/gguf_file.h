#pragma once

#include "model.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace llamaint {

// An array of the metadata. Numbers are kept when there are few of them (one per layer, not one per
// token); of strings only the count is.
struct GgufArray {
    static constexpr uint64_t max_kept = 4096;

    uint32_t type = 0;  // enum gguf_type of the elements
    uint64_t count = 0;
    std::vector<double> numbers;
};

using GgufValue = std::variant<bool, int64_t, double, std::string, GgufArray>;

struct GgufTensor {
    std::string name;
    std::vector<uint64_t> shape;  // ggml order: innermost dimension first
    uint32_t type = 0;            // enum ggml_type
    uint64_t offset = 0;          // from the beginning of the data section
    uint64_t n_bytes = 0;
};

// What stands in front of the weights of one GGUF file. The format: docs/gguf.md of ggml.
struct GgufFile {
    uint32_t version = 0;
    uint64_t file_bytes = 0;
    uint64_t data_offset = 0;
    std::map<std::string, GgufValue> metadata;
    std::vector<GgufTensor> tensors;

    // Reads and checks the structure: every count and length against the bytes that are there, types,
    // shapes, alignment, and that each tensor's data lies inside the file.
    // Throws Error(model_load) naming the place, Error(model_not_found).
    static GgufFile read(const std::string & path);

    const GgufValue * find(const std::string & key) const;
    // A scalar number, whatever its type; nullopt when absent or something else.
    std::optional<double> number(const std::string & key) const;
    std::optional<std::string> text(const std::string & key) const;
    const GgufArray * array(const std::string & key) const;
};

}  // namespace llamaint
