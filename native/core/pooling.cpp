#include "pooling.h"

#include "choice.h"

#include <cmath>

namespace llamaint {

const char * pooling_name(Pooling pooling) {
    switch (pooling) {
    case Pooling::none:
        return "none";
    case Pooling::mean:
        return "mean";
    case Pooling::cls:
        return "cls";
    case Pooling::last:
        return "last";
    }
    return "none";
}

Pooling resolve_pooling(const Model & model, const std::string & name) {
    if (name != "auto") {
        return choose<Pooling>("pooling", name,
                               { { "none", Pooling::none },
                                 { "mean", Pooling::mean },
                                 { "cls", Pooling::cls },
                                 { "last", Pooling::last } });
    }
    const std::string asked = model.metadata_value(model.arch() + ".pooling_type").value_or("");
    if (asked == std::to_string(LLAMA_POOLING_TYPE_RANK)) {
        throw Error(ErrorCode::unsupported,
                    "the model (" + model.arch() + ") ranks documents: it has no embeddings unless a pooling is named");
    }
    // "none" in a file means that nobody chose, and an embedding is one vector to those who do not ask.
    if (asked == std::to_string(LLAMA_POOLING_TYPE_CLS)) {
        return Pooling::cls;
    }
    return asked == std::to_string(LLAMA_POOLING_TYPE_LAST) ? Pooling::last : Pooling::mean;
}

void check_finite(const float * values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!std::isfinite(values[i])) {
            throw Error(ErrorCode::numeric, "the model produced an embedding that is not finite");
        }
    }
}

RowPool::RowPool(Pooling pooling, uint32_t width) : pooling_(pooling), sum_(width, 0.0) {}

void RowPool::add(const float * row) {
    n_rows_++;
    if (pooling_ == Pooling::mean) {
        for (size_t i = 0; i < sum_.size(); i++) {
            sum_[i] += row[i];
        }
    } else if (pooling_ == Pooling::last || n_rows_ == 1) {
        sum_.assign(row, row + sum_.size());
    }
}

void RowPool::finish(float * out) const {
    const double scale = pooling_ == Pooling::mean && n_rows_ > 0 ? 1.0 / static_cast<double>(n_rows_) : 1.0;
    for (size_t i = 0; i < sum_.size(); i++) {
        out[i] = static_cast<float>(sum_[i] * scale);
    }
    check_finite(out, sum_.size());
}

}  // namespace llamaint
