#pragma once

#include "ggml.h"

#include <cstdint>
#include <string>
#include <vector>

// Where every line that llama.cpp, ggml, mtmd and llama.cpp's `common` write ends: one bounded ring
// that Python drains into `logging`. Nothing is written to stdout or stderr.
namespace llamaint::log {

// Levels of Python's logging module.
enum Level : int { debug = 10, info = 20, warning = 30, error = 40 };

struct Line {
    int level;
    std::string text;  // no newline at the end; not necessarily valid UTF-8
};

// Lines the ring holds; the oldest are dropped first.
constexpr size_t capacity = 8192;

// Redirects all loggers. Called once, before anything else of llama.cpp runs.
void install();

// What llama.cpp's callbacks pass on: text may be part of a line, or several.
void add(ggml_log_level level, const char * text);

void write(int level, const std::string & text);

// Takes everything written so far; waits up to `timeout_s` for a first line.
std::vector<Line> drain(double timeout_s);

// Ends one drain() that waits now (or the next one) at once.
void wake();

// Lines lost since the start because nobody drained the ring.
uint64_t dropped();

// Collects the errors (and, when there are none, the warnings) that this thread logs while it lives.
// Captures nest; each sees what happened during its own life.
class Capture {
  public:
    Capture();
    ~Capture();
    Capture(const Capture &) = delete;
    Capture & operator=(const Capture &) = delete;

    // What went wrong, in one line: the last few errors, oldest first, without the names of llama.cpp's
    // functions in front. "" when nothing was logged.
    std::string reason() const;

    // Metadata overrides that llama.cpp said it has used.
    const std::vector<std::string> & overrides_used() const { return overrides_used_; }

    // The capture open on this thread, or null.
    static Capture * innermost();

  private:
    friend struct ThreadState;
    void see(const Line & line);

    Capture * outer_;
    std::vector<Line> lines_;
    std::vector<std::string> overrides_used_;
};

// While one lives, this thread's lines count for a capture of another thread, which waits meanwhile.
class Adopt {
  public:
    explicit Adopt(Capture * capture);
    ~Adopt();
    Adopt(const Adopt &) = delete;
    Adopt & operator=(const Adopt &) = delete;
};

}  // namespace llamaint::log
