#include "core/chat.h"

#include "common.h"
#include "module.h"

namespace llamaint::bind {

void register_chat(py::module_ &) {}

}  // namespace llamaint::bind
