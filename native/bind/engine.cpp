#include "engine/engine.h"

#include "logits_processor.h"
#include "module.h"
#include "params.h"

namespace llamaint::bind {

namespace {

py::object error_tuple(const Chunk & chunk) {
    if (!chunk.error) {
        return py::none();
    }
    return py::make_tuple(error_code_name(chunk.error->code), text(chunk.error->what()),
                          py::cast(chunk.error->numbers));
}

py::object timings_dict(const Chunk & chunk) {
    if (!chunk.timings) {
        return py::none();
    }
    const Timings & t = *chunk.timings;
    const auto per_s = [](double n, double seconds) { return seconds > 0.0 && n > 0.0 ? n / seconds : 0.0; };
    py::dict out;
    out["queue_s"] = t.queue_s;
    out["prefill_s"] = t.prefill_s;
    out["ttft_s"] = t.ttft_s;
    out["decode_s"] = t.decode_s;
    out["n_prompt"] = t.n_prompt;
    out["n_cached"] = t.n_cached;
    out["n_decoded"] = t.n_decoded;
    out["prefill_per_s"] = per_s(static_cast<double>(t.n_prompt) - t.n_cached, t.prefill_s);
    out["decode_per_s"] = per_s(static_cast<double>(t.n_decoded) - 1.0, t.decode_s);
    return out;
}

py::list logprob_list(const Chunk & chunk) {
    py::list out;
    for (const SampledToken & sampled : chunk.logprobs) {
        py::list top;
        for (const TokenLogprob & other : sampled.top) {
            top.append(py::make_tuple(other.token, other.logprob));
        }
        out.append(py::make_tuple(sampled.token, sampled.raw_logprob, sampled.sampled_logprob, top));
    }
    return out;
}

const char * memory_kind_name(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::none:
        return "none";
    case MemoryKind::partial:
        return "partial";
    case MemoryKind::full_only:
        return "full_only";
    }
    return "none";
}

py::dict info_dict(const Engine & engine) {
    const EngineInfo & info = engine.info();
    py::dict out;
    out["n_ctx"] = info.context.n_ctx;
    out["n_ctx_seq"] = info.n_ctx_seq;
    out["n_batch"] = info.context.n_batch;
    out["n_ubatch"] = info.context.n_ubatch;
    out["n_parallel"] = info.n_parallel;
    out["n_slots"] = info.n_slots;
    out["n_threads"] = info.max_threads;
    out["flash_attn"] = info.context.flash_attn;
    out["type_k"] = info.context.type_k;
    out["type_v"] = info.context.type_v;
    out["memory_kind"] = memory_kind_name(info.memory_kind);
    out["deterministic"] = info.exact_rows > 0;
    out["exact_rows"] = info.exact_rows > 0 ? py::object(py::int_(info.exact_rows)) : py::object(py::none());
    out["max_rows"] = info.max_rows;
    return out;
}

py::dict metrics_dict(const Engine & engine) {
    const Metrics & m = engine.metrics();
    py::dict out;
    out["requests"] = m.requests.load();
    out["finished_stop"] = m.finished_stop.load();
    out["finished_length"] = m.finished_length.load();
    out["finished_cancelled"] = m.finished_cancelled.load();
    out["finished_deadline"] = m.finished_deadline.load();
    out["finished_error"] = m.finished_error.load();
    out["prompt_tokens"] = m.prompt_tokens.load();
    out["cached_tokens"] = m.cached_tokens.load();
    out["generated_tokens"] = m.generated_tokens.load();
    out["steps"] = m.steps.load();
    out["preemptions"] = m.preemptions.load();
    out["evictions"] = m.evictions.load();
    out["aborted_steps"] = m.aborted_steps.load();
    out["failed_steps"] = m.failed_steps.load();
    out["thread_changes"] = m.thread_changes.load();
    out["decode_s"] = static_cast<double>(m.decode_us.load()) * 1e-6;
    out["sample_s"] = static_cast<double>(m.sample_us.load()) * 1e-6;
    out["running"] = m.running.load();
    out["waiting"] = m.waiting.load();
    out["cached_sequences"] = m.cached_sequences.load();
    out["cells_used"] = m.cells_used.load();
    out["threads"] = m.threads.load();
    return out;
}

void register_request(py::module_ & m) {
    Params<EngineParams>(m, "EngineParams", "Settings of an Engine; see native/engine/engine.h.")
        .field("context", &EngineParams::context)
        .field("n_parallel", &EngineParams::n_parallel)
        .field("n_cache_slots", &EngineParams::n_cache_slots)
        .field("prefix_cache", &EngineParams::prefix_cache)
        .field("adaptive_threads", &EngineParams::adaptive_threads)
        .field("deterministic", &EngineParams::deterministic)
        .field("max_queue", &EngineParams::max_queue);

    Params<GenerationRequest>(m, "GenerationRequest", "What to generate; see native/engine/request.h.")
        .field("prompt", &GenerationRequest::prompt)
        .field("sampling", &GenerationRequest::sampling)
        .field("grammar", &GenerationRequest::grammar)
        .field("max_tokens", &GenerationRequest::max_tokens)
        .field("n", &GenerationRequest::n)
        .field("stop", &GenerationRequest::stop)
        .field("logprobs", &GenerationRequest::logprobs)
        .field("echo_special", &GenerationRequest::echo_special)
        .field("preserved_tokens", &GenerationRequest::preserved_tokens)
        .field("deadline_s", &GenerationRequest::deadline_s)
        .field("cache_prompt", &GenerationRequest::cache_prompt)
        .field("stream", &GenerationRequest::stream)
        .cls()
        .def(
            "set_logits_processors",
            [](GenerationRequest & request, const py::sequence & callables) {
                request.logits_processor = make_logits_processor(callables);
            },
            py::arg("callables"),
            "Callables `(tokens: int32 [n], logits: float32 [n_vocab]) -> None` that edit `logits` in place, in order, "
            "before each token is chosen. They run on the engine thread, with the GIL taken once per row.");
}

void register_handle(py::module_ & m) {
    py::class_<Chunk>(m, "Chunk", "What one choice produced since the last take.")
        .def_readonly("choice", &Chunk::choice)
        .def_property_readonly(
            "text", [](const Chunk & c) { return text(c.text); }, "Valid UTF-8, never part of a stop string.")
        .def_readonly("tokens", &Chunk::tokens)
        .def_property_readonly(
            "logprobs", &logprob_list,
            "(token, raw, sampled, [(token, raw)...]) per token, natural logarithms; empty unless asked for.")
        .def_property_readonly(
            "finish",
            [](const Chunk & c) -> std::optional<std::string> {
                return c.finish ? std::optional<std::string>(finish_name(*c.finish)) : std::nullopt;
            },
            "stop, length, cancelled, deadline or error; None while the choice goes on.")
        .def_property_readonly("stop_text",
                               [](const Chunk & c) -> py::object {
                                   return c.stop_text.empty() ? py::object(py::none()) : py::object(text(c.stop_text));
                               })
        .def_property_readonly("error", &error_tuple, "(code, message, numbers) with finish == 'error'.")
        .def_property_readonly("timings", &timings_dict, "Seconds and counts of the choice, with its last chunk.");

    py::class_<Handle, std::shared_ptr<Handle>>(m, "Handle", "A running request. Any thread may use it.")
        .def_property_readonly("id", &Handle::id)
        .def_property_readonly("done", &Handle::done, "Every choice has ended and every chunk was taken.")
        .def("take", &Handle::take, py::call_guard<ReleaseGil>(), "Chunks that are there now, perhaps none.")
        .def("wait", &Handle::wait, py::arg("timeout_s"), py::call_guard<ReleaseGil>(),
             "Waits for chunks, at most `timeout_s` seconds; [] on timeout and when everything has been taken.")
        .def("cancel", &Handle::cancel, py::call_guard<ReleaseGil>(),
             "Asks the engine to end the request; it answers with chunks whose finish is 'cancelled'.")
        .def("watch", &Handle::watch, py::call_guard<ReleaseGil>(),
             "From now on the id comes out of Engine.wait_ready whenever there is something to take.");
}

}  // namespace

