#pragma once

#include "error.h"
#include "model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llamaint {

// How the vectors of a text's tokens become one. llama.cpp pools each ubatch by itself, which is wrong for
// mean and cls once a text spans two; we take its unpooled rows and pool here.
enum class Pooling { none, mean, cls, last };

const char * pooling_name(Pooling pooling);

// `name` is auto, none, mean, cls or last; auto takes what the file asks for, mean when it does not say.
// Throws Error(config) for another name, Error(unsupported) when the file asks for ranking.
Pooling resolve_pooling(const Model & model, const std::string & name);

// Throws Error(numeric) when one of the values is NaN or infinite.
void check_finite(const float * values, size_t n);

// Pools the rows of one text, given in order and any number at a time. Sums are kept in double, so the
// result does not depend on how the text was cut.
class RowPool {
  public:
    // `pooling` is not none.
    RowPool(Pooling pooling, uint32_t width);

    void add(const float * row);

    // Writes float32 [width]; zeros when there was no row. Throws Error(numeric) for NaN or infinity.
    void finish(float * out) const;

  private:
    Pooling pooling_;
    uint64_t n_rows_ = 0;
    std::vector<double> sum_;
};

}  // namespace llamaint
