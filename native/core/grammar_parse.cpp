#include "grammar_parse.h"

#include "error.h"
#include "limits.h"
#include "src/llama-grammar.h"

#include <algorithm>
#include <vector>

namespace llamaint {

namespace {

// llama.cpp's messages end with the rest of the text.
std::string shortened(const std::string & message) {
    constexpr size_t longest = 200;
    return message.size() <= longest ? message : message.substr(0, longest) + "...";
}

[[noreturn]] void malformed(const std::string & reason) {
    throw Error(ErrorCode::grammar, "the grammar is malformed: " + shortened(reason));
}

bool ends_alternate(const llama_grammar_element & element) {
    return element.type == LLAMA_GRETYPE_END || element.type == LLAMA_GRETYPE_ALT;
}

// Paths from a rule to the characters it can begin with.
class Beginnings {
  public:
    explicit Beginnings(const llama_grammar_parser & parser)
        : parser_(parser), rules_(parser.rules), state_(rules_.size(), State::unseen), paths_(rules_.size(), 0),
          may_be_empty_(empty_rules()) {}

    void check() {
        for (size_t rule = 0; rule < rules_.size(); ++rule) {
            count(rule, 0);
        }
    }

  private:
    enum class State { unseen, open, done };

    // Least fixed point: a rule may be empty when one of its alternates has only such rules.
    std::vector<bool> empty_rules() const {
        std::vector<bool> empty(rules_.size(), false);
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t rule = 0; rule < rules_.size(); ++rule) {
                bool alternate_empty = true;
                for (const auto & element : rules_[rule]) {
                    if (ends_alternate(element)) {
                        if (alternate_empty && !empty[rule]) {
                            empty[rule] = changed = true;
                        }
                        alternate_empty = true;
                    } else {
                        alternate_empty =
                            alternate_empty && element.type == LLAMA_GRETYPE_RULE_REF && empty[element.value];
                    }
                }
            }
        }
        return empty;
    }

    size_t count(size_t rule, size_t depth) {
        if (state_[rule] == State::done) {
            return paths_[rule];
        }
        if (state_[rule] == State::open) {
            throw Error(ErrorCode::grammar,
                        "the grammar is left-recursive: rule \"" + name(rule) + "\" begins with itself");
        }
        if (depth > limits::grammar_chain) {
            throw Error(ErrorCode::grammar,
                        "the grammar begins with a chain of more than " + std::to_string(limits::grammar_chain) +
                            " rules",
                        { { "limit", double(limits::grammar_chain) } });
        }
        state_[rule] = State::open;
        size_t paths = 1;
        bool at_beginning = true;
        for (const auto & element : rules_[rule]) {
            if (ends_alternate(element)) {
                at_beginning = true;
                ++paths;
            } else if (at_beginning && element.type == LLAMA_GRETYPE_RULE_REF) {
                paths += count(element.value, depth + 1);
                at_beginning = may_be_empty_[element.value];
            } else {
                at_beginning = false;
            }
            if (paths > limits::grammar_beginnings) {
                throw Error(ErrorCode::grammar,
                            "the grammar is too ambiguous: rule \"" + name(rule) + "\" can begin in more than " +
                                std::to_string(limits::grammar_beginnings) + " ways",
                            { { "limit", double(limits::grammar_beginnings) } });
            }
        }
        state_[rule] = State::done;
        return paths_[rule] = paths;
    }

    std::string name(size_t rule) const {
        for (const auto & [symbol, id] : parser_.symbol_ids) {
            if (id == rule) {
                return symbol;
            }
        }
        return std::to_string(rule);
    }

    const llama_grammar_parser & parser_;
    const llama_grammar_rules & rules_;
    std::vector<State> state_;
    std::vector<size_t> paths_;
    std::vector<bool> may_be_empty_;
};

void check_names(const llama_grammar_parser & parser) {
    for (const auto & [symbol, id] : parser.symbol_ids) {
        if (id >= parser.rules.size() || parser.rules[id].empty()) {
            malformed("rule \"" + symbol + "\" is used but not defined");
        }
    }
    if (!parser.symbol_ids.count("root")) {
        malformed("there is no rule \"root\"");
    }
}

}  // namespace

void parse_gbnf(const llama_vocab * vocab, const std::string & gbnf) {
    llama_grammar_parser parser(vocab);
    try {
        const char * at = gbnf.c_str();
        // Leading blanks and comments belong to no rule.
        while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n' || *at == '#') {
            const char * end = at + 1;
            while (*at == '#' && *end && *end != '\n') {
                ++end;
            }
            at = end;
        }
        while (*at) {
            at = parser.parse_rule(at);
        }
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & e) {
        malformed(e.what());
    }
    check_names(parser);
    size_t n_elements = 0;
    for (const auto & rule : parser.rules) {
        n_elements += rule.size();
    }
    if (n_elements > limits::grammar_elements) {
        throw Error(ErrorCode::grammar,
                    "the grammar has " + std::to_string(n_elements) + " elements; the limit is " +
                        std::to_string(limits::grammar_elements),
                    { { "n_elements", double(n_elements) }, { "limit", double(limits::grammar_elements) } });
    }
    Beginnings(parser).check();
}

}  // namespace llamaint
