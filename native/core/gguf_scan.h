#pragma once

#include "model.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llamaint {

// Refuses files that would abort, crash or hang llama.cpp: Error(model_load) says what is wrong.
// `overrides` count as if they stood in the file. `vocab_only` skips what concerns weights.
void check_model_file(const std::string & path, const std::map<std::string, MetadataValue> & overrides,
                      bool vocab_only);

}  // namespace llamaint
