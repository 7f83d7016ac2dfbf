#include "core/error.h"

#include "common.h"
#include "module.h"

namespace llamaint::bind {

namespace {

// The class lives as long as the interpreter: translators may run while modules are torn down.
PyObject * native_error = nullptr;

void raise(const Error & error) {
    const py::object type = py::reinterpret_borrow<py::object>(native_error);
    py::object instance = type(text(error.what()));
    instance.attr("code") = error_code_name(error.code);
    py::dict numbers;
    for (const auto & [name, value] : error.numbers) {
        numbers[py::str(name)] = value;
    }
    instance.attr("numbers") = numbers;
    PyErr_SetObject(native_error, instance.ptr());
}

}  // namespace

void register_errors(py::module_ & m) {
    native_error = PyErr_NewExceptionWithDoc("llamaint._native.NativeError",
                                             "Every error of the native core. `code` is the code of a class in "
                                             "llamaint.errors, `numbers` the figures behind the message.",
                                             PyExc_RuntimeError, nullptr);
    if (!native_error) {
        throw py::error_already_set();
    }
    const py::object type = py::reinterpret_borrow<py::object>(native_error);
    type.attr("code") = "engine";
    type.attr("numbers") = py::dict();
    m.attr("NativeError") = type;
    // bad_alloc, out_of_range, invalid_argument and the rest of the standard library are pybind11's.
    py::register_exception_translator([](std::exception_ptr pending) {
        try {
            if (pending) {
                std::rethrow_exception(pending);
            }
        } catch (const Error & error) {
            raise(error);
        }
    });
}

}  // namespace llamaint::bind
