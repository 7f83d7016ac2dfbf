#pragma once

#include "chat.h"
#include "common/chat.h"

#include <string>
#include <vector>

namespace llamaint {

// Whether the reply's format leaves every text as it is: no tools, no schema, no thinking, no wrapper.
bool is_plain_content(const common_chat_params & chat, bool structured);

// State behind ReplyParser. llama.cpp parses a reply from its beginning each time, so long replies
// are parsed again only after `parse_every` new bytes.
struct ReplyParser::Impl {
    Impl(const common_chat_params & chat, const ChatOptions & options);

    // Parses what is there and returns what is new since the last call. False: the text does not parse.
    bool advance(bool final, ReplyDelta & delta);

    size_t parse_every() const;

    // After a failure at the end: what the parser did not understand, as it stands.
    ReplyDelta rest_as_content();

    common_chat_parser_params params;
    bool plain = false;  // everything the model writes is content
    std::string text;
    size_t n_parsed = 0;  // bytes of `text` at the last parse

  private:
    ReplyDelta difference(const common_chat_msg & now, bool final);

    // What has been returned so far.
    struct Sent {
        std::string content;
        std::string reasoning;
        struct Call {
            std::string id;
            bool named = false;
            std::string arguments;
        };
        std::vector<Call> calls;
    } sent_;
};

}  // namespace llamaint
