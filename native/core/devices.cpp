#include "devices.h"

#include "llama.h"

#ifndef LLAMAINT_LLAMA_CPP_COMMIT
#define LLAMAINT_LLAMA_CPP_COMMIT "unknown"
#endif

namespace llamaint {

namespace {

const char * type_name(enum ggml_backend_dev_type type) {
    switch (type) {
    case GGML_BACKEND_DEVICE_TYPE_GPU:
        return "gpu";
    case GGML_BACKEND_DEVICE_TYPE_IGPU:
        return "igpu";
    case GGML_BACKEND_DEVICE_TYPE_ACCEL:
        return "accel";
    default:
        return "cpu";
    }
}

std::string compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#elif defined(_MSC_VER)
    return "msvc " + std::to_string(_MSC_VER);
#else
    return "unknown";
#endif
}

}  // namespace

std::vector<Device> list_devices() {
    std::vector<Device> devices;
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t handle = ggml_backend_dev_get(i);
        Device device;
        device.name = ggml_backend_dev_name(handle);
        device.description = ggml_backend_dev_description(handle);
        device.type = type_name(ggml_backend_dev_type(handle));
        device.backend = ggml_backend_reg_name(ggml_backend_dev_backend_reg(handle));
        size_t free = 0;
        size_t total = 0;
        ggml_backend_dev_memory(handle, &free, &total);
        device.memory_free = free;
        device.memory_total = total;
        devices.push_back(std::move(device));
    }
    return devices;
}

bool has_gpu() {
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) ||
           ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU);
}

std::map<std::string, std::string> build_info() {
    return { { "llama_cpp_version", llama_version() },
             { "llama_cpp_commit", LLAMAINT_LLAMA_CPP_COMMIT },
             { "compiler", compiler() },
             { "system_info", llama_print_system_info() } };
}

std::map<std::string, bool> build_features() {
    return { { "gpu_offload", llama_supports_gpu_offload() },
             { "mmap", llama_supports_mmap() },
             { "mlock", llama_supports_mlock() },
             { "rpc", llama_supports_rpc() } };
}

}  // namespace llamaint
