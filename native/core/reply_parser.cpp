#include "reply_parser.h"

#include "big_stack.h"
#include "json_depth.h"
#include "limits.h"

#include <random>

namespace llamaint {

namespace {

std::string new_call_id() {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static thread_local std::mt19937_64 engine{ std::random_device{}() };
    std::string id = "call_";
    for (int i = 0; i < 24; ++i) {
        id += letters[engine() % (sizeof(letters) - 1)];
    }
    return id;
}

// What `now` has beyond `sent`; nothing when it is not a continuation (a tag took the end back).
std::string beyond(const std::string & sent, const std::string & now) {
    return now.size() > sent.size() && now.compare(0, sent.size(), sent) == 0 ? now.substr(sent.size()) : "";
}

}  // namespace

// The parser of such a format is a sequence of the prompt's end, "content: everything" and the end of
// the text (common/peg-parser.cpp says how parsers are written down).
bool is_plain_content(const common_chat_params & chat, bool structured) {
    if (structured || chat.supports_thinking) {
        return false;
    }
    const common_json arena = common_json::parse(chat.parser);
    const auto node = [&](size_t id) { return arena.at("parsers").at(id); };
    const auto root = node(arena.at("root").get<size_t>());
    if (root.at("type").get<std::string>() != "sequence") {
        return false;
    }
    bool content = false;
    for (const auto & child : root.at("children")) {
        const auto part = node(child.get<size_t>());
        const auto type = part.at("type").get<std::string>();
        if (type == "tag" && part.at("tag").get<std::string>() == "content" && !content) {
            const auto body = node(part.at("child").get<size_t>());
            content = body.at("type").get<std::string>() == "until" && body.at("delimiters").empty();
        } else if (type == "literal") {
            if (content || part.at("literal").get<std::string>() != chat.generation_prompt) {
                return false;
            }
        } else if (type != "epsilon" && type != "end") {
            return false;
        }
    }
    return content;
}

ReplyParser::Impl::Impl(const common_chat_params & chat, const ChatOptions & options) : params(chat) {
    params.reasoning_format = common_reasoning_format_from_name(options.reasoning_format);
    params.is_continuation = options.continue_final;
    if (!chat.parser.empty()) {
        params.parser.load(chat.parser);
    }
    const bool tools = !options.tools_json.empty() && options.tool_choice != "none";
    const bool structured = tools || !options.json_schema.empty() || options.continue_final;
    plain = chat.parser.empty() || is_plain_content(chat, structured);
    if (options.continue_final && !plain) {
        // The message's beginning is part of what the parser sees, not of the reply.
        const common_chat_msg begun = common_chat_parse("", /*is_partial=*/true, params);
        sent_.content = begun.content;
        sent_.reasoning = begun.reasoning_content;
    }
}

size_t ReplyParser::Impl::parse_every() const {
    return text.size() < 512 ? 1 : text.size() < 4096 ? 16 : 64;
}

bool ReplyParser::Impl::advance(bool final, ReplyDelta & delta) {
    n_parsed = text.size();
    if (json_depth(text) > limits::reply_depth) {
        return false;
    }
    common_chat_msg message;
    bool parsed = true;
    run_on_big_stack([&] {
        try {
            message = common_chat_parse(text, !final, params);
        } catch (const std::bad_alloc &) {
            throw;
        } catch (const std::exception &) {
            parsed = false;
        }
    });
    if (parsed) {
        delta = difference(message, final);
    }
    return parsed;
}

ReplyDelta ReplyParser::Impl::difference(const common_chat_msg & now, bool final) {
    ReplyDelta delta;
    delta.reasoning = beyond(sent_.reasoning, now.reasoning_content);
    delta.content = beyond(sent_.content, now.content);
    sent_.reasoning += delta.reasoning;
    sent_.content += delta.content;
    for (size_t i = 0; i < now.tool_calls.size(); ++i) {
        const common_chat_tool_call & call = now.tool_calls[i];
        if (i == sent_.calls.size()) {
            sent_.calls.push_back({ call.id.empty() ? new_call_id() : call.id, false, "" });
        }
        Sent::Call & sent = sent_.calls[i];
        // A name may still grow until its arguments begin.
        const bool name_complete = !call.arguments.empty() || i + 1 < now.tool_calls.size() || final;
        if (call.name.empty() || (!sent.named && !name_complete)) {
            continue;
        }
        ReplyDelta::ToolCall piece;
        piece.index = static_cast<int>(i);
        piece.id = sent.id;
        piece.name = sent.named ? "" : call.name;
        piece.arguments = beyond(sent.arguments, call.arguments);
        if (!sent.named || !piece.arguments.empty()) {
            sent.named = true;
            sent.arguments += piece.arguments;
            delta.tool_calls.push_back(std::move(piece));
        }
    }
    return delta;
}

ReplyDelta ReplyParser::Impl::rest_as_content() {
    ReplyDelta delta;
    // Once reasoning or a tool call was told apart, the rest of the text has no certain beginning.
    if (sent_.reasoning.empty() && sent_.calls.empty()) {
        delta.content = sent_.content.empty() ? text : beyond(sent_.content, text);
    }
    return delta;
}

ReplyParser::ReplyParser() = default;
ReplyParser::~ReplyParser() = default;

ReplyDelta ReplyParser::feed(const std::string & text, bool final) {
    Impl & impl = *impl_;
    ReplyDelta delta;
    if (impl.plain || parse_failed_) {
        delta.content = text;
        return delta;
    }
    impl.text += text;
    if (!final && impl.text.size() - impl.n_parsed < impl.parse_every()) {
        return delta;
    }
    if (!impl.advance(final, delta) && final) {
        parse_failed_ = true;
        delta = impl.rest_as_content();
    }
    return delta;
}

}  // namespace llamaint
