#include "text_output.h"

#include <algorithm>

namespace llamaint {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Bytes a character with this lead byte has; 0 for a byte that cannot lead.
size_t utf8_length(unsigned char lead) {
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        return 4;
    }
    return 0;
}

// The second byte is restricted after some lead bytes (overlong forms, surrogates, > U+10FFFF).
bool second_byte_ok(unsigned char lead, unsigned char second) {
    switch (lead) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return second >= 0x80 && second <= 0xBF;
    }
}

// How many bytes at the front of `text` fit the pattern of one character, and how many it needs.
struct Char {
    size_t good;
    size_t need;
};

Char read_char(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t need = utf8_length(lead);
    if (need == 0) {
        return { 1, 0 };
    }
    size_t good = 1;
    while (good < need && good < text.size()) {
        const auto byte = static_cast<unsigned char>(text[good]);
        if (good == 1 ? !second_byte_ok(lead, byte) : (byte & 0xC0) != 0x80) {
            return { good, 0 };
        }
        good++;
    }
    return { good, need };
}

}  // namespace

size_t incomplete_utf8_suffix(std::string_view text) {
    for (size_t n = 1; n <= std::min<size_t>(3, text.size()); n++) {
        const Char c = read_char(text.substr(text.size() - n));
        if (c.need > c.good && c.good == n) {
            return n;
        }
    }
    return 0;
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Char c = read_char(text);
        if (c.need != 0 && c.good == c.need) {
            out.append(text.substr(0, c.good));
        } else {
            out.append(replacement);
        }
        text.remove_prefix(c.good);
    }
    return out;
}

std::string TextOutput::push(std::string_view piece) {
    if (stopped_) {
        return {};
    }
    held_.append(piece);
    const Match match = earliest_match();
    const size_t partial = earliest_partial();
    if (match.start != std::string::npos && match.start <= partial) {
        return stop_at(match);
    }
    size_t certain = std::min(partial, held_.size() - incomplete_utf8_suffix(held_));
    certain = std::min(certain, match.start);
    return release(certain);
}

std::string TextOutput::finish() {
    if (stopped_) {
        return {};
    }
    const Match match = earliest_match();
    return match.start != std::string::npos ? stop_at(match) : release(held_.size());
}

TextOutput::Match TextOutput::earliest_match() const {
    Match best;
    for (const auto & stop : stops_) {
        const size_t start = held_.find(stop);
        if (start < best.start || (start == best.start && start != std::string::npos && stop.size() < best.length)) {
            best = { start, stop.size() };
        }
    }
    return best;
}

// Where the earliest stop string would begin that the end of the text may still grow into.
size_t TextOutput::earliest_partial() const {
    size_t earliest = std::string::npos;
    for (const auto & stop : stops_) {
        for (size_t n = std::min(stop.size() - 1, held_.size()); n > 0; n--) {
            if (held_.compare(held_.size() - n, n, stop, 0, n) == 0) {
                earliest = std::min(earliest, held_.size() - n);
                break;
            }
        }
    }
    return earliest;
}

std::string TextOutput::release(size_t n_bytes) {
    std::string out = valid_utf8(std::string_view(held_).substr(0, n_bytes));
    held_.erase(0, n_bytes);
    return out;
}

std::string TextOutput::stop_at(const Match & match) {
    stopped_ = true;
    stop_text_ = held_.substr(match.start, match.length);
    std::string out = release(match.start);
    held_.clear();
    return out;
}

}  // namespace llamaint
