#include "chat.h"

#include "big_stack.h"
#include "common/chat.h"
#include "error.h"
#include "limits.h"
#include "log.h"
#include "reply_parser.h"
#include "stack_floor.h"
#include "template_check.h"

namespace llamaint {

namespace {

// llama.cpp reports template errors with the position first and the reason last.
std::string short_reason(std::string text) {
    const auto cut_to = [&](const char * mark) {
        const size_t at = text.rfind(mark);
        if (at != std::string::npos) {
            text.erase(0, at + std::char_traits<char>::length(mark));
        }
    };
    cut_to("Error: ");
    cut_to("Jinja Exception: ");
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    return text;
}

common_json parse_json(ErrorCode code, const char * what, const std::string & text) {
    if (text.size() > limits::messages_bytes) {
        throw Error(code,
                    std::string("the ") + what + " take " + std::to_string(text.size()) + " bytes; the limit is " +
                        std::to_string(limits::messages_bytes),
                    { { "n_bytes", double(text.size()) }, { "max_bytes", double(limits::messages_bytes) } });
    }
    check_json_depth(code, what, text, limits::messages_depth);
    try {
        return common_json::parse(text);
    } catch (const std::exception & e) {
        throw Error(code, std::string("the ") + what + " are not valid JSON: " + e.what());
    }
}

template <typename Parse>
auto checked(ErrorCode code, const char * what, const Parse & parse) {
    try {
        return parse();
    } catch (const Error &) {
        throw;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & e) {
        throw Error(code, std::string(what) + ": " + e.what());
    }
}

common_chat_templates_inputs make_inputs(const std::string & messages_json, const ChatOptions & options) {
    common_chat_templates_inputs inputs;
    inputs.messages = checked(ErrorCode::request, "the messages are malformed", [&] {
        return common_chat_msgs_parse_oaicompat(parse_json(ErrorCode::request, "messages", messages_json));
    });
    if (!options.tools_json.empty()) {
        inputs.tools = checked(ErrorCode::tool, "the tools are malformed", [&] {
            return common_chat_tools_parse_oaicompat(parse_json(ErrorCode::tool, "tools", options.tools_json));
        });
    }
    inputs.tool_choice = checked(ErrorCode::request, "tool_choice",
                                 [&] { return common_chat_tool_choice_parse_oaicompat(options.tool_choice); });
    inputs.reasoning_format = checked(ErrorCode::request, "reasoning_format",
                                      [&] { return common_reasoning_format_from_name(options.reasoning_format); });
    if (!options.json_schema.empty()) {
        parse_json(ErrorCode::grammar, "JSON schema's bytes", options.json_schema);
    }
    if (!options.json_schema.empty() && !options.grammar.empty()) {
        throw Error(ErrorCode::request, "json_schema and grammar exclude each other");
    }
    inputs.json_schema = options.json_schema;
    inputs.grammar = options.grammar;
    inputs.parallel_tool_calls = options.parallel_tool_calls;
    inputs.enable_thinking = options.enable_thinking;
    for (const auto & [name, value] : options.template_kwargs) {
        parse_json(ErrorCode::request, "template_kwargs", value);
        inputs.chat_template_kwargs[name] = value;
        if (name == "enable_thinking") {
            inputs.enable_thinking = value == "true";
        }
    }
    inputs.add_generation_prompt = options.add_generation_prompt;
    if (options.continue_final) {
        if (inputs.messages.empty() || inputs.messages.back().role != "assistant") {
            throw Error(ErrorCode::request, "continue_final needs an assistant message at the end");
        }
        if (!inputs.messages.back().tool_calls.empty()) {
            throw Error(ErrorCode::request, "an assistant message with tool calls cannot be continued");
        }
        inputs.continue_final_message = COMMON_CHAT_CONTINUATION_AUTO;
        inputs.add_generation_prompt = false;
    }
    return inputs;
}

}  // namespace

ChatTemplates::ChatTemplates(std::shared_ptr<const Model> model, const std::string & source)
    : model_(std::move(model)), templates_(nullptr, common_chat_templates_free) {
    if (llama_vocab_type(model_->vocab()) == LLAMA_VOCAB_TYPE_NONE) {
        throw Error(ErrorCode::unsupported, "the model file has no vocabulary");
    }
    for (const char * variant : { static_cast<const char *>(nullptr), "tool_use" }) {
        const char * in_file = llama_model_chat_template(model_->handle(), variant);
        if (source.empty() && in_file) {
            check_template(in_file);
            from_model_ = true;
        }
    }
    check_template(source);
    log::Capture capture;
    run_on_big_stack([&] {
        try {
            templates_.reset(common_chat_templates_init(model_->handle(), source).release());
        } catch (const std::exception & e) {
            // llama.cpp throws a sliced std::exception here; the log has the reason.
            const std::string reason = capture.reason();
            throw Error(ErrorCode::template_,
                        "the chat template is malformed: " + (reason.empty() ? e.what() : reason));
        }
    });
}

ChatTemplates::~ChatTemplates() = default;

RenderedChat ChatTemplates::render(const std::string & messages_json, const ChatOptions & options) const {
    RenderedChat chat;
    run_on_big_stack([&] {
        const common_chat_templates_inputs inputs = make_inputs(messages_json, options);
        auto params = std::make_shared<common_chat_params>();
        try {
            *params = common_chat_templates_apply(templates_.get(), inputs);
        } catch (const StackExhausted & e) {
            throw Error(ErrorCode::template_, std::string("the chat template cannot be rendered: ") + e.what());
        } catch (const std::bad_alloc &) {
            throw;
        } catch (const std::exception & e) {
            throw Error(ErrorCode::template_, "the chat template refuses these messages: " + short_reason(e.what()));
        }
        chat.prompt = params->prompt;
        chat.stops = params->additional_stops;
        chat.grammar = params->grammar.empty() ? options.grammar : params->grammar;
        // Grammars of the format describe the reply from where the template's own words for it begin.
        if (!params->grammar.empty() && !params->grammar_lazy && options.grammar.empty()) {
            chat.grammar_prefix = params->generation_prompt;
        }
        chat.grammar_lazy = params->grammar_lazy;
        chat.preserved = params->preserved_tokens;
        chat.supports_thinking = params->supports_thinking;
        chat.format = common_chat_format_name(params->format);
        chat.params = std::move(params);
    });
    return chat;
}

std::unique_ptr<ReplyParser> ChatTemplates::make_parser(const RenderedChat & chat, const ChatOptions & options) const {
    auto parser = std::unique_ptr<ReplyParser>(new ReplyParser);
    run_on_big_stack([&] { parser->impl_ = std::make_unique<ReplyParser::Impl>(*chat.params, options); });
    return parser;
}

std::string ChatTemplates::source() const {
    return common_chat_templates_source(templates_.get());
}

std::map<std::string, bool> ChatTemplates::capabilities() const {
    return common_chat_templates_get_caps(templates_.get());
}

}  // namespace llamaint
