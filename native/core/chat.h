#pragma once

#include "model.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

struct common_chat_templates;
struct common_chat_params;

namespace llamaint {

struct ChatOptions {
    bool add_generation_prompt = true;
    bool continue_final = false;  // the last assistant message is a prefix to go on from
    bool enable_thinking = true;
    std::string reasoning_format = "auto";  // none | auto | deepseek | deepseek-legacy
    std::string tools_json;                 // OpenAI tools array; "" = none
    std::string tool_choice = "auto";       // auto | required | none
    bool parallel_tool_calls = false;
    std::string json_schema;  // JSON text; "" = none
    std::string grammar;
    std::map<std::string, std::string> template_kwargs;  // values are JSON text
};

struct ReplyDelta {
    std::string content;
    std::string reasoning;
    // Tool calls: index, name on the first delta, arguments as they grow.
    struct ToolCall {
        int index = 0;
        std::string id;
        std::string name;
        std::string arguments;
    };
    std::vector<ToolCall> tool_calls;
};

// Turns the text of one reply, as it grows, into content / reasoning / tool-call deltas.
// One thread at a time.
class ReplyParser {
  public:
    ~ReplyParser();
    // Appends text and returns what became certain. `final` closes the reply; a text that does not
    // parse is then returned as plain content, with parse_failed() true.
    ReplyDelta feed(const std::string & text, bool final);
    bool parse_failed() const { return parse_failed_; }

  private:
    friend class ChatTemplates;
    ReplyParser();
    struct Impl;
    std::unique_ptr<Impl> impl_;
    bool parse_failed_ = false;
};

struct RenderedChat {
    std::string prompt;
    std::vector<std::string> stops;  // additional stop strings of the template
    std::string grammar;             // GBNF that tools or schema ask for; "" = none
    std::string grammar_prefix;      // end of the prompt that `grammar` begins with; "" = none
    bool grammar_lazy = false;
    std::vector<std::string> preserved;  // special tokens that the reply's text must show
    bool supports_thinking = false;
    std::string format;                          // llama.cpp's name of the reply format
    std::shared_ptr<common_chat_params> params;  // what make_parser needs
};

// The chat template of a model (or an override). Thread-safe.
class ChatTemplates {
  public:
    // `source` "" takes the GGUF's template, ChatML when it has none.
    // Throws Error(template_): syntax error, nested deeper than limits::template_depth.
    ChatTemplates(std::shared_ptr<const Model> model, const std::string & source);
    ~ChatTemplates();

    // Messages as an OpenAI-shaped JSON array. Throws Error(template_) with the template's own message.
    RenderedChat render(const std::string & messages_json, const ChatOptions & options) const;

    std::unique_ptr<ReplyParser> make_parser(const RenderedChat & chat, const ChatOptions & options) const;

    std::string source() const;
    bool from_model() const { return from_model_; }  // false: an override or the ChatML fallback
    std::map<std::string, bool> capabilities() const;

  private:
    std::shared_ptr<const Model> model_;
    std::unique_ptr<common_chat_templates, void (*)(common_chat_templates *)> templates_;
    bool from_model_ = false;
};

}  // namespace llamaint
