#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/typing.h>

#include <memory>
#include <string>

namespace llamaint::bind {

namespace py = pybind11;

// Bytes from llama.cpp (vocabulary texts, metadata, messages) need not be UTF-8.
inline py::str text(const std::string & bytes) {
    PyObject * decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
    if (!decoded) {
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::str>(decoded);
}

// The same object, destroyed without the GIL: freeing a model or joining a thread may take long.
template <typename T>
std::shared_ptr<T> without_gil(std::shared_ptr<T> object) {
    T * raw = object.get();
    return std::shared_ptr<T>(raw, [owner = std::move(object)](T *) mutable {
        if (Py_IsInitialized() && PyGILState_Check()) {
            py::gil_scoped_release release;
            owner.reset();
        } else {
            owner.reset();
        }
    });
}

}  // namespace llamaint::bind