void register_engine(py::module_ & m) {
    register_request(m);
    register_handle(m);

    py::class_<Engine, std::shared_ptr<Engine>>(
        m, "Engine", "Continuous batching over one context, on a thread that never holds the GIL.")
        .def(py::init([](const std::shared_ptr<Model> & model, const EngineParams & params) {
                 ReleaseGil release;
                 return without_gil(std::make_shared<Engine>(model, params));
             }),
             py::arg("model"), py::arg("params"))
        .def(
            "submit",
            [](Engine & engine, const GenerationRequest & request) {
                GenerationRequest copy = request;  // touches Python objects: with the GIL
                ReleaseGil release;
                return engine.submit(std::move(copy));
            },
            py::arg("request"), "Queues a request. Raises for requests that can be refused at once.")
        .def("wait_ready", &Engine::wait_ready, py::arg("timeout_s"), py::call_guard<ReleaseGil>(),
             "Ids of watched handles with something to take; [] on timeout. For one waiting thread.")
        .def("info", &info_dict)
        .def("metrics", &metrics_dict, "Counters since the start and gauges of the last step.")
        .def("close", &Engine::close, py::call_guard<ReleaseGil>(),
             "Ends every request with 'closed', stops a running decode and joins the thread. Idempotent.")
        .def_property_readonly("closed", &Engine::closed);
}

}  // namespace llamaint::bind
