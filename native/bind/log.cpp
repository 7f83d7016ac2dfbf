#include "core/log.h"

#include "common.h"
#include "module.h"

namespace llamaint::bind {

namespace {

py::typing::List<py::typing::Tuple<int, py::str>> drain(double timeout_s) {
    std::vector<log::Line> lines;
    {
        ReleaseGil release;
        lines = log::drain(timeout_s);
    }
    py::list result;
    for (const log::Line & line : lines) {
        result.append(py::make_tuple(line.level, text(line.text)));
    }
    return result;
}

}  // namespace

void register_log(py::module_ & m) {
    m.def("drain_log", drain, py::arg("timeout_s"),
          "Takes the (logging level, line) pairs written so far; waits up to `timeout_s` seconds for a first one.");
    m.def("wake_log", log::wake, "Lets one drain_log() that waits now, or the next one, return at once.");
    m.def("log_dropped", log::dropped, "Lines lost since the start because nobody drained the log.");
}

}  // namespace llamaint::bind
