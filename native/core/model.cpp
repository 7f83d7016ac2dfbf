#include "model.h"

#include "abort_guard.h"
#include "big_stack.h"
#include "error.h"
#include "grammar_cache.h"
#include "limits.h"
#include "token_runs.h"

#include <algorithm>

namespace llamaint {

namespace {

// Calls `read(buffer, size)` of llama.cpp's string getters until the text fits.
template <typename Read>
std::optional<std::string> read_string(const Read & read) {
    std::string text(256, '\0');
    const int32_t length = read(text.data(), text.size());
    if (length < 0) {
        return std::nullopt;
    }
    if (static_cast<size_t>(length) >= text.size()) {
        text.resize(static_cast<size_t>(length) + 1);
        read(text.data(), text.size());
    }
    text.resize(static_cast<size_t>(length));
    return text;
}

// Calls `tokenize(tokens)` of llama.cpp until the tokens fit.
template <typename Tokenize>
Tokens fill_tokens(const std::string & text, const Tokenize & tokenize) {
    // One token per byte is the most that short texts need; long ones rarely come near it.
    Tokens tokens(text.size() < 64 * 1024 ? text.size() + 8 : text.size() / 3);
    int32_t n = tokenize(tokens);
    if (n == INT32_MIN) {
        throw Error(ErrorCode::request, "the text has more than 2147483647 tokens");
    }
    if (n < 0) {
        tokens.resize(static_cast<size_t>(-n));
        n = tokenize(tokens);
    }
    tokens.resize(static_cast<size_t>(std::max(n, 0)));
    return tokens;
}

}  // namespace

Model::~Model() {
    // Grammars point into the vocabulary.
    grammars_.reset();
    llama_model_free(model_);
}

std::map<std::string, std::string> Model::metadata() const {
    std::map<std::string, std::string> all;
    const int32_t n = llama_model_meta_count(model_);
    for (int32_t i = 0; i < n; ++i) {
        auto key = read_string(
            [&](char * buffer, size_t size) { return llama_model_meta_key_by_index(model_, i, buffer, size); });
        auto value = read_string(
            [&](char * buffer, size_t size) { return llama_model_meta_val_str_by_index(model_, i, buffer, size); });
        if (key && value) {
            all.emplace(std::move(*key), std::move(*value));
        }
    }
    return all;
}

std::optional<std::string> Model::metadata_value(const std::string & key) const {
    return read_string(
        [&](char * buffer, size_t size) { return llama_model_meta_val_str(model_, key.c_str(), buffer, size); });
}

void Model::check_has_vocab() const {
    if (llama_vocab_type(vocab_) == LLAMA_VOCAB_TYPE_NONE) {
        throw Error(ErrorCode::unsupported, "the model file has no vocabulary");
    }
}

Tokens Model::tokenize(const std::string & text, bool add_special, bool parse_special) const {
    constexpr size_t safe_anywhere = 1024;
    if (llama_vocab_type(vocab_) != LLAMA_VOCAB_TYPE_BPE || text.size() <= safe_anywhere) {
        return tokenize_here(text, add_special, parse_special);
    }
    const bool crosses_spaces = metadata_value("tokenizer.ggml.pre").value_or("") == "exaone-moe";
    const size_t match = longest_match_bound(text, crosses_spaces);
    if (match > limits::token_match) {
        throw Error(ErrorCode::request,
                    "the text has " + std::to_string(match) + " bytes without a " +
                        (crosses_spaces ? "line break" : "space") + "; this vocabulary can split at most " +
                        std::to_string(limits::token_match),
                    { { "n_bytes", double(match) }, { "max_bytes", double(limits::token_match) } });
    }
    Tokens tokens;
    run_on_big_stack([&] { tokens = tokenize_here(text, add_special, parse_special); },
                     limits::stack_bytes + match * limits::match_stack_bytes);
    return tokens;
}

Tokens Model::tokenize_here(const std::string & text, bool add_special, bool parse_special) const {
    check_has_vocab();
    AbortGuard guard;
    if (text.size() > limits::text_bytes) {
        throw Error(ErrorCode::request,
                    "the text has " + std::to_string(text.size()) + " bytes; the limit is " +
                        std::to_string(limits::text_bytes),
                    { { "n_bytes", double(text.size()) }, { "max_bytes", double(limits::text_bytes) } });
    }
    const auto tokenize_into = [&](Tokens & tokens) {
        return llama_tokenize(vocab_, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                              static_cast<int32_t>(tokens.size()), add_special, parse_special);
    };
    try {
        return fill_tokens(text, tokenize_into);
    } catch (const AbortError & e) {
        throw Error(ErrorCode::unsupported, std::string("this vocabulary cannot split the text: ") + e.what());
    }
}

std::string Model::detokenize(const Tokens & tokens, bool remove_special, bool unparse_special) const {
    check_has_vocab();
    check_tokens(tokens);
    const auto detokenize_into = [&](std::string & text) {
        return llama_detokenize(vocab_, tokens.data(), static_cast<int32_t>(tokens.size()), text.data(),
                                static_cast<int32_t>(text.size()), remove_special, unparse_special);
    };
    std::string text(tokens.size() * 8 + 16, '\0');
    int32_t n = detokenize_into(text);
    if (n < 0) {
        text.resize(static_cast<size_t>(-n));
        n = detokenize_into(text);
    }
    text.resize(static_cast<size_t>(std::max(n, 0)));
    return text;
}

std::string Model::token_to_piece(Token token, bool special) const {
    check_has_vocab();
    check_tokens({ token });
    std::string piece(32, '\0');
    int32_t n = llama_token_to_piece(vocab_, token, piece.data(), static_cast<int32_t>(piece.size()), 0, special);
    if (n < 0) {
        piece.resize(static_cast<size_t>(-n));
        n = llama_token_to_piece(vocab_, token, piece.data(), static_cast<int32_t>(piece.size()), 0, special);
    }
    piece.resize(static_cast<size_t>(std::max(n, 0)));
    return piece;
}

void Model::check_tokens(const Tokens & tokens) const {
    const int32_t n = n_vocab();
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i] < 0 || tokens[i] >= n) {
            throw Error(ErrorCode::invalid_batch,
                        "token " + std::to_string(tokens[i]) + " at index " + std::to_string(i) +
                            " is outside the vocabulary [0, " + std::to_string(n) + ")",
                        { { "token", double(tokens[i]) }, { "index", double(i) }, { "n_vocab", double(n) } });
        }
    }
}

std::shared_ptr<const Grammar> Model::grammar_from_gbnf(const std::string & gbnf) const {
    check_has_vocab();
    return grammars_->get("gbnf:" + gbnf, [&] { return Grammar::from_gbnf(vocab_, gbnf); });
}

std::shared_ptr<const Grammar> Model::grammar_from_json_schema(const std::string & schema) const {
    check_has_vocab();
    return grammars_->get("json:" + schema, [&] { return Grammar::from_json_schema(vocab_, schema); });
}

}  // namespace llamaint
