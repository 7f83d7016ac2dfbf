#include "token_runs.h"

#include "limits.h"

#include <algorithm>

namespace llamaint {

namespace {

bool is_newline(char c) {
    return c == '\n' || c == '\r';
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || is_newline(c);
}

// Longest stretch of "separators, other bytes, separators". No rule matches more: all of them stop where
// a second stretch of other bytes begins.
template <typename Separator>
size_t longest_stretch(const std::string & text, const Separator & separates) {
    size_t longest = 0;
    size_t leading = 0;  // separators before the current other bytes
    for (size_t i = 0; i < text.size();) {
        const size_t other = i;
        while (i < text.size() && !separates(text[i])) {
            ++i;
        }
        const size_t trailing = i;
        while (i < text.size() && separates(text[i])) {
            ++i;
        }
        longest = std::max(longest, leading + (i - other));
        leading = i - trailing;
    }
    return longest;
}

}  // namespace

size_t longest_match_bound(const std::string & text, bool crosses_spaces) {
    if (text.size() <= limits::token_match) {
        return text.size();
    }
    return crosses_spaces ? longest_stretch(text, is_newline) : longest_stretch(text, is_space);
}

}  // namespace llamaint
