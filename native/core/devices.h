#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llamaint {

struct Device {
    std::string name;  // what ModelParams.devices takes
    std::string description;
    std::string type;  // cpu | gpu | igpu | accel
    std::string backend;
    uint64_t memory_free = 0;  // bytes
    uint64_t memory_total = 0;
};

std::vector<Device> list_devices();

// Whether ggml sees a GPU, on a card or beside the CPU.
bool has_gpu();

// llama_cpp_version, llama_cpp_commit, compiler, system_info.
std::map<std::string, std::string> build_info();

// gpu_offload, mmap, mlock, rpc.
std::map<std::string, bool> build_features();

}  // namespace llamaint
