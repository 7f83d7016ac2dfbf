#pragma once

#include "grammar.h"
#include "llama.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

struct common_chat_templates;

namespace llamaint {

using Token = llama_token;
using Tokens = std::vector<llama_token>;

using MetadataValue = std::variant<bool, int64_t, double, std::string>;

struct ModelParams {
    static constexpr int32_t gpu_layers_auto = -1;
    static constexpr int32_t gpu_layers_all = -2;

    int32_t n_gpu_layers = gpu_layers_auto;
    std::string split_mode = "layer";  // none | layer | row | tensor
    int32_t main_gpu = 0;
    std::vector<float> tensor_split;
    std::vector<std::string> devices;  // names of ggml devices; empty = all
    std::string load_mode = "auto";    // auto | none | mmap | mlock | mmap_mlock | direct_io
    bool vocab_only = false;
    bool check_tensors = false;
    bool use_extra_bufts = true;
    bool no_host = false;
    bool load_mtp = false;
    bool cpu_moe = false;
    int32_t n_cpu_moe = 0;
    std::vector<std::pair<std::string, std::string>> tensor_buft_overrides;  // regex -> buffer type name
    std::map<std::string, MetadataValue> kv_overrides;
};

// Called with 0..1 while weights load; returning false stops the load.
using Progress = std::function<bool(float)>;

// A loaded model and its vocabulary. Immutable after load, safe to use from any thread.
class Model {
  public:
    // Throws Error: model_not_found, model_load, unsupported, config, cancelled (progress said no).
    static std::shared_ptr<Model> load(const std::string & path, const ModelParams & params,
                                       const Progress & progress = {});
    ~Model();

    Model(const Model &) = delete;
    Model & operator=(const Model &) = delete;

    llama_model * handle() const { return model_; }
    const llama_vocab * vocab() const { return vocab_; }
    const std::string & path() const { return path_; }
    bool vocab_only() const { return vocab_only_; }
    int32_t n_vocab() const { return llama_vocab_n_tokens(vocab_); }
    const std::string & arch() const { return arch_; }
    std::map<std::string, std::string> metadata() const;
    // A scalar of the metadata as text; nullopt when absent or an array.
    std::optional<std::string> metadata_value(const std::string & key) const;

    // Tokens of UTF-8 text. Throws Error(request) for text over limits::text_bytes, or with a stretch over
    // limits::token_match that a byte-pair vocabulary's rules cannot be trusted with. All functions of
    // the vocabulary throw Error(unsupported) when the file has none.
    Tokens tokenize(const std::string & text, bool add_special, bool parse_special) const;
    // Bytes, not necessarily valid UTF-8. Throws Error(invalid_batch) for ids outside [0, n_vocab).
    std::string detokenize(const Tokens & tokens, bool remove_special, bool unparse_special) const;
    // Bytes of one token; special tokens give "" unless `special`.
    std::string token_to_piece(Token token, bool special) const;
    bool is_eog(Token token) const { return llama_vocab_is_eog(vocab_, token); }
    // All end-of-generation tokens of the vocabulary, ascending.
    const Tokens & eog_tokens() const { return eog_tokens_; }

    // Throws Error(invalid_batch) naming the first id outside [0, n_vocab).
    void check_tokens(const Tokens & tokens) const;

    // Compiled once per text, then served from an LRU cache. See Grammar for what is thrown.
    std::shared_ptr<const Grammar> grammar_from_gbnf(const std::string & gbnf) const;
    std::shared_ptr<const Grammar> grammar_from_json_schema(const std::string & schema) const;

    struct GrammarCache;

  private:
    Model() = default;
    void check_has_vocab() const;
    Tokens tokenize_here(const std::string & text, bool add_special, bool parse_special) const;

    llama_model * model_ = nullptr;
    const llama_vocab * vocab_ = nullptr;
    std::string path_;
    std::string arch_;
    bool vocab_only_ = false;
    Tokens eog_tokens_;

    std::unique_ptr<GrammarCache> grammars_;
};

}  // namespace llamaint
