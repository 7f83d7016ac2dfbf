#include "logits_processor.h"

#include "core/error.h"

#include <cstring>
#include <memory>
#include <vector>

namespace llamaint::bind {

namespace {

// Python objects that the engine thread lets go of.
struct Callables {
    std::vector<py::object> functions;
    py::array_t<float> row;

    ~Callables() {
        py::gil_scoped_acquire gil;
        functions.clear();
        row.release().dec_ref();
    }
};

}  // namespace

LogitsProcessor make_logits_processor(const py::sequence & callables) {
    if (py::len(callables) == 0) {
        return {};
    }
    auto shared = std::make_shared<Callables>();
    for (const auto & function : callables) {
        if (!PyCallable_Check(function.ptr())) {
            throw py::type_error("a logits processor must be callable, not " +
                                 py::cast<std::string>(py::repr(function)));
        }
        shared->functions.push_back(py::reinterpret_borrow<py::object>(function));
    }
    return [shared](const Tokens & tokens, float * logits, int32_t n_vocab) {
        py::gil_scoped_acquire gil;
        const size_t n_bytes = static_cast<size_t>(n_vocab) * sizeof(float);
        try {
            if (shared->row.size() != n_vocab) {
                shared->row = py::array_t<float>(n_vocab);
            }
            std::memcpy(shared->row.mutable_data(), logits, n_bytes);
            const py::array_t<int32_t> history(static_cast<py::ssize_t>(tokens.size()), tokens.data());
            for (const auto & function : shared->functions) {
                function(history, shared->row);
            }
            std::memcpy(logits, shared->row.data(), n_bytes);
        } catch (const std::exception & exception) {
            // Includes Python's exceptions: they end this request, not the engine.
            throw Error(ErrorCode::request, std::string("a logits processor raised ") + exception.what());
        }
    };
}

}  // namespace llamaint::bind
