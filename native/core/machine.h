#pragma once

#include <cstdint>

namespace llamaint {

// Physical cores this process may run on (affinity and cgroup quota counted), at least 1.
int32_t usable_cores();

// Main memory this process can still get, in bytes: what the system calls available, or what is left
// of the cgroup's limit if that is less. 0 when neither can be read.
uint64_t available_memory_bytes();

// Threads of all programs that want a core right now, this one included; 0 where the system does not tell.
int32_t runnable_threads();

}  // namespace llamaint
