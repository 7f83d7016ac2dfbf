#include "common.h"
#include "engine/embed_engine.h"
#include "module.h"
#include "params.h"

#include <pybind11/numpy.h>

namespace llamaint::bind {

namespace {

using Vectors = py::array_t<float, py::array::c_style>;

// An array over memory that it keeps alive.
Vectors array_over(const std::shared_ptr<EmbedOutput> & owner, std::vector<float> & values, size_t width) {
    const py::capsule keeper(new std::shared_ptr<EmbedOutput>(owner),
                             [](void * pointer) { delete static_cast<std::shared_ptr<EmbedOutput> *>(pointer); });
    const auto n_rows = static_cast<py::ssize_t>(width == 0 ? 0 : values.size() / width);
    return Vectors({ n_rows, static_cast<py::ssize_t>(width) }, values.data(), keeper);
}

py::object result(const std::shared_ptr<EmbedHandle> & handle) {
    std::shared_ptr<EmbedOutput> output;
    {
        ReleaseGil release;
        output = handle->result();
    }
    if (!handle->keeps_rows()) {
        return array_over(output, output->pooled, handle->width());
    }
    py::list rows;
    for (std::vector<float> & text : output->rows) {
        rows.append(array_over(output, text, handle->width()));
    }
    return rows;
}

py::typing::Dict<py::str, py::object> info_dict(const EmbedEngine & engine) {
    const EmbedInfo & info = engine.info();
    py::dict out;
    out["n_embd_out"] = info.n_embd_out;
    out["pooling"] = pooling_name(info.pooling);
    out["n_ctx"] = info.max_tokens;
    out["max_tokens"] = info.max_tokens;
    out["pack_tokens"] = info.pack_tokens;
    out["n_workers"] = info.n_workers;
    out["n_threads"] = info.n_threads;
    out["causal"] = info.causal;
    out["flash_attn"] = info.flash_attn;
    return out;
}

py::typing::Dict<py::str, py::float_> metrics_dict(const EmbedEngine & engine) {
    const EmbedMetrics & m = engine.metrics();
    py::dict out;
    out["jobs"] = m.jobs.load();
    out["texts"] = m.texts.load();
    out["tokens"] = m.tokens.load();
    out["decodes"] = m.decodes.load();
    out["aborted_decodes"] = m.aborted_decodes.load();
    out["failed_decodes"] = m.failed_decodes.load();
    out["grown_contexts"] = m.grown_contexts.load();
    out["decode_s"] = static_cast<double>(m.decode_us.load()) * 1e-6;
    out["waiting_tokens"] = engine.waiting_tokens();
    return out;
}

}  // namespace

void register_embed(py::module_ & m) {
    using release_gil = py::call_guard<ReleaseGil>;

    Params<EmbedParams>(m, "EmbedParams", "Settings of an EmbedEngine; see native/engine/embed_engine.h.")
        .field("context", &EmbedParams::context)
        .field("pooling", &EmbedParams::pooling)
        .field("pack_tokens", &EmbedParams::pack_tokens)
        .field("n_workers", &EmbedParams::n_workers);

    py::class_<EmbedHandle, std::shared_ptr<EmbedHandle>>(m, "EmbedHandle", "A job of texts. Any thread may use it.")
        .def_property_readonly("id", &EmbedHandle::id)
        .def("wait", &EmbedHandle::wait, py::arg("timeout_s"), release_gil(),
             "True: the job has ended and result() will not block.")
        .def("result", &result,
             "float32 [n_texts, n_embd_out]; with pooling 'none' a list of [n_tokens, n_embd_out] per text. "
             "Waits for the end of the job and raises its error. Calls return views of the same memory.")
        .def("cancel", &EmbedHandle::cancel, release_gil(), "Ends the job with 'cancelled' at once, if it still runs.")
        .def("watch", &EmbedHandle::watch, release_gil(),
             "The id comes out of EmbedEngine.wait_ready when the job has ended.");

    py::class_<EmbedEngine, std::shared_ptr<EmbedEngine>>(
        m, "EmbedEngine", "Embeds texts of many jobs in shared decodes, on threads that never hold the GIL.")
        .def(py::init([](const std::shared_ptr<Model> & model, const EmbedParams & params) {
                 ReleaseGil release;
                 return without_gil(std::make_shared<EmbedEngine>(model, params));
             }),
             py::arg("model"), py::arg("params"))
        .def("submit", &EmbedEngine::submit, py::arg("texts"), release_gil(),
             "Queues texts given as token ids; one without tokens gets zeros.")
        .def("wait_ready", &EmbedEngine::wait_ready, py::arg("timeout_s"), release_gil(),
             "Ids of watched jobs that have ended; [] on timeout. For one waiting thread.")
        .def("info", &info_dict)
        .def("metrics", &metrics_dict, "Counters since the start.")
        .def("close", &EmbedEngine::close, release_gil(),
             "Ends every job with 'closed', stops running decodes and joins the threads. Idempotent.")
        .def_property_readonly("closed", &EmbedEngine::closed);
}

}  // namespace llamaint::bind
