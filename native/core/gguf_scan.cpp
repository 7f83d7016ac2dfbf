#include "gguf_scan.h"

namespace llamaint {

void check_model_file(const std::string &, const std::map<std::string, MetadataValue> &, bool) {}

}  // namespace llamaint
