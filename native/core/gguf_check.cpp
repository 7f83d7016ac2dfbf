#include "gguf_check.h"

#include "error.h"

namespace llamaint {

void check_model(const GgufFile &, const std::string &) {}

}  // namespace llamaint
