#include "template_check.h"

#include "big_stack.h"
#include "common/jinja/lexer.h"
#include "common/jinja/parser.h"
#include "common/jinja/runtime.h"
#include "common/json.h"
#include "json_depth.h"
#include "limits.h"
#include "stack_floor.h"

#include <algorithm>
#include <set>

namespace llamaint {

namespace {

[[noreturn]] void refuse(const std::string & what, size_t value, size_t limit) {
    throw Error(ErrorCode::template_,
                "the chat template " + what + ": " + std::to_string(value) + ", the limit is " + std::to_string(limit),
                { { "value", double(value) }, { "limit", double(limit) } });
}

const std::set<std::string> & block_openers() {
    static const std::set<std::string> names = { "if", "for", "macro", "call", "filter", "generation" };
    return names;
}

// Nesting of brackets inside tags, of blocks, and the longest tag: chains of operators are trees as
// deep as they are long.
class Nesting {
  public:
    void add(const std::vector<jinja::token> & tokens) {
        for (size_t i = 0; i < tokens.size(); ++i) {
            switch (tokens[i].t) {
            case jinja::token::open_expression:
            case jinja::token::open_statement:
                tag_tokens_ = 0;
                brackets_ = 0;
                if (tokens[i].t == jinja::token::open_statement && i + 1 < tokens.size()) {
                    block(tokens[i + 1].value);
                }
                break;
            case jinja::token::open_paren:
            case jinja::token::open_square_bracket:
            case jinja::token::open_curly_bracket:
                if (++brackets_ > limits::template_depth) {
                    refuse("nests brackets too deeply", brackets_, limits::template_depth);
                }
                break;
            case jinja::token::close_paren:
            case jinja::token::close_square_bracket:
            case jinja::token::close_curly_bracket:
                brackets_ -= brackets_ > 0;
                break;
            default:
                break;
            }
            if (tokens[i].t != jinja::token::text && ++tag_tokens_ > limits::template_tag_tokens) {
                refuse("has a tag with too many tokens", tag_tokens_, limits::template_tag_tokens);
            }
        }
    }

  private:
    void block(const std::string & name) {
        if (name == "elif") {
            // llama.cpp parses it as an `if` inside the `else`.
            elifs_ += 1;
        } else if (block_openers().count(name)) {
            blocks_ += 1;
        } else if (name.rfind("end", 0) == 0) {
            blocks_ -= blocks_ > 0;
            elifs_ = name == "endif" ? 0 : elifs_;
        }
        if (blocks_ > limits::template_depth) {
            refuse("nests blocks too deeply", blocks_, limits::template_depth);
        }
        if (elifs_ > limits::template_elifs) {
            refuse("has too many branches in one if", elifs_, limits::template_elifs);
        }
    }

    size_t tag_tokens_ = 0;
    size_t brackets_ = 0;
    size_t blocks_ = 0;
    size_t elifs_ = 0;
};

// Renders one message. When llama.cpp loads a template it renders some too, and walks the values that were
// used in a way that StackFloor does not see; a template that builds a value containing itself ends here.
void try_once(const jinja::program & program) {
    try {
        const common_json input = common_json::parse(
            R"({"messages":[{"role":"user","content":"Hi"}],"tools":[],"bos_token":"","eos_token":"","add_generation_prompt":true})");
        jinja::context context;
        jinja::global_from_json(context, input, /*mark_input=*/true);
        jinja::runtime(context).execute(program);
    } catch (const StackExhausted & e) {
        throw Error(ErrorCode::template_, std::string("the chat template cannot be rendered: ") + e.what());
    } catch (const std::exception & e) {
        // Templates may refuse this message; the interpreter wraps what it caught into texts.
        if (std::string(e.what()).find(StackExhausted().what()) != std::string::npos) {
            throw Error(ErrorCode::template_,
                        std::string("the chat template cannot be rendered: ") + StackExhausted().what());
        }
    }
}

}  // namespace

void check_template(const std::string & source) {
    if (source.size() > limits::template_bytes) {
        refuse("is too long (bytes)", source.size(), limits::template_bytes);
    }
    jinja::lexer_result lexed;
    try {
        lexed = jinja::lexer().tokenize(source);
    } catch (const std::exception & e) {
        throw Error(ErrorCode::template_, std::string("the chat template is malformed: ") + e.what());
    }
    Nesting().add(lexed.tokens);
    run_on_big_stack([&] {
        jinja::program program;
        try {
            // Parsed here for the message: llama.cpp's own loader drops it.
            program = jinja::parse_from_tokens(lexed);
        } catch (const std::exception & e) {
            throw Error(ErrorCode::template_, std::string("the chat template is malformed: ") + e.what());
        }
        try_once(program);
    });
}

void check_json_depth(ErrorCode code, const char * what, const std::string & text, size_t limit) {
    const size_t depth = json_depth(text);
    if (depth > limit) {
        throw Error(code,
                    std::string("the ") + what + " nest " + std::to_string(depth) + " levels deep; the limit is " +
                        std::to_string(limit),
                    { { "depth", double(depth) }, { "limit", double(limit) } });
    }
}

}  // namespace llamaint
