#pragma once

#include "llama.h"

#include <memory>
#include <string>
#include <vector>

namespace llamaint {

struct SamplerDeleter {
    void operator()(llama_sampler * sampler) const { llama_sampler_free(sampler); }
};
using SamplerPtr = std::unique_ptr<llama_sampler, SamplerDeleter>;

// A grammar compiled for one vocabulary. Immutable and shared between requests; each request
// works on its own clone. Holds a pointer into the model: the owner keeps the Model alive.
class Grammar {
  public:
    // Throws Error(grammar): malformed, larger than limits::grammar_bytes, nested deeper than
    // limits::grammar_depth, or not parseable by llama.cpp.
    static std::shared_ptr<const Grammar> from_gbnf(const llama_vocab * vocab, const std::string & gbnf);

    // JSON schema (draft 7 subset of llama.cpp's common/json-schema-to-grammar) as JSON text.
    static std::shared_ptr<const Grammar> from_json_schema(const llama_vocab * vocab, const std::string & schema);

    // The same grammar after it has read `tokens`: grammars of chat formats begin with text that is
    // already in the prompt. Throws Error(grammar) when it cannot begin with them.
    std::shared_ptr<const Grammar> after(const std::vector<llama_token> & tokens) const;

    const std::string & gbnf() const { return gbnf_; }

    SamplerPtr clone() const { return SamplerPtr(llama_sampler_clone(prototype_.get())); }

  private:
    Grammar(std::string gbnf, SamplerPtr prototype) : gbnf_(std::move(gbnf)), prototype_(std::move(prototype)) {}

    std::string gbnf_;
    SamplerPtr prototype_;
};

}  // namespace llamaint
