#include "big_stack.h"

#include "error.h"
#include "log.h"
#include "stack_floor.h"

#include <exception>
#include <system_error>

#ifdef _WIN32
#include <thread>
#else
#include <pthread.h>
#endif

namespace llamaint {

namespace {

struct Job {
    const std::function<void()> & work;
    log::Capture * capture;
    size_t stack_bytes;
    std::exception_ptr failure;

    void run() {
        log::Adopt adopt(capture);
#ifndef _WIN32
        StackFloor floor(stack_bytes);
#endif
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
    }
};

}  // namespace

void run_on_big_stack(const std::function<void()> & work, size_t stack_bytes) {
    Job job{ work, log::Capture::innermost(), stack_bytes, nullptr };
#ifdef _WIN32
    (void)stack_bytes;
    std::thread([&] { job.run(); }).join();
#else
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t thread;
    const int failed = pthread_create(
        &thread, &attributes,
        [](void * data) -> void * {
            static_cast<Job *>(data)->run();
            return nullptr;
        },
        &job);
    pthread_attr_destroy(&attributes);
    if (failed) {
        throw Error(ErrorCode::capacity,
                    "no thread could be started: " + std::error_code(failed, std::generic_category()).message());
    }
    pthread_join(thread, nullptr);
#endif
    if (job.failure) {
        std::rethrow_exception(job.failure);
    }
}

}  // namespace llamaint
