#pragma once

#include "grammar.h"
#include "model.h"

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace llamaint {

// The last grammars compiled for one model, by text. Safe to use from any thread; two threads that
// ask for the same new text may both compile it.
struct Model::GrammarCache {
    static constexpr size_t capacity = 64;

    using Compile = std::function<std::shared_ptr<const Grammar>()>;

    std::shared_ptr<const Grammar> get(const std::string & key, const Compile & compile);
    size_t size() const;

  private:
    using Entry = std::pair<std::string, std::shared_ptr<const Grammar>>;

    mutable std::mutex mutex_;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string, std::list<Entry>::iterator> index_;
};

}  // namespace llamaint
