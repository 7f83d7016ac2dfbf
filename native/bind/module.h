#pragma once

#include <pybind11/pybind11.h>

namespace llamaint::bind {

void register_errors(pybind11::module_ & m);
void register_log(pybind11::module_ & m);
void register_machine(pybind11::module_ & m);
void register_scan(pybind11::module_ & m);
void register_params(pybind11::module_ & m);
void register_model(pybind11::module_ & m);
void register_sampler(pybind11::module_ & m);
void register_chat(pybind11::module_ & m);
void register_engine(pybind11::module_ & m);
void register_embed(pybind11::module_ & m);

}  // namespace llamaint::bind
