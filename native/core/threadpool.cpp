#include "threadpool.h"

#include "ggml-backend.h"

namespace llamaint {

namespace {

template <typename Function>
Function * cpu_function(const char * name) {
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    ggml_backend_reg_t registry = cpu ? ggml_backend_dev_backend_reg(cpu) : nullptr;
    return registry ? reinterpret_cast<Function *>(ggml_backend_reg_get_proc_address(registry, name)) : nullptr;
}

}  // namespace

ggml_threadpool_t make_threadpool(int32_t n_threads) {
    auto * create = cpu_function<decltype(ggml_threadpool_new)>("ggml_threadpool_new");
    if (n_threads < 2 || !create) {
        return nullptr;
    }
    ggml_threadpool_params params = ggml_threadpool_params_default(n_threads);
    // Idle workers sleep after some milliseconds: they are awake when the next token's graph comes, and
    // an engine that waits takes no core from anybody.
    params.poll = 1;
    return create(&params);
}

void free_threadpool(ggml_threadpool_t pool) {
    if (pool) {
        if (auto * destroy = cpu_function<decltype(ggml_threadpool_free)>("ggml_threadpool_free")) {
            destroy(pool);
        }
    }
}

}  // namespace llamaint
