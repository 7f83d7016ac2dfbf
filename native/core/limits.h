#pragma once

#include <cstddef>

// Sizes and depths beyond which llama.cpp overflows the stack or takes forever. Checked before native code.
namespace llamaint::limits {

constexpr size_t grammar_bytes = 256 * 1024;
constexpr size_t grammar_depth = 128;
constexpr size_t grammar_elements = 200 * 1000;   // after repetitions are written out
constexpr size_t grammar_repetitions = 2000;      // llama.cpp's own limit for {m,n}
constexpr size_t grammar_chain = 20 * 1000;       // rules that begin with rules
constexpr size_t grammar_beginnings = 50 * 1000;  // paths from one rule to its first characters
constexpr size_t schema_bytes = 256 * 1024;
constexpr size_t schema_depth = 128;
constexpr size_t template_bytes = 1024 * 1024;
constexpr size_t template_depth = 128;
constexpr size_t template_tag_tokens = 4096;  // between {{ and }} or {% and %}
constexpr size_t template_elifs = 512;
constexpr size_t reply_depth = 256;  // brackets in a model's reply
constexpr size_t messages_bytes = 256 * 1024 * 1024;
constexpr size_t messages_depth = 128;
constexpr size_t text_bytes = 1024u * 1024 * 1024;
constexpr size_t token_match = 512 * 1024;        // bytes that one rule of a pre-tokenizer may match
constexpr size_t match_stack_bytes = 1024;        // of stack for each of them; 325 were measured
constexpr size_t max_sequences = 256;             // LLAMA_MAX_SEQ
constexpr size_t stack_bytes = 16 * 1024 * 1024;  // of the thread that parses grammars and templates

}  // namespace llamaint::limits
