#include "grammar.h"

#include "abort_guard.h"
#include "big_stack.h"
#include "common/json-schema-to-grammar.h"
#include "common/json.h"
#include "error.h"
#include "grammar_limits.h"
#include "grammar_parse.h"
#include "limits.h"
#include "log.h"

namespace llamaint {

std::shared_ptr<const Grammar> Grammar::from_gbnf(const llama_vocab * vocab, const std::string & gbnf) {
    check_gbnf(gbnf);
    log::Capture capture;
    SamplerPtr prototype;
    run_on_big_stack([&] {
        AbortGuard guard;
        try {
            parse_gbnf(vocab, gbnf);
            prototype.reset(llama_sampler_init_grammar(vocab, gbnf.c_str(), "root"));
        } catch (const AbortError & e) {
            throw Error(ErrorCode::grammar, std::string("the grammar cannot be compiled: ") + e.what());
        }
    });
    if (!prototype) {
        const std::string reason = capture.reason();
        throw Error(ErrorCode::grammar,
                    "the grammar is malformed: " + (reason.empty() ? "llama.cpp gives no reason" : reason));
    }
    return std::shared_ptr<const Grammar>(new Grammar(gbnf, std::move(prototype)));
}

std::shared_ptr<const Grammar> Grammar::after(const std::vector<llama_token> & tokens) const {
    SamplerPtr advanced = clone();
    run_on_big_stack([&] {
        AbortGuard guard;
        try {
            for (const llama_token token : tokens) {
                llama_sampler_accept(advanced.get(), token);
            }
        } catch (const std::bad_alloc &) {
            throw;
        } catch (const std::exception & e) {
            throw Error(ErrorCode::grammar,
                        std::string("the grammar cannot begin with the end of the prompt: ") + e.what());
        }
    });
    return std::shared_ptr<const Grammar>(new Grammar(gbnf_, std::move(advanced)));
}

std::shared_ptr<const Grammar> Grammar::from_json_schema(const llama_vocab * vocab, const std::string & schema) {
    check_json_schema(schema);
    std::string gbnf;
    run_on_big_stack([&] {
        AbortGuard guard;
        try {
            gbnf = json_schema_to_grammar(common_json::parse(schema), /*force_gbnf=*/true);
        } catch (const std::bad_alloc &) {
            throw;
        } catch (const std::exception & e) {
            throw Error(ErrorCode::grammar,
                        std::string("the JSON schema cannot be turned into a grammar: ") + e.what());
        }
    });
    return from_gbnf(vocab, gbnf);
}

}  // namespace llamaint
