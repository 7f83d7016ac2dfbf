#pragma once

#include "llama.h"
#include "model.h"

#include <list>
#include <string>
#include <vector>

namespace llamaint {

// ModelParams translated for llama.cpp, with everything that its pointers refer to.
// Throws Error(config) naming the field and the values that would have been right.
struct ModelOptions {
    explicit ModelOptions(const ModelParams & params);
    ModelOptions(const ModelOptions &) = delete;
    ModelOptions & operator=(const ModelOptions &) = delete;

    llama_model_params native;

  private:
    void set_devices(const ModelParams & params);
    void set_tensor_split(const ModelParams & params);
    void set_buffer_types(const ModelParams & params);
    void set_kv_overrides(const ModelParams & params);

    std::vector<ggml_backend_dev_t> devices_;
    std::vector<float> tensor_split_;
    std::list<std::string> patterns_;
    std::vector<llama_model_tensor_buft_override> buffer_types_;
    std::vector<llama_model_kv_override> kv_overrides_;
};

}  // namespace llamaint
