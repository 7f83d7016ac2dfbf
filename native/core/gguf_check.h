#pragma once

#include "gguf_file.h"

#include <string>

namespace llamaint {

// Refuses metadata that llama.cpp would divide by, index with or allocate from without looking.
// Throws Error(model_load) naming the key and the value, Error(unsupported) for files that are no model.
void check_model(const GgufFile & file, const std::string & path);

}  // namespace llamaint
