#include "model_options.h"

#include "choice.h"
#include "error.h"

#include <cmath>
#include <cstring>
#include <map>
#include <regex>

namespace llamaint {

namespace {

// Weights of mixture-of-experts layers (llama.cpp's LLM_FFN_EXPS_REGEX).
constexpr const char * expert_tensors = "\\.ffn_(up|down|gate|gate_up)_(ch|)exps";

constexpr size_t max_pattern_bytes = 1024;

std::string joined(const std::vector<std::string> & names) {
    std::string text;
    for (const auto & name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

}  // namespace

ModelOptions::ModelOptions(const ModelParams & params) : native(llama_model_default_params()) {
    native.split_mode = choose<llama_split_mode>("split_mode", params.split_mode,
                                                 { { "none", LLAMA_SPLIT_MODE_NONE },
                                                   { "layer", LLAMA_SPLIT_MODE_LAYER },
                                                   { "row", LLAMA_SPLIT_MODE_ROW },
                                                   { "tensor", LLAMA_SPLIT_MODE_TENSOR } });
    native.load_mode = choose<llama_load_mode>("load_mode", params.load_mode,
                                               { { "auto", LLAMA_LOAD_MODE_AUTO },
                                                 { "none", LLAMA_LOAD_MODE_NONE },
                                                 { "mmap", LLAMA_LOAD_MODE_MMAP },
                                                 { "mlock", LLAMA_LOAD_MODE_MLOCK },
                                                 { "mmap_mlock", LLAMA_LOAD_MODE_MMAP_MLOCK },
                                                 { "direct_io", LLAMA_LOAD_MODE_DIRECT_IO } });
    if (params.n_gpu_layers < ModelParams::gpu_layers_all) {
        throw Error(ErrorCode::config,
                    "n_gpu_layers=" + std::to_string(params.n_gpu_layers) +
                        " is negative; use a count, \"auto\" or \"all\"",
                    { { "n_gpu_layers", double(params.n_gpu_layers) } });
    }
    native.n_gpu_layers = params.n_gpu_layers;
    native.main_gpu = params.main_gpu;
    native.vocab_only = params.vocab_only;
    native.check_tensors = params.check_tensors;
    native.use_extra_bufts = params.use_extra_bufts;
    native.no_host = params.no_host;
    native.load_mtp = params.load_mtp;
    set_devices(params);
    set_tensor_split(params);
    set_buffer_types(params);
    set_kv_overrides(params);
}

void ModelOptions::set_devices(const ModelParams & params) {
    size_t n_gpus = 0;
    std::vector<std::string> known;
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        known.push_back(ggml_backend_dev_name(device));
        const auto type = ggml_backend_dev_type(device);
        n_gpus += type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
    }
    if (!params.devices.empty()) {
        n_gpus = 0;
        for (const auto & name : params.devices) {
            ggml_backend_dev_t device = ggml_backend_dev_by_name(name.c_str());
            if (!device) {
                throw Error(ErrorCode::config,
                            "devices: there is no \"" + name + "\"; this build has " + joined(known));
            }
            // The CPU always takes part: it is the rest of the list, not an entry of it.
            if (ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_CPU) {
                devices_.push_back(device);
                ++n_gpus;
            }
        }
        devices_.push_back(nullptr);
        native.devices = devices_.data();
    }
    if (params.main_gpu < 0 || (params.main_gpu > 0 && static_cast<size_t>(params.main_gpu) >= n_gpus)) {
        throw Error(ErrorCode::config,
                    "main_gpu=" + std::to_string(params.main_gpu) + ", but there are " + std::to_string(n_gpus) +
                        " GPUs",
                    { { "main_gpu", double(params.main_gpu) }, { "n_gpus", double(n_gpus) } });
    }
    if (native.split_mode == LLAMA_SPLIT_MODE_TENSOR && n_gpus == 0) {
        throw Error(ErrorCode::config, "split_mode=\"tensor\" needs a GPU; this build has " + joined(known));
    }
}

void ModelOptions::set_tensor_split(const ModelParams & params) {
    if (params.tensor_split.empty()) {
        return;
    }
    if (params.tensor_split.size() > llama_max_devices()) {
        throw Error(ErrorCode::config,
                    "tensor_split has " + std::to_string(params.tensor_split.size()) + " entries; at most " +
                        std::to_string(llama_max_devices()) + " devices are supported",
                    { { "n_entries", double(params.tensor_split.size()) }, { "max", double(llama_max_devices()) } });
    }
    float sum = 0;
    for (const float share : params.tensor_split) {
        if (!std::isfinite(share) || share < 0) {
            throw Error(ErrorCode::config, "tensor_split holds " + std::to_string(share) + "; shares are >= 0");
        }
        sum += share;
    }
    if (!(sum > 0) || !std::isfinite(sum)) {
        throw Error(ErrorCode::config, "tensor_split sums to " + std::to_string(sum) + "; some share must be positive");
    }
    tensor_split_ = params.tensor_split;
    tensor_split_.resize(llama_max_devices(), 0.0f);
    native.tensor_split = tensor_split_.data();
}

void ModelOptions::set_buffer_types(const ModelParams & params) {
    std::map<std::string, ggml_backend_buffer_type_t> known;
    std::vector<std::string> names;
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        if (auto * type = ggml_backend_dev_buffer_type(ggml_backend_dev_get(i))) {
            if (known.emplace(ggml_backend_buft_name(type), type).second) {
                names.push_back(ggml_backend_buft_name(type));
            }
        }
    }
    const auto add = [&](const std::string & pattern, ggml_backend_buffer_type_t type) {
        patterns_.push_back(pattern);
        buffer_types_.push_back({ patterns_.back().c_str(), type });
    };
    for (const auto & [pattern, name] : params.tensor_buft_overrides) {
        const auto type = known.find(name);
        if (type == known.end()) {
            throw Error(ErrorCode::config, "tensor_buft_overrides: there is no buffer type \"" + name +
                                               "\"; this build has " + joined(names));
        }
        if (pattern.size() > max_pattern_bytes || pattern.find('\0') != std::string::npos) {
            throw Error(ErrorCode::config, "tensor_buft_overrides: a pattern has more than " +
                                               std::to_string(max_pattern_bytes) + " bytes or a zero byte");
        }
        try {
            std::regex{ pattern };
        } catch (const std::regex_error & e) {
            throw Error(ErrorCode::config,
                        "tensor_buft_overrides: \"" + pattern + "\" is not a regular expression: " + e.what());
        }
        add(pattern, type->second);
    }
    if (params.n_cpu_moe < 0) {
        throw Error(ErrorCode::config, "n_cpu_moe=" + std::to_string(params.n_cpu_moe) + " is negative",
                    { { "n_cpu_moe", double(params.n_cpu_moe) } });
    }
    if (params.cpu_moe) {
        add(expert_tensors, ggml_backend_cpu_buffer_type());
    }
    const size_t room = llama_max_tensor_buft_overrides() - 1;
    for (int32_t layer = 0; layer < params.n_cpu_moe && !params.cpu_moe && buffer_types_.size() < room; ++layer) {
        add("blk\\." + std::to_string(layer) + expert_tensors, ggml_backend_cpu_buffer_type());
    }
    if (buffer_types_.size() > room) {
        throw Error(ErrorCode::config, "tensor_buft_overrides has more than " + std::to_string(room) + " entries",
                    { { "n_entries", double(buffer_types_.size()) }, { "max", double(room) } });
    }
    if (!buffer_types_.empty()) {
        buffer_types_.push_back({ nullptr, nullptr });
        native.tensor_buft_overrides = buffer_types_.data();
    }
}

void ModelOptions::set_kv_overrides(const ModelParams & params) {
    for (const auto & [key, value] : params.kv_overrides) {
        llama_model_kv_override entry{};
        if (key.empty() || key.size() >= sizeof(entry.key) || key.find('\0') != std::string::npos) {
            throw Error(ErrorCode::config, "kv_overrides: the key \"" + key + "\" must have 1 to 127 bytes",
                        { { "n_bytes", double(key.size()) } });
        }
        std::memcpy(entry.key, key.data(), key.size());
        if (const auto * flag = std::get_if<bool>(&value)) {
            entry.tag = LLAMA_KV_OVERRIDE_TYPE_BOOL;
            entry.val_bool = *flag;
        } else if (const auto * integer = std::get_if<int64_t>(&value)) {
            entry.tag = LLAMA_KV_OVERRIDE_TYPE_INT;
            entry.val_i64 = *integer;
        } else if (const auto * real = std::get_if<double>(&value)) {
            entry.tag = LLAMA_KV_OVERRIDE_TYPE_FLOAT;
            entry.val_f64 = *real;
        } else {
            const auto & text = std::get<std::string>(value);
            if (text.size() >= sizeof(entry.val_str) || text.find('\0') != std::string::npos) {
                throw Error(ErrorCode::config,
                            "kv_overrides: the text for \"" + key + "\" has " + std::to_string(text.size()) +
                                " bytes; the limit is 127, without zero bytes",
                            { { "n_bytes", double(text.size()) }, { "max_bytes", 127 } });
            }
            entry.tag = LLAMA_KV_OVERRIDE_TYPE_STR;
            std::memcpy(entry.val_str, text.data(), text.size());
        }
        kv_overrides_.push_back(entry);
    }
    if (!kv_overrides_.empty()) {
        kv_overrides_.push_back({});
        native.kv_overrides = kv_overrides_.data();
    }
}

}  // namespace llamaint
