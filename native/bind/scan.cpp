#include "common.h"
#include "core/gguf_scan.h"
#include "ggml.h"
#include "module.h"

namespace llamaint::bind {

namespace {

using Info = py::typing::Dict<py::str, py::object>;

py::object value_of(const GgufValue & value) {
    if (const auto * flag = std::get_if<bool>(&value)) {
        return py::bool_(*flag);
    }
    if (const auto * integer = std::get_if<int64_t>(&value)) {
        return py::int_(*integer);
    }
    if (const auto * real = std::get_if<double>(&value)) {
        return py::float_(*real);
    }
    if (const auto * string = std::get_if<std::string>(&value)) {
        return text(*string);
    }
    const auto & array = std::get<GgufArray>(value);
    if (array.numbers.size() == array.count && array.count > 0) {
        py::list numbers;
        for (const double number : array.numbers) {
            numbers.append(number);
        }
        return numbers;
    }
    return py::str("<" + std::to_string(array.count) + " values>");
}

Info scan(const std::string & path) {
    GgufFile file;
    {
        ReleaseGil release;
        file = scan_model_file(path);
    }
    py::dict metadata;
    for (const auto & [key, value] : file.metadata) {
        metadata[text(key)] = value_of(value);
    }
    py::dict types;
    uint64_t tensor_bytes = 0;
    for (const GgufTensor & tensor : file.tensors) {
        const py::str type = ggml_type_name(static_cast<ggml_type>(tensor.type));
        types[type] = types.contains(type) ? py::int_(types[type]) + py::int_(1) : py::int_(1);
        tensor_bytes += tensor.n_bytes;
    }
    py::dict info;
    info["arch"] = text(file.text("general.architecture").value_or(""));
    info["version"] = file.version;
    info["metadata"] = metadata;
    info["n_tensors"] = file.tensors.size();
    info["tensor_types"] = types;
    info["tensor_bytes"] = tensor_bytes;
    info["file_bytes"] = file.file_bytes;
    return info;
}

}  // namespace

void register_scan(py::module_ & m) {
    m.def(
        "scan_gguf", scan, py::arg("path"),
        "A model file without loading it: arch, version, metadata (long arrays as \"<n values>\"), n_tensors, "
        "tensor_types, tensor_bytes, file_bytes. Raises for the files that Model.load would refuse by their metadata.");
}

}  // namespace llamaint::bind
