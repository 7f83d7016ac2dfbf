#include "core/machine.h"

#include "common.h"
#include "core/devices.h"
#include "module.h"

namespace llamaint::bind {

namespace {

py::typing::List<py::typing::Dict<py::str, py::object>> devices() {
    std::vector<Device> found;
    {
        ReleaseGil release;
        found = list_devices();
    }
    py::list result;
    for (const Device & device : found) {
        py::dict entry;
        entry["name"] = text(device.name);
        entry["description"] = text(device.description);
        entry["type"] = device.type;
        entry["backend"] = text(device.backend);
        entry["memory_free"] = device.memory_free;
        entry["memory_total"] = device.memory_total;
        result.append(entry);
    }
    return result;
}

py::typing::Dict<py::str, py::object> build_info() {
    py::dict info;
    for (const auto & [name, value] : llamaint::build_info()) {
        info[py::str(name)] = text(value);
    }
    for (const auto & [name, value] : build_features()) {
        info[py::str(name)] = value;
    }
    return info;
}

}  // namespace

void register_machine(py::module_ & m) {
    m.def("usable_cores", usable_cores, py::call_guard<ReleaseGil>(),
          "Physical cores this process may run on (affinity and cgroup quota counted), at least 1.");
    m.def("available_memory", available_memory_bytes, py::call_guard<ReleaseGil>(),
          "Main memory this process can still get, in bytes; 0 when unknown.");
    m.def("devices", devices,
          "The devices of this build: name, description, type (cpu, gpu, igpu, accel), backend, memory_free and "
          "memory_total in bytes.");
    m.def("build_info", build_info,
          "llama_cpp_version, llama_cpp_commit, compiler, system_info; gpu_offload, mmap, mlock, rpc.");
}

}  // namespace llamaint::bind
