"""Settings of the components, checked by name: what is not known raises, nothing is dropped."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llamaint.errors import ConfigError, UnsupportedError
from llamaint.types import SamplingParams

if TYPE_CHECKING:
    from collections.abc import Mapping

# Keywords of one call beside the sampling parameters, as the runtime names them.
_CALL = frozenset({"max_tokens", "stop", "timeout", "cache_prompt", "logits_processors"})
CHAT = _CALL | {"chat_template_kwargs", "continue_final", "enable_thinking"}
COMPLETE = _CALL | {"echo", "suffix"}

_LATER = {
    "tools": "tool calling",
    "tool_choice": "tool calling",
    "response_format": "structured output",
    "image_documents": "images",
}


def field_names(*params: type) -> frozenset[str]:
    """Names of the settings that some dataclasses hold."""
    return frozenset(field.name for cls in params for field in dataclasses.fields(cls))


_SAMPLING = field_names(SamplingParams)


def given(**settings: object) -> dict[str, object]:
    """The settings that were given at all."""
    return {name: value for name, value in settings.items() if value is not None}


def model_text(model: object) -> object:
    """A path object as absolute text: a relative one could also be read as an alias."""
    return str(Path(model).absolute()) if isinstance(model, os.PathLike) else model


def model_name(model: str) -> str:
    """The model as traces see it: paths stay out of them."""
    return Path(model).name if model.endswith(".gguf") else model


def check_settings(where: str, more: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raise ConfigError for a name in the dictionary ``where`` that no setting without a field has."""
    unknown = sorted(set(more) - known)
    if unknown:
        raise ConfigError(f"{where}: {unknown} are fields, or not settings at all")


def check_source(model: str, own: object, settings: Mapping[str, object]) -> None:
    """Raise ConfigError unless a model, or an engine that nothing else shall change, is given."""
    if own is None and not model:
        raise ConfigError("give the name or path of a model")
    if own is not None and settings:
        raise ConfigError(f"a loaded engine is given; {sorted(settings)} cannot change it")


def call_options(fixed: Mapping[str, Any], kwargs: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Keywords for the runtime: those of the object, overridden by those of one call.

    ``logprobs=True`` and ``top_logprobs=k`` become the runtime's ``logprobs=k``. ``None`` takes a
    setting back to the runtime's default.

    Raises:
        UnsupportedError: something of a later version was asked for.
        TypeError: a name that nothing here knows.
    """
    known = known | _SAMPLING | {"logprobs", "top_logprobs"}
    for name, value in kwargs.items():
        if name in known or (name in _LATER and not value):
            continue
        if name in _LATER:
            raise UnsupportedError(f"{name}=...: this version of llamaint_llamaindex has no {_LATER[name]}")
        raise TypeError(f"unexpected keyword {name!r}; known are {', '.join(sorted(known))}")
    merged = {**fixed, **{name: value for name, value in kwargs.items() if name in known}}
    wanted, top = merged.pop("logprobs", None), merged.pop("top_logprobs", None)
    if top and not wanted:
        raise ConfigError("top_logprobs needs logprobs=True")
    if wanted:
        merged["logprobs"] = top or 0
    return {name: value for name, value in merged.items() if value is not None}
