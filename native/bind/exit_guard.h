#pragma once

namespace llamaint::bind {

// Lets the process end quietly while daemon threads wait in native code. Before Python 3.14 a thread that
// asks for the GIL after finalisation has begun is ended by pthread_exit in the middle of C++ frames, which
// calls std::terminate. Such a thread sleeps instead until the process is gone, as Python 3.14 does it.
void install_exit_guard();

}  // namespace llamaint::bind
