#pragma once

#include <algorithm>
#include <string>

namespace llamaint {

// Deepest nesting of brackets outside strings. The text need not be valid JSON.
inline size_t json_depth(const std::string & text) {
    size_t depth = 0;
    size_t deepest = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        switch (text[i]) {
        case '"':
            for (++i; i < text.size() && text[i] != '"'; ++i) {
                i += text[i] == '\\';
            }
            break;
        case '[':
        case '{':
            deepest = std::max(deepest, ++depth);
            break;
        case ']':
        case '}':
            depth -= depth > 0;
            break;
        default:
            break;
        }
    }
    return deepest;
}

}  // namespace llamaint
