#pragma once

#include <string>

namespace llamaint {

// Checks made before llama.cpp parses, so that it can neither overflow the stack nor expand a short
// text into gigabytes. Both throw Error(grammar) with the number that is too large.

// GBNF: size, nesting of parentheses, repetitions ({m,n} with n < m, and what they expand to).
void check_gbnf(const std::string & gbnf);

// JSON schema: size and nesting.
void check_json_schema(const std::string & schema);

}  // namespace llamaint
