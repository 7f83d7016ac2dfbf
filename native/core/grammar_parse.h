#pragma once

#include "llama.h"

#include <string>

namespace llamaint {

// Parses GBNF with llama.cpp's parser and checks the rules before a grammar is made of them: that all
// names are defined, that there is a root, that no rule begins with itself, and that what a rule can
// begin with does not multiply without bounds (llama.cpp walks and stores every such path).
// Throws Error(grammar) with the reason and the place. Recursive: call it on a big stack.
void parse_gbnf(const llama_vocab * vocab, const std::string & gbnf);

}  // namespace llamaint
