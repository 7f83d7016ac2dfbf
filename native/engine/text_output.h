#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llamaint {

// Turns token pieces into text that can be shown: whole UTF-8 characters, nothing that belongs to or
// may still become a stop string. The result does not depend on how the text was cut into tokens.
class TextOutput {
  public:
    // `stops` are non-empty UTF-8 strings.
    explicit TextOutput(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

    // Appends the bytes of a token and returns the text that became certain. After stopped() nothing
    // more is returned.
    std::string push(std::string_view piece);

    // The generation ended: returns what was held back, up to a stop string in it if there is one.
    // A character cut in the middle becomes U+FFFD.
    std::string finish();

    // A stop string was found; the text ends before the one that starts earliest.
    bool stopped() const { return stopped_; }
    const std::string & stop_text() const { return stop_text_; }

  private:
    struct Match {
        size_t start = std::string::npos;
        size_t length = 0;
    };

    Match earliest_match() const;
    size_t earliest_partial() const;
    std::string release(size_t n_bytes);
    std::string stop_at(const Match & match);

    std::vector<std::string> stops_;
    std::string held_;
    bool stopped_ = false;
    std::string stop_text_;
};

// Bytes at the end of `text` that are the beginning of an unfinished UTF-8 character: 0 to 3.
size_t incomplete_utf8_suffix(std::string_view text);

// `text` with each invalid byte sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace llamaint
