#pragma once

#include <chrono>
#include <memory>
#include <pybind11/pybind11.h>
#include <pybind11/typing.h>
#include <string>
#include <thread>

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

inline bool finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

[[noreturn]] inline void park_forever() {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

// Gives the GIL away for a scope. Unlike with py::gil_scoped_release, a daemon thread that comes back after
// the end of the interpreter has begun sleeps here until the process is gone. The destructor must stay
// noexcept: exit_guard.h relies on it for the threads that asked just before that.
class ReleaseGil {
  public:
    ReleaseGil() : state_(PyEval_SaveThread()) {}
    ~ReleaseGil() {
        if (finalizing()) {
            park_forever();
        }
        PyEval_RestoreThread(state_);
    }
    ReleaseGil(const ReleaseGil &) = delete;
    ReleaseGil & operator=(const ReleaseGil &) = delete;

  private:
    PyThreadState * state_;
};

// The same object, destroyed without the GIL: freeing a model or joining a thread may take long.
template <typename T>
std::shared_ptr<T> without_gil(std::shared_ptr<T> object) {
    T * raw = object.get();
    return std::shared_ptr<T>(raw, [owner = std::move(object)](T *) mutable {
        if (Py_IsInitialized() && PyGILState_Check()) {
            ReleaseGil release;
            owner.reset();
        } else {
            owner.reset();
        }
    });
}

}  // namespace llamaint::bind
