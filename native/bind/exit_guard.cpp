#include "exit_guard.h"

#include "common.h"

#include <exception>
#include <thread>

namespace llamaint::bind {

namespace {

std::terminate_handler previous = nullptr;
std::thread::id importing_thread;

[[noreturn]] void on_terminate() {
    if (finalizing() && std::this_thread::get_id() != importing_thread && !std::current_exception()) {
        park_forever();
    }
    if (previous) {
        previous();
    }
    std::abort();
}

}  // namespace

void install_exit_guard() {
    importing_thread = std::this_thread::get_id();
    previous = std::set_terminate(on_terminate);
}

}  // namespace llamaint::bind
