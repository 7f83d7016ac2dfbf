#include "stack_floor.h"

#include <cstdint>
#include <cstdlib>

namespace llamaint {

namespace {

thread_local uintptr_t lowest = 0;  // 0: this thread has no floor

uintptr_t here() {
    const char place = 0;
    return reinterpret_cast<uintptr_t>(&place);
}

}  // namespace

StackFloor::StackFloor(size_t stack_bytes) {
    lowest = here() - stack_bytes + margin;
}

StackFloor::~StackFloor() {
    lowest = 0;
}

}  // namespace llamaint

// Address sanitizer replaces the same functions.
#if defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(_WIN32)

namespace {

void * allocate(size_t n) {
    if (llamaint::lowest != 0 && reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < llamaint::lowest) {
        throw llamaint::StackExhausted();
    }
    for (;;) {
        if (void * memory = std::malloc(n == 0 ? 1 : n)) {
            return memory;
        }
        const std::new_handler handler = std::get_new_handler();
        if (!handler) {
            throw std::bad_alloc();
        }
        handler();
    }
}

}  // namespace

// Of this module alone: native/exports.map keeps them inside. The standard library's delete calls free.
void * operator new(size_t n) {
    return allocate(n);
}

void * operator new[](size_t n) {
    return allocate(n);
}

#endif
