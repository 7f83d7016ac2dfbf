#include "engine/text_output.h"

#include <doctest/doctest.h>

using llamaint::TextOutput;

namespace {

struct Shown {
    std::string text;
    bool stopped;
    std::string stop_text;
};

// What a reader sees of `text` cut into pieces of `size` bytes.
Shown show(const std::string & text, const std::vector<std::string> & stops, size_t size) {
    TextOutput output(stops);
    std::string shown;
    for (size_t i = 0; i < text.size() && !output.stopped(); i += size) {
        shown += output.push(std::string_view(text).substr(i, size));
    }
    shown += output.finish();
    return { shown, output.stopped(), output.stop_text() };
}

}  // namespace

TEST_CASE("a stop string cut in any way ends the text at its earliest place") {
    for (size_t size = 1; size <= 12; size++) {
        CAPTURE(size);
        const Shown shown = show("one two END three END", { "END" }, size);
        CHECK(shown.text == "one two ");
        CHECK(shown.stopped);
        CHECK(shown.stop_text == "END");
    }
}

TEST_CASE("the stop string that starts first wins, whatever the order of the list and of the pieces") {
    for (const auto & stops : std::vector<std::vector<std::string>>{ { "b", "abc" }, { "abc", "b" } }) {
        for (size_t size = 1; size <= 5; size++) {
            CAPTURE(size);
            CHECK(show("xabcx", stops, size).text == "x");
            CHECK(show("xabcx", stops, size).stop_text == "abc");
            CHECK(show("xabdx", stops, size).text == "xa");
            CHECK(show("xab", stops, size).text == "xa");
        }
    }
}

TEST_CASE("text that only looked like a stop string is shown in the end") {
    for (size_t size = 1; size <= 4; size++) {
        const Shown shown = show("a EN", { "END" }, size);
        CHECK(shown.text == "a EN");
        CHECK_FALSE(shown.stopped);
    }
}

TEST_CASE("nothing of a possible stop string is shown before it is decided") {
    TextOutput output({ "</s>" });
    CHECK(output.push("hi <") == "hi ");
    CHECK(output.push("/") == "");
    CHECK(output.push("p>") == "</p>");
}

TEST_CASE("a repeated beginning does not hide the stop string") {
    for (size_t size = 1; size <= 6; size++) {
        CHECK(show("aaab", { "aab" }, size).text == "a");
        CHECK(show("ababac", { "abac" }, size).text == "ab");
    }
}

TEST_CASE("a character is shown when all its bytes are there") {
    const std::string text = "\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7";
    for (size_t size = 1; size <= 5; size++) {
        TextOutput output;
        std::string shown;
        for (size_t i = 0; i < text.size(); i += size) {
            const std::string part = output.push(std::string_view(text).substr(i, size));
            CHECK(part == llamaint::valid_utf8(part));
            CHECK(part.find("\xEF\xBF\xBD") == std::string::npos);
            shown += part;
        }
        CHECK(shown + output.finish() == text);
    }
}

TEST_CASE("a character cut off by the end becomes a replacement character, once") {
    CHECK(show("a\xF0\x9F\x91", {}, 1).text == "a\xEF\xBF\xBD");
    CHECK(show("a\xE4\xBD", {}, 3).text == "a\xEF\xBF\xBD");
}

TEST_CASE("bytes that are no UTF-8 are replaced and do not swallow what follows") {
    CHECK(llamaint::valid_utf8("a\xFF"
                               "b") == "a\xEF\xBF\xBD"
                                       "b");
    CHECK(llamaint::valid_utf8("\xC0\xAF") == "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
    CHECK(llamaint::valid_utf8("\xED\xA0\x80").find("\xED") == std::string::npos);  // surrogate
    CHECK(llamaint::valid_utf8("\xE4\xBD(") == "\xEF\xBF\xBD(");
    CHECK(show("\xE4(ok", {}, 1).text == "\xEF\xBF\xBD(ok");
}
