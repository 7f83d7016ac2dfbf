#pragma once

#include "gguf_file.h"
#include "model.h"

#include <map>
#include <string>

namespace llamaint {

// Reads a model file and, when it is the first of several, the others; refuses what would abort, crash
// or hang llama.cpp: Error(model_load) says what is wrong. `overrides` count as if they stood in the
// file; one whose type is not that of the key it replaces is refused with Error(config).
GgufFile scan_model_file(const std::string & path, const std::map<std::string, MetadataValue> & overrides = {});

}  // namespace llamaint
