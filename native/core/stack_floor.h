#pragma once

#include <cstddef>
#include <new>

namespace llamaint {

// Thrown by an allocation when less than StackFloor::margin of the thread's stack is left.
class StackExhausted : public std::bad_alloc {
  public:
    const char * what() const noexcept override { return "it recurses without end, or too deeply"; }
};

// While one lives, allocations of this module on this thread look at how much stack is left. llama.cpp's
// template interpreter has no limit of its own, and a template can call itself or print a list that
// contains itself; every level of it allocates, so the recursion ends here and not in a crash.
class StackFloor {
  public:
    static constexpr size_t margin = 1024 * 1024;  // for unwinding and for messages

    // `stack_bytes`: size of the stack, whose top the caller is near.
    explicit StackFloor(size_t stack_bytes);
    ~StackFloor();
    StackFloor(const StackFloor &) = delete;
    StackFloor & operator=(const StackFloor &) = delete;
};

}  // namespace llamaint
