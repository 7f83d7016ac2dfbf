#pragma once

namespace llamaint {

// Lets a forked child load a model of its own while threads of the parent were inside llama.cpp:
// fork() copies locks as they stand, and the threads that held them do not exist in the child.
// Once, after llama_backend_init and log::install.
void install_fork_guard();

}  // namespace llamaint
