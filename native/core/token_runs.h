#pragma once

#include <cstddef>
#include <string>

namespace llamaint {

// An upper bound, in bytes, of the longest piece that a vocabulary's pre-tokenizer can match in a text.
// llama.cpp splits text for some vocabularies with std::regex, which recurses once per character of a
// match: 325 bytes of stack each, so that 26,000 equal letters end a thread with 8 MiB.
// `crosses_spaces`: the rules of this vocabulary match words with the spaces between them.
size_t longest_match_bound(const std::string & text, bool crosses_spaces);

}  // namespace llamaint
