#include "core/model.h"

#include "common.h"
#include "module.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

namespace llamaint::bind {

namespace {

using Info = py::typing::Dict<py::str, py::object>;

const char * vocab_type_name(enum llama_vocab_type type) {
    switch (type) {
    case LLAMA_VOCAB_TYPE_SPM:
        return "spm";
    case LLAMA_VOCAB_TYPE_BPE:
        return "bpe";
    case LLAMA_VOCAB_TYPE_WPM:
        return "wpm";
    case LLAMA_VOCAB_TYPE_UGM:
        return "ugm";
    case LLAMA_VOCAB_TYPE_RWKV:
        return "rwkv";
    case LLAMA_VOCAB_TYPE_PLAMO2:
        return "plamo2";
    default:
        return "none";
    }
}

py::dict special_tokens(const llama_vocab * vocab) {
    const std::pair<const char *, llama_token> all[] = {
        { "bos", llama_vocab_bos(vocab) },         { "eos", llama_vocab_eos(vocab) },
        { "eot", llama_vocab_eot(vocab) },         { "sep", llama_vocab_sep(vocab) },
        { "nl", llama_vocab_nl(vocab) },           { "pad", llama_vocab_pad(vocab) },
        { "mask", llama_vocab_mask(vocab) },       { "fim_pre", llama_vocab_fim_pre(vocab) },
        { "fim_suf", llama_vocab_fim_suf(vocab) }, { "fim_mid", llama_vocab_fim_mid(vocab) },
    };
    py::dict tokens;
    for (const auto & [name, token] : all) {
        tokens[name] = token == LLAMA_TOKEN_NULL ? py::object(py::none()) : py::object(py::int_(token));
    }
    return tokens;
}

// What the file says; None when it does not.
py::object pooling_name(const Model & model) {
    static const std::map<std::string, const char *> names = {
        { "0", "none" }, { "1", "mean" }, { "2", "cls" }, { "3", "last" }, { "4", "rank" }
    };
    const auto found = names.find(model.metadata_value(model.arch() + ".pooling_type").value_or(""));
    return found == names.end() ? py::object(py::none()) : py::object(py::str(found->second));
}

py::object optional_text(const char * value) {
    return value ? py::object(text(value)) : py::object(py::none());
}

Info model_info(const Model & self) {
    const llama_model * model = self.handle();
    const llama_vocab * vocab = self.vocab();
    char description[256];
    llama_model_desc(model, description, sizeof(description));
    py::dict info;
    info["path"] = text(self.path());
    info["arch"] = text(self.arch());
    info["desc"] = text(description);
    info["ftype"] = llama_ftype_name(llama_model_ftype(model));
    info["n_params"] = llama_model_n_params(model);
    info["size_bytes"] = llama_model_size(model);
    info["vocab_only"] = self.vocab_only();
    info["n_ctx_train"] = llama_model_n_ctx_train(model);
    info["n_embd"] = llama_model_n_embd(model);
    info["n_embd_inp"] = llama_model_n_embd_inp(model);
    info["n_embd_out"] = llama_model_n_embd_out(model);
    info["n_layer"] = llama_model_n_layer(model);
    info["n_head"] = llama_model_n_head(model);
    info["n_head_kv"] = llama_model_n_head_kv(model);
    info["n_swa"] = llama_model_n_swa(model);
    info["n_vocab"] = self.n_vocab();
    info["vocab_type"] = vocab_type_name(llama_vocab_type(vocab));
    info["has_encoder"] = llama_model_has_encoder(model);
    info["has_decoder"] = llama_model_has_decoder(model);
    info["is_recurrent"] = llama_model_is_recurrent(model);
    info["is_hybrid"] = llama_model_is_hybrid(model);
    info["is_diffusion"] = llama_model_is_diffusion(model);
    info["pooling"] = pooling_name(self);
    info["tokens"] = special_tokens(vocab);
    info["eog_tokens"] = self.eog_tokens();
    info["add_bos"] = llama_vocab_get_add_bos(vocab);
    info["add_eos"] = llama_vocab_get_add_eos(vocab);
    info["chat_template"] = optional_text(llama_model_chat_template(model, nullptr));
    info["rope_freq_scale"] = llama_model_rope_freq_scale_train(model);
    const auto base = self.metadata_value(self.arch() + ".rope.freq_base");
    info["rope_freq_base"] =
        base ? py::object(py::float_(std::strtod(base->c_str(), nullptr))) : py::object(py::none());
    return info;
}

py::typing::Dict<py::str, py::str> metadata(const Model & self) {
    std::map<std::string, std::string> all;
    {
        ReleaseGil release;
        all = self.metadata();
    }
    py::dict result;
    for (const auto & [key, value] : all) {
        result[text(key)] = text(value);
    }
    return result;
}

py::bytes detokenize(const Model & self, const Tokens & tokens, bool remove_special, bool unparse_special) {
    std::string bytes;
    {
        ReleaseGil release;
        bytes = self.detokenize(tokens, remove_special, unparse_special);
    }
    return py::bytes(bytes);
}

// pybind11 has no holders of const objects; the class has no method that changes one.
std::shared_ptr<Grammar> without_const(const std::shared_ptr<const Grammar> & grammar) {
    return std::const_pointer_cast<Grammar>(grammar);
}

// The progress function runs with the GIL; everything else of the load without.
std::shared_ptr<Model> load(const std::string & path, const ModelParams & params,
                            const std::optional<py::typing::Callable<bool(float)>> & progress) {
    Progress relay;
    if (progress) {
        relay = [&](float fraction) {
            py::gil_scoped_acquire gil;
            // A function that returns nothing lets the load go on.
            const py::object answer = (*progress)(fraction);
            return answer.is_none() || py::cast<bool>(answer);
        };
    }
    ReleaseGil release;
    return without_gil(Model::load(path, params, relay));
}

}  // namespace

void register_model(py::module_ & m) {
    py::class_<Grammar, std::shared_ptr<Grammar>>(m, "Grammar",
                                                  "A grammar compiled for one model's vocabulary. Immutable.")
        .def_property_readonly("gbnf", [](const Grammar & self) { return text(self.gbnf()); })
        .def(
            "after", [](const Grammar & self, const Tokens & tokens) { return without_const(self.after(tokens)); },
            py::arg("tokens"), py::call_guard<ReleaseGil>(),
            "The same grammar after it has read `tokens`, which the prompt ends with.");

    using release_gil = py::call_guard<ReleaseGil>;
    py::class_<Model, std::shared_ptr<Model>>(m, "Model",
                                              "A loaded model and its vocabulary. Immutable; usable from any thread.")
        .def_static("load", load, py::arg("path"), py::arg("params"), py::arg("progress") = py::none(),
                    "`progress` gets 0..1 while weights load; False stops the load, exceptions pass through.")
        .def("info", model_info)
        .def("metadata", metadata, "The scalars of the file's metadata as text.")
        .def("tokenize", &Model::tokenize, py::arg("text"), py::arg("add_special"), py::arg("parse_special"),
             release_gil())
        .def("detokenize", detokenize, py::arg("tokens"), py::arg("remove_special"), py::arg("unparse_special"))
        .def(
            "token_to_piece",
            [](const Model & self, Token token, bool special) {
                return py::bytes(self.token_to_piece(token, special));
            },
            py::arg("token"), py::arg("special"))
        .def(
            "grammar_from_gbnf",
            [](const Model & self, const std::string & gbnf) { return without_const(self.grammar_from_gbnf(gbnf)); },
            py::arg("gbnf"), release_gil())
        .def(
            "grammar_from_json_schema",
            [](const Model & self, const std::string & schema) {
                return without_const(self.grammar_from_json_schema(schema));
            },
            py::arg("schema"), release_gil());
}

}  // namespace llamaint::bind
