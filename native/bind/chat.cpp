#include "core/chat.h"

#include "common.h"
#include "module.h"
#include "params.h"

#include <pybind11/stl.h>

namespace llamaint::bind {

namespace {

using Call = py::typing::Tuple<int, py::str, py::str, py::str>;

py::typing::List<Call> tool_calls(const ReplyDelta & delta) {
    py::list calls;
    for (const auto & call : delta.tool_calls) {
        calls.append(py::make_tuple(call.index, text(call.id), text(call.name), text(call.arguments)));
    }
    return calls;
}

py::typing::List<py::str> texts(const std::vector<std::string> & values) {
    py::list list;
    for (const std::string & value : values) {
        list.append(text(value));
    }
    return list;
}

void register_reply(py::module_ & m) {
    py::class_<ReplyDelta>(m, "ReplyDelta", "What became certain of a reply since the last feed().")
        .def_property_readonly("content", [](const ReplyDelta & self) { return text(self.content); })
        .def_property_readonly("reasoning", [](const ReplyDelta & self) { return text(self.reasoning); })
        .def_property_readonly("tool_calls", tool_calls,
                               "(index, id, name, arguments): the name stands in a call's first delta, the arguments "
                               "grow.");

    py::class_<ReplyParser>(m, "ReplyParser", "Content, reasoning and tool calls of one growing reply.")
        .def("feed", &ReplyParser::feed, py::arg("text"), py::arg("final"), py::call_guard<ReleaseGil>())
        .def_property_readonly("parse_failed", &ReplyParser::parse_failed);
}

void register_templates(py::module_ & m) {
    py::class_<RenderedChat>(m, "RenderedChat", "A prompt and how its reply is to be read.")
        .def_property_readonly("prompt", [](const RenderedChat & self) { return text(self.prompt); })
        .def_property_readonly("stops", [](const RenderedChat & self) { return texts(self.stops); })
        .def_property_readonly("grammar", [](const RenderedChat & self) { return text(self.grammar); })
        .def_property_readonly("grammar_prefix", [](const RenderedChat & self) { return text(self.grammar_prefix); })
        .def_readonly("grammar_lazy", &RenderedChat::grammar_lazy)
        .def_property_readonly("preserved", [](const RenderedChat & self) { return texts(self.preserved); })
        .def_readonly("supports_thinking", &RenderedChat::supports_thinking)
        .def_property_readonly("format", [](const RenderedChat & self) { return text(self.format); });

    using release_gil = py::call_guard<ReleaseGil>;
    py::class_<ChatTemplates, std::shared_ptr<ChatTemplates>>(m, "ChatTemplates",
                                                              "The chat template of a model. Thread-safe.")
        .def(py::init([](const std::shared_ptr<Model> & model, const std::string & source) {
                 return std::make_shared<ChatTemplates>(model, source);
             }),
             py::arg("model"), py::arg("source") = "", release_gil(),
             "`source` \"\" takes the model file's template, ChatML when it has none.")
        .def("render", &ChatTemplates::render, py::arg("messages_json"), py::arg("options"), release_gil())
        .def("make_parser", &ChatTemplates::make_parser, py::arg("chat"), py::arg("options"), release_gil())
        .def_property_readonly("source", [](const ChatTemplates & self) { return text(self.source()); })
        .def_property_readonly("from_model", &ChatTemplates::from_model)
        .def("capabilities", &ChatTemplates::capabilities);
}

}  // namespace

void register_chat(py::module_ & m) {
    Params<ChatOptions>(m, "ChatOptions", "How messages are rendered and replies are read; core/chat.h.")
        .field("add_generation_prompt", &ChatOptions::add_generation_prompt)
        .field("continue_final", &ChatOptions::continue_final)
        .field("enable_thinking", &ChatOptions::enable_thinking)
        .field("reasoning_format", &ChatOptions::reasoning_format)
        .field("tools_json", &ChatOptions::tools_json)
        .field("tool_choice", &ChatOptions::tool_choice)
        .field("parallel_tool_calls", &ChatOptions::parallel_tool_calls)
        .field("json_schema", &ChatOptions::json_schema)
        .field("grammar", &ChatOptions::grammar)
        .field("template_kwargs", &ChatOptions::template_kwargs);
    register_reply(m);
    register_templates(m);
}

}  // namespace llamaint::bind
