#include "log.h"

#include "llama.h"
#include "mtmd-helper.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace llamaint::log {

namespace {

struct Ring {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<Line> lines;
    uint64_t dropped = 0;
    bool woken = false;
};

// Never destroyed: a thread may still wait on it while the process exits.
Ring & ring() {
    static Ring * instance = new Ring;
    return *instance;
}

// Lines that say nothing a user could act on, or report what a cancel asked for; they are written as debug lines.
constexpr std::array<const char *, 8> noise = {
    "output_all",
    "full capacity of the model will not be utilized",
    "special_eos_id is not in special_eog_ids",
    "control-looking token",
    "model default pooling_type is",
    "model has unused tensor",
    "failed to compute graph, compute status: 1",  // aborted
    "failed to decode, ret = 2",                   // the same
};

bool is_noise(const std::string & text) {
    return std::any_of(noise.begin(), noise.end(),
                       [&](const char * part) { return text.find(part) != std::string::npos; });
}

// "function_name: " at the beginning of a line.
std::string without_function(const std::string & line) {
    size_t end = 0;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) {
        ++end;
    }
    return end > 0 && line.compare(end, 2, ": ") == 0 ? line.substr(end + 2) : line;
}

int python_level(ggml_log_level level) {
    switch (level) {
    case GGML_LOG_LEVEL_DEBUG:
        return debug;
    case GGML_LOG_LEVEL_WARN:
        return warning;
    case GGML_LOG_LEVEL_ERROR:
        return error;
    default:
        return info;
    }
}

void push(Line line) {
    Ring & r = ring();
    {
        std::lock_guard<std::mutex> lock(r.mutex);
        if (r.lines.size() == capacity) {
            r.lines.pop_front();
            ++r.dropped;
        }
        r.lines.push_back(std::move(line));
    }
    r.filled.notify_one();
}

}  // namespace

// The line this thread is still writing (llama.cpp continues lines with GGML_LOG_LEVEL_CONT).
struct ThreadState {
    std::string pending;
    int level = info;
    Capture * capture = nullptr;

    ~ThreadState() { flush(); }

    void flush() {
        if (pending.empty()) {
            return;
        }
        Line line{ level, std::move(pending) };
        pending.clear();
        if (line.level >= warning && is_noise(line.text)) {
            line.level = debug;
        }
        for (Capture * c = capture; c; c = c->outer_) {
            c->see(line);
        }
        push(std::move(line));
    }

    void add(ggml_log_level ggml_level, const char * text) {
        if (ggml_level != GGML_LOG_LEVEL_CONT) {
            flush();
            level = python_level(ggml_level);
        }
        for (const char * newline; (newline = std::strchr(text, '\n')); text = newline + 1) {
            pending.append(text, newline);
            flush();
        }
        pending.append(text);
    }

    static ThreadState & current() {
        static thread_local ThreadState state;
        return state;
    }
};

namespace {

void callback(ggml_log_level level, const char * text, void *) {
    add(level, text);
}

#ifndef _WIN32
// fork() while another thread holds the ring's mutex would leave it locked in the child for ever.
void before_fork() {
    ring().mutex.lock();
}
void after_fork_parent() {
    ring().mutex.unlock();
}
void after_fork_child() {
    ring().mutex.unlock();
    new (&ring().filled) std::condition_variable;
}
#endif

}  // namespace

void add(ggml_log_level level, const char * text) {
    ThreadState::current().add(level, text);
}

void install() {
    ring();
#ifndef _WIN32
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
#endif
    llama_log_set(callback, nullptr);
    mtmd_helper_log_set(callback, nullptr);
}

void write(int level, const std::string & text) {
    push({ level, text });
}

std::vector<Line> drain(double timeout_s) {
    Ring & r = ring();
    std::unique_lock<std::mutex> lock(r.mutex);
    const auto ready = [&] { return !r.lines.empty() || r.woken; };
    if (timeout_s > 0) {
        r.filled.wait_for(lock, std::chrono::duration<double>(std::min(timeout_s, 3600.0)), ready);
    }
    r.woken = false;
    std::vector<Line> taken(std::make_move_iterator(r.lines.begin()), std::make_move_iterator(r.lines.end()));
    r.lines.clear();
    return taken;
}

void wake() {
    Ring & r = ring();
    {
        std::lock_guard<std::mutex> lock(r.mutex);
        r.woken = true;
    }
    r.filled.notify_all();
}

uint64_t dropped() {
    Ring & r = ring();
    std::lock_guard<std::mutex> lock(r.mutex);
    return r.dropped;
}

Capture::Capture() : outer_(ThreadState::current().capture) {
    ThreadState::current().capture = this;
}

Capture::~Capture() {
    ThreadState::current().capture = outer_;
}

Capture * Capture::innermost() {
    return ThreadState::current().capture;
}

Adopt::Adopt(Capture * capture) {
    ThreadState::current().capture = capture;
}

Adopt::~Adopt() {
    ThreadState::current().flush();
    ThreadState::current().capture = nullptr;
}

void Capture::see(const Line & line) {
    static const std::string used = "Using metadata override (";
    const size_t at = line.text.find(used);
    const size_t from = line.text.find('\'', at);
    const size_t to = line.text.find('\'', from + 1);
    if (line.level >= warning) {
        lines_.push_back(line);
    } else if (at != std::string::npos && to != std::string::npos) {
        overrides_used_.push_back(line.text.substr(from + 1, to - from - 1));
    }
}

std::string Capture::reason() const {
    constexpr size_t max_lines = 3;
    const bool has_error =
        std::any_of(lines_.begin(), lines_.end(), [](const Line & line) { return line.level >= error; });
    std::vector<std::string> chosen;
    for (const Line & line : lines_) {
        // The last line of every failed load; the ones before it say why.
        const bool says_nothing = line.text.find("failed to load model") != std::string::npos && !chosen.empty();
        if ((!has_error || line.level >= error) && !says_nothing) {
            chosen.push_back(without_function(without_function(line.text)));
        }
    }
    std::string text;
    for (size_t i = chosen.size() > max_lines ? chosen.size() - max_lines : 0; i < chosen.size(); ++i) {
        text += (text.empty() ? "" : "; ") + chosen[i];
    }
    return text;
}

}  // namespace llamaint::log
