#include "grammar_cache.h"

namespace llamaint {

std::shared_ptr<const Grammar> Model::GrammarCache::get(const std::string & key, const Compile & compile) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        const auto found = index_.find(key);
        if (found != index_.end()) {
            entries_.splice(entries_.begin(), entries_, found->second);
            return found->second->second;
        }
    }
    auto grammar = compile();
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = index_.find(key);
    if (found != index_.end()) {
        return found->second->second;
    }
    entries_.emplace_front(key, grammar);
    index_.emplace(key, entries_.begin());
    if (entries_.size() > capacity) {
        index_.erase(entries_.back().first);
        entries_.pop_back();
    }
    return grammar;
}

size_t Model::GrammarCache::size() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
}

}  // namespace llamaint
