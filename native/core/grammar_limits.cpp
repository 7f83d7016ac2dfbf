#include "grammar_limits.h"

#include "error.h"
#include "json_depth.h"
#include "limits.h"
#include "log.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace llamaint {

namespace {

[[noreturn]] void too_large(const std::string & what, size_t value, size_t limit, const char * name) {
    throw Error(ErrorCode::grammar, what + ": " + std::to_string(value) + ", the limit is " + std::to_string(limit),
                { { name, double(value) }, { "limit", double(limit) } });
}

void check_text(const char * what, const std::string & text, size_t max_bytes) {
    if (text.size() > max_bytes) {
        too_large(std::string("the ") + what + " is too long (bytes)", text.size(), max_bytes, "n_bytes");
    }
    if (text.find('\0') != std::string::npos) {
        throw Error(ErrorCode::grammar, std::string("the ") + what + " contains a zero byte");
    }
}

// Walks GBNF once, counting the elements that llama.cpp makes of it. It need not know whether the
// text is well-formed: the parser says that later.
class Expansion {
  public:
    explicit Expansion(const std::string & text) : p_(text.data()), end_(p_ + text.size()) {}

    void check() {
        while (p_ < end_) {
            step();
        }
    }

  private:
    void step() {
        const char c = *p_++;
        switch (c) {
        case '#':
            while (p_ < end_ && *p_ != '\n') {
                ++p_;
            }
            break;
        case '"':
            symbol(skip_quoted('"'));
            break;
        case '[':
            symbol(skip_quoted(']'));
            break;
        case '(':
            groups_.push_back(0);
            if (groups_.size() > limits::grammar_depth) {
                too_large("the grammar nests too deeply", groups_.size(), limits::grammar_depth, "depth");
            }
            break;
        case ')':
            if (!groups_.empty()) {
                groups_.pop_back();
            }
            symbol(1);  // a group becomes a rule of its own
            break;
        case '*':
        case '+':
        case '?':
            repeat(2);
            break;
        case '{':
            repeat_count();
            break;
        default:
            if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') {
                while (p_ < end_ && (std::isalnum(static_cast<unsigned char>(*p_)) || *p_ == '-' || *p_ == '_')) {
                    ++p_;
                }
                symbol(1);
            } else if (c == '.' || c == '<') {
                symbol(1);
            }
        }
    }

    size_t skip_quoted(char close) {
        size_t n = 0;
        while (p_ < end_ && *p_ != close) {
            p_ += *p_ == '\\' && p_ + 1 < end_ ? 2 : 1;
            ++n;
        }
        ++p_;
        return n;
    }

    size_t number() {
        size_t value = 0;
        while (p_ < end_ && std::isdigit(static_cast<unsigned char>(*p_))) {
            value = std::min<size_t>(value * 10 + static_cast<size_t>(*p_++ - '0'), 1u << 30);
        }
        return value;
    }

    void repeat_count() {
        const auto spaces = [&] {
            while (p_ < end_ && std::isspace(static_cast<unsigned char>(*p_))) {
                ++p_;
            }
        };
        spaces();
        const size_t low = number();
        size_t high = low;
        spaces();
        if (p_ < end_ && *p_ == ',') {
            ++p_;
            spaces();
            high = p_ < end_ && std::isdigit(static_cast<unsigned char>(*p_)) ? number() : std::max<size_t>(low, 1);
        }
        if (high < low) {
            throw Error(ErrorCode::grammar,
                        "the grammar repeats something {" + std::to_string(low) + "," + std::to_string(high) +
                            "} times: the second number is smaller",
                        { { "min", double(low) }, { "max", double(high) } });
        }
        if (high > limits::grammar_repetitions && low <= limits::grammar_repetitions) {
            log::write(log::warning, "a grammar allows up to " + std::to_string(high) +
                                         " repetitions; llama.cpp counts to " +
                                         std::to_string(limits::grammar_repetitions) + ", so there is no upper limit");
            high = low;
        }
        repeat(std::max<size_t>(high, 1));
    }

    void symbol(size_t n) {
        last_ = n;
        add(n);
    }

    void repeat(size_t times) {
        add(last_ * times);
        last_ *= times;
    }

    void add(size_t n) {
        total_ += n;
        if (total_ > limits::grammar_elements) {
            too_large("the grammar expands to too many elements", total_, limits::grammar_elements, "n_elements");
        }
    }

    const char * p_;
    const char * end_;
    std::vector<size_t> groups_;
    size_t last_ = 0;  // elements of the symbol before the cursor, which a repetition would copy
    size_t total_ = 0;
};

}  // namespace

void check_gbnf(const std::string & gbnf) {
    check_text("grammar", gbnf, limits::grammar_bytes);
    Expansion(gbnf).check();
}

void check_json_schema(const std::string & schema) {
    check_text("JSON schema", schema, limits::schema_bytes);
    const size_t depth = json_depth(schema);
    if (depth > limits::schema_depth) {
        too_large("the JSON schema nests too deeply", depth, limits::schema_depth, "depth");
    }
}

}  // namespace llamaint
