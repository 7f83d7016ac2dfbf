#pragma once

#include "error.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace llamaint {

// The value that `name` stands for in a small table. Throws Error(config) naming the field, the name
// and all names of the table.
template <typename T>
T choose(const char * field, const std::string & name, std::initializer_list<std::pair<const char *, T>> table) {
    std::string names;
    for (const auto & [known, value] : table) {
        if (name == known) {
            return value;
        }
        names += (names.empty() ? "" : ", ") + std::string(known);
    }
    throw Error(ErrorCode::config, std::string(field) + "=\"" + name + "\" is unknown; use one of " + names);
}

}  // namespace llamaint
