#pragma once

#include "common.h"

#include <functional>
#include <map>
#include <memory>
#include <pybind11/stl.h>
#include <string>

namespace llamaint::bind {

// Binds a struct of settings: a constructor that takes every field by keyword and refuses unknown
// names with a TypeError that lists them, and one property per field.
//
//     Params<ContextParams>(m, "ContextParams").field("n_ctx", &ContextParams::n_ctx)...;
//
// Lists and mappings are handed out as copies: assign a whole one to change it.
template <typename T>
class Params {
  public:
    Params(py::module_ & m, const char * name, const char * doc = "")
        : name_(name), setters_(std::make_shared<Setters>()), class_(m, name, doc) {
        class_.def(py::init([name = name_, setters = setters_](const py::kwargs & fields) {
            auto params = std::make_unique<T>();
            std::string unknown;
            for (const auto & [key, value] : fields) {
                const auto setter = setters->find(py::cast<std::string>(key));
                if (setter == setters->end()) {
                    unknown += (unknown.empty() ? "" : ", ") + py::cast<std::string>(key);
                } else {
                    setter->second(*params, py::reinterpret_borrow<py::object>(value));
                }
            }
            if (!unknown.empty()) {
                std::string known;
                for (const auto & setter : *setters) {
                    known += (known.empty() ? "" : ", ") + setter.first;
                }
                throw py::type_error(name + " has no field " + unknown + "; it has " + known);
            }
            return params;
        }));
    }

    template <typename V>
    Params & field(const char * name, V T::* member) {
        auto setter = [where = name_ + "." + name, member](T & params, const py::object & value) {
            try {
                params.*member = py::cast<V>(value);
            } catch (const py::cast_error &) {
                throw py::type_error(where + " cannot be " + py::cast<std::string>(py::repr(value)));
            }
        };
        setters_->emplace(name, setter);
        class_.def_property(
            name, [member](const T & params) { return params.*member; },
            [member](T & params, const V & value) { params.*member = value; });
        return *this;
    }

    py::class_<T> & cls() { return class_; }

  private:
    using Setters = std::map<std::string, std::function<void(T &, const py::object &)>>;

    std::string name_;
    std::shared_ptr<Setters> setters_;
    py::class_<T> class_;
};

}  // namespace llamaint::bind
