// How much llama.cpp's own log-probabilities change with the number of rows decoded together.
//
//   llamaint_row_noise MODEL N_CTX < lines of token ids
//
// For each line the next token's log-probabilities are computed twice: every token in a decode of its own, and all
// tokens in one decode beside 64 rows of another sequence. Prints one line per input line:
//   NOISE ID:LOGPROB_ALONE ...
// with the largest change among the 40 most likely tokens, then those tokens. Uses llama.cpp alone, nothing of
// llamaint.

#include "llama.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int n_filler = 64;  // from here on the matrix kernels for many rows are used
constexpr int n_top = 40;

void add(llama_batch & batch, llama_token token, llama_pos pos, llama_seq_id seq, bool output) {
    const int i = batch.n_tokens++;
    batch.token[i] = token;
    batch.pos[i] = pos;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = seq;
    batch.logits[i] = output;
}

std::vector<double> logprobs(llama_context * ctx, int row, int n_vocab) {
    const float * logits = llama_get_logits_ith(ctx, row);
    std::vector<double> out(logits, logits + n_vocab);
    const double most = *std::max_element(out.begin(), out.end());
    double sum = 0.0;
    for (const double x : out) {
        sum += std::exp(x - most);
    }
    for (double & x : out) {
        x -= most + std::log(sum);
    }
    return out;
}

void decode(llama_context * ctx, const llama_batch & batch) {
    if (llama_decode(ctx, batch) != 0) {
        std::fprintf(stderr, "decoding %d rows failed\n", batch.n_tokens);
        std::exit(1);
    }
}

void report(llama_context * ctx, llama_batch & batch, const std::vector<llama_token> & tokens, int n_vocab) {
    const int n = static_cast<int>(tokens.size());
    llama_memory_clear(llama_get_memory(ctx), true);
    for (int i = 0; i < n; i++) {
        batch.n_tokens = 0;
        add(batch, tokens[i], i, 0, true);
        decode(ctx, batch);
    }
    const auto alone = logprobs(ctx, 0, n_vocab);

    llama_memory_clear(llama_get_memory(ctx), true);
    batch.n_tokens = 0;
    for (int i = 0; i < n; i++) {
        add(batch, tokens[i], i, 0, i == n - 1);
    }
    for (int i = 0; i < n_filler; i++) {
        add(batch, tokens[i % n], i, 1, false);
    }
    decode(ctx, batch);
    const auto together = logprobs(ctx, n - 1, n_vocab);

    std::vector<int> top(n_vocab);
    std::iota(top.begin(), top.end(), 0);
    const int n_shown = std::min(n_top, n_vocab);
    std::partial_sort(top.begin(), top.begin() + n_shown, top.end(), [&](int a, int b) { return alone[a] > alone[b]; });
    top.resize(n_shown);
    double noise = 0.0;
    for (const int id : top) {
        noise = std::max(noise, std::abs(alone[id] - together[id]));
    }
    std::printf("%.9g", noise);
    for (const int id : top) {
        std::printf(" %d:%.9g", id, alone[id]);
    }
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s MODEL N_CTX < lines of token ids\n", argv[0]);
        return 2;
    }
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    llama_model * model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (model == nullptr) {
        std::fprintf(stderr, "%s cannot be loaded\n", argv[1]);
        return 1;
    }
    auto params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(std::stoul(argv[2]));
    params.n_batch = params.n_ctx;
    params.n_ubatch = params.n_ctx;
    params.n_seq_max = 2;
    params.kv_unified = true;
    params.n_threads = 1;
    params.n_threads_batch = 1;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    llama_context * ctx = llama_init_from_model(model, params);
    if (ctx == nullptr) {
        std::fprintf(stderr, "no context of %s tokens\n", argv[2]);
        return 1;
    }
    llama_batch batch = llama_batch_init(static_cast<int32_t>(params.n_batch), 0, 1);
    const int n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::vector<llama_token> tokens;
        for (llama_token token; words >> token;) {
            tokens.push_back(token);
        }
        if (tokens.empty() || tokens.size() + n_filler > params.n_batch) {
            std::fprintf(stderr, "a line has %zu tokens; 1 to %u fit\n", tokens.size(), params.n_batch - n_filler);
            return 1;
        }
        report(ctx, batch, tokens, n_vocab);
    }
    llama_batch_free(batch);
    llama_free(ctx);
    llama_model_free(model);
    return 0;
}
