#include "abort_guard.h"
#include "error.h"
#include "gguf_scan.h"
#include "grammar_cache.h"
#include "log.h"
#include "model.h"
#include "model_options.h"

#include <algorithm>
#include <exception>
#include <filesystem>

namespace llamaint {

namespace {

// Carries a progress callback through llama.cpp's C callback: what it throws is kept for the caller.
struct ProgressRelay {
    const Progress & progress;
    bool stopped = false;
    std::exception_ptr failure;

    static bool call(float fraction, void * data) {
        auto & self = *static_cast<ProgressRelay *>(data);
        try {
            self.stopped = !self.progress(fraction);
        } catch (...) {
            self.failure = std::current_exception();
            self.stopped = true;
        }
        return !self.stopped;
    }
};

void check_exists(const std::string & path) {
    std::error_code failed;
    const auto status = std::filesystem::status(std::filesystem::u8path(path), failed);
    if (!std::filesystem::exists(status)) {
        throw Error(ErrorCode::model_not_found, "there is no file " + path);
    }
    if (std::filesystem::is_directory(status)) {
        throw Error(ErrorCode::model_not_found, path + " is a directory, not a GGUF file");
    }
}

// llama.cpp passes over keys that this architecture does not read.
void check_overrides_used(const ModelParams & params, const log::Capture & capture) {
    const auto & used = capture.overrides_used();
    for (const auto & [key, value] : params.kv_overrides) {
        if (std::find(used.begin(), used.end(), key) == used.end()) {
            throw Error(ErrorCode::config, "kv_overrides: this model has no use for \"" + key + "\"");
        }
    }
}

}  // namespace

std::shared_ptr<Model> Model::load(const std::string & path, const ModelParams & params, const Progress & progress) {
    check_exists(path);
    ModelOptions options(params);
    scan_model_file(path, params.kv_overrides);

    ProgressRelay relay{ progress, false, nullptr };
    if (progress) {
        options.native.progress_callback = ProgressRelay::call;
        options.native.progress_callback_user_data = &relay;
    }
    auto model = std::shared_ptr<Model>(new Model);
    log::Capture capture;
    std::string failure;
    {
        AbortGuard guard;
        try {
            model->model_ = llama_model_load_from_file(path.c_str(), options.native);
        } catch (const std::bad_alloc &) {
            throw Error(ErrorCode::capacity, "not enough memory to load " + path);
        } catch (const std::exception & e) {
            failure = e.what();
        }
    }
    if (relay.failure) {
        std::rethrow_exception(relay.failure);
    }
    if (!model->model_) {
        if (relay.stopped) {
            throw Error(ErrorCode::cancelled, "loading " + path + " was stopped by its progress callback");
        }
        failure = failure.empty() ? capture.reason() : failure;
        const bool unsupported = failure.find("unknown model architecture") != std::string::npos ||
                                 failure.find("unknown pre-tokenizer type") != std::string::npos ||
                                 failure.find("cannot be used as main model") != std::string::npos;
        throw Error(unsupported ? ErrorCode::unsupported : ErrorCode::model_load,
                    path + " could not be loaded: " + (failure.empty() ? "no reason given" : failure));
    }
    check_overrides_used(params, capture);
    model->vocab_ = llama_model_get_vocab(model->model_);
    model->path_ = path;
    model->arch_ = model->metadata_value("general.architecture").value_or("");
    model->vocab_only_ = params.vocab_only;
    model->grammars_ = std::make_unique<GrammarCache>();
    if (llama_vocab_type(model->vocab_) != LLAMA_VOCAB_TYPE_NONE) {
        for (Token token = 0; token < model->n_vocab(); ++token) {
            if (model->is_eog(token)) {
                model->eog_tokens_.push_back(token);
            }
        }
    }
    return model;
}

}  // namespace llamaint
