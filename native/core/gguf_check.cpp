#include "gguf_check.h"

#include "error.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace llamaint {

namespace {

constexpr double max_layers = 512;    // LLAMA_MAX_LAYERS
constexpr double max_experts = 1024;  // LLAMA_MAX_EXPERTS
constexpr double max_int32 = 2147483647;

// The numbers of one model, by llama.cpp's key names without the architecture in front.
class Checker {
  public:
    Checker(const GgufFile & file, const std::string & path) : file_(file), path_(path) {
        arch_ = file.text("general.architecture").value_or("");
        if (arch_.empty()) {
            throw Error(ErrorCode::model_load, path + " does not say which architecture it is (general.architecture)");
        }
    }

    void check() const {
        whole("block_count", 1, max_layers);
        whole("context_length", 0, max_int32);
        whole("embedding_length", 1, max_int32);
        whole("vocab_size", 0, max_int32);
        whole("expert_count", 0, max_experts);
        whole("nextn_predict_layers", 0, number("block_count").value_or(max_layers));
        whole("attention.sliding_window", 0, max_int32);
        whole("attention.sliding_window_pattern", 0, number("block_count").value_or(max_layers));
        per_layer("attention.head_count");
        per_layer("attention.head_count_kv");
        per_layer("feed_forward_length");
        heads();
        epsilons();
        rope_sections();
    }

  private:
    std::string key(const char * suffix) const { return arch_ + "." + suffix; }
    std::optional<double> number(const char * suffix) const { return file_.number(key(suffix)); }

    [[noreturn]] void refuse(const std::string & name, double value, const std::string & rule) const {
        std::ostringstream message;
        message << path_ << " is damaged: " << name << " is " << value << ", but " << rule;
        throw Error(ErrorCode::model_load, message.str(), { { "value", value } });
    }

    void whole(const char * suffix, double low, double high) const {
        const auto value = number(suffix);
        if (value && !(*value >= low && *value <= high)) {
            std::ostringstream rule;
            rule << "must be from " << low << " to " << high;
            refuse(key(suffix), *value, rule.str());
        }
    }

    // A number for all layers, or an array with one for each. Zero is a layer without that part.
    void per_layer(const char * suffix) const {
        whole(suffix, 0, max_int32);
        const GgufArray * array = file_.array(key(suffix));
        const auto n_layers = number("block_count");
        if (!array || !n_layers) {
            return;
        }
        if (array->count < *n_layers) {
            refuse("the length of " + key(suffix), double(array->count), "there are more layers");
        }
        for (const double value : array->numbers) {
            if (!(value >= 0 && value <= max_int32)) {
                refuse("an entry of " + key(suffix), value, "must be from 0 to 2147483647");
            }
        }
    }

    void heads() const {
        const auto heads = number("attention.head_count");
        const auto heads_kv = number("attention.head_count_kv");
        if (heads && heads_kv && *heads_kv > 0 && std::fmod(*heads, *heads_kv) != 0) {
            refuse(key("attention.head_count"), *heads,
                   "must be a multiple of head_count_kv, which is " + std::to_string(static_cast<int64_t>(*heads_kv)));
        }
        const auto width = number("embedding_length");
        if (heads && width && *heads > *width) {
            refuse(key("attention.head_count"), *heads, "embedding_length is smaller");
        }
    }

    // ggml divides by the root of "variance + epsilon" and asserts that it is not negative.
    void epsilons() const {
        for (const auto & [name, value] : file_.metadata) {
            const std::string suffix = "_epsilon";
            if (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
                const double epsilon = file_.number(name).value_or(0);
                if (!(epsilon >= 0 && epsilon < 1)) {
                    refuse(name, epsilon, "must be from 0 to 1");
                }
            }
        }
    }

    // ggml_rope_multi asserts that the sections are not all empty and fit into a head.
    void rope_sections() const {
        const GgufArray * sections = file_.array(key("rope.dimension_sections"));
        if (!sections) {
            return;
        }
        const double heads = number("attention.head_count").value_or(0);
        const double head =
            number("attention.key_length").value_or(heads > 0 ? number("embedding_length").value_or(0) / heads : 0);
        double sum = 0;
        for (const double section : sections->numbers) {
            if (!(section >= 0)) {
                refuse("a section of " + key("rope.dimension_sections"), section, "must not be negative");
            }
            sum += section;
        }
        if (sum <= 0 || (head > 0 && sum > head)) {
            refuse("the sum of " + key("rope.dimension_sections"), sum,
                   "must be from 1 to the size of a head, " + std::to_string(static_cast<int64_t>(head)));
        }
    }

    const GgufFile & file_;
    const std::string & path_;
    std::string arch_;
};

}  // namespace

void check_model(const GgufFile & file, const std::string & path) {
    Checker(file, path).check();
}

}  // namespace llamaint
