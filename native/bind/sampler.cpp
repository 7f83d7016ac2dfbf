#include "core/sampler.h"

#include "common.h"
#include "module.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace llamaint::bind {

namespace {

using Row = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Top = py::typing::List<py::typing::Tuple<int, float>>;
using Sampled = py::typing::Tuple<int, float, float, Top>;

Sampled sample(Sampler & self, const Row & logits, int32_t n_top) {
    if (logits.ndim() != 1 || logits.shape(0) != self.n_vocab()) {
        throw py::value_error("logits must be a row of " + std::to_string(self.n_vocab()) + " float32");
    }
    SampledToken token;
    {
        ReleaseGil release;
        token = self.sample(logits.data(), n_top);
    }
    py::list top;
    for (const TokenLogprob & entry : token.top) {
        top.append(py::make_tuple(entry.token, entry.logprob));
    }
    return py::make_tuple(token.token, token.raw_logprob, token.sampled_logprob, top);
}

}  // namespace

void register_sampler(py::module_ & m) {
    py::class_<Sampler>(m, "Sampler", "The sampling state of one sequence, without an engine. One thread at a time.")
        .def(py::init([](const std::shared_ptr<Model> & model, const SamplingParams & params,
                         const std::optional<std::shared_ptr<Grammar>> & grammar, int32_t n_ctx) {
                 return std::make_unique<Sampler>(model, params, grammar.value_or(nullptr), n_ctx);
             }),
             py::arg("model"), py::arg("params"), py::arg("grammar") = py::none(), py::arg("n_ctx") = 4096,
             py::call_guard<ReleaseGil>())
        .def("accept_prompt", &Sampler::accept_prompt, py::arg("tokens"), py::call_guard<ReleaseGil>(),
             "Lets penalties and DRY see the prompt; the grammar does not.")
        .def("sample", sample, py::arg("logits"), py::arg("n_top") = -1,
             "(token, raw log-probability, log-probability after the chain, the n_top most likely) of float32 "
             "[n_vocab]; the log-probabilities are 0 when n_top is -1.")
        .def("accept", &Sampler::accept, py::arg("token"), py::call_guard<ReleaseGil>())
        .def("clone", &Sampler::clone, py::call_guard<ReleaseGil>())
        .def_property_readonly("seed", &Sampler::seed);
}

}  // namespace llamaint::bind
