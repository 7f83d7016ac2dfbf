#pragma once

#include "error.h"

#include <string>

namespace llamaint {

// Refuses Jinja templates whose size or nesting would overflow the stack of llama.cpp's parser, of
// its interpreter or of the destructors of the tree. Throws Error(template_).
void check_template(const std::string & source);

// Throws Error(code) when JSON text nests deeper than `limit`; `what` names it in the plural.
void check_json_depth(ErrorCode code, const char * what, const std::string & text, size_t limit);

}  // namespace llamaint
