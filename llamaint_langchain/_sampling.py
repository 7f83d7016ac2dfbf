"""Fields that say how to answer, and how one call's keywords override them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, field_validator, model_validator
from typing_extensions import Self

from llamaint.types import SamplingParams
from llamaint_langchain._errors import LlamaintConfigError, LlamaintUnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLING_NAMES = frozenset(field.name for field in dataclasses.fields(SamplingParams))

# Fields below that are sampling parameters of the runtime under the same name.
_SAMPLING_FIELDS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "repeat_penalty",
    "logit_bias",
    "grammar",
)
_CALL_FIELDS = ("max_tokens", "n", "timeout")
_LATER = {
    "tools": "tool calling",
    "tool_choice": "tool calling",
    "functions": "tool calling",
    "parallel_tool_calls": "tool calling",
    "response_format": "structured output",
}


class SamplingFields(BaseModel):
    """How the model answers. ``None`` leaves a setting to the runtime's default.

    Every field but ``max_retries`` and ``stream_usage`` can also be given for one call, as can every
    other field of `llamaint.types.SamplingParams`.

    Attributes:
        temperature: 0 is greedy.
        seed: 0 is a seed like any other; ``None`` draws a fresh one for each request.
        max_tokens: longest answer in tokens; ``None`` means up to the end of the context.
        stop: strings that end the answer; they are not part of it. A ``stop`` of one call replaces these.
        n: answers to each prompt; ``invoke`` returns the first, ``generate`` all.
        logprobs: return log-probabilities in ``response_metadata["logprobs"]``.
        top_logprobs: most likely alternatives of each token; needs ``logprobs``.
        logit_bias: token id to additive bias.
        grammar: GBNF text that the answer must match.
        sampling_kwargs: any other field of `llamaint.types.SamplingParams`.
        timeout: seconds for one request, waiting included; then `LlamaintTimeoutError`.
        max_retries: how often a request is sent again when the engine's queue was full.
        stream_usage: put token counts on the last chunk of a stream and on results.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    stop: list[str] | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repeat_penalty: float | None = None
    n: int = Field(default=1, ge=1)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0)
    logit_bias: dict[int, float] | None = None
    grammar: str | None = None
    sampling_kwargs: dict[str, Any] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)
    max_retries: int = Field(default=0, ge=0)
    stream_usage: bool = True

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop(cls, stop: object) -> object:
        return [stop] if isinstance(stop, str) else stop

    @model_validator(mode="after")
    def _check_sampling(self) -> Self:
        unknown = sorted(set(self.sampling_kwargs) - SAMPLING_NAMES.difference(_SAMPLING_FIELDS))
        if unknown:
            raise LlamaintConfigError(f"sampling_kwargs: {unknown} are fields, or not settings at all")
        if self.top_logprobs and not self.logprobs:
            raise LlamaintConfigError("top_logprobs needs logprobs=True")
        return self

    def _sampling(self) -> dict[str, object]:
        """Keywords of the runtime that the fields ask for."""
        named = {name: getattr(self, name) for name in (*_CALL_FIELDS, *_SAMPLING_FIELDS)}
        return {
            **{name: value for name, value in named.items() if value is not None},
            **self.sampling_kwargs,
        }


def options(
    fields: SamplingFields,
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
    *,
    extra: frozenset[str],
) -> dict[str, Any]:
    """Keywords for the runtime: the object's fields, overridden by those of one call.

    Args:
        fields: of the object.
        stop: replaces the field unless ``None``.
        kwargs: of the call. ``None`` takes a setting back to the runtime's default.
        extra: names beside the sampling parameters that the runtime call takes.

    Raises:
        LlamaintUnsupportedError: something of a later version was asked for.
        TypeError: a name that nothing here knows.
    """
    merged = {**fields._sampling(), **_known(kwargs, extra)}
    logprobs = merged.pop("logprobs", fields.logprobs)
    top = merged.pop("top_logprobs", fields.top_logprobs)
    if top and not logprobs:
        raise LlamaintConfigError("top_logprobs needs logprobs=True")
    if logprobs:
        merged["logprobs"] = top or 0
    if merged.get("logit_bias"):  # JSON has text keys
        merged["logit_bias"] = {int(token): bias for token, bias in merged["logit_bias"].items()}
    merged["stop"] = stop if stop is not None else fields.stop
    return {name: value for name, value in merged.items() if value is not None}


def _known(kwargs: Mapping[str, Any], extra: frozenset[str]) -> dict[str, Any]:
    known = SAMPLING_NAMES | extra | {*_CALL_FIELDS, "logprobs", "top_logprobs"}
    for name, value in kwargs.items():
        if name in known:
            continue
        if name not in _LATER:
            raise TypeError(f"unexpected keyword {name!r}; known are {', '.join(sorted(known))}")
        if value:  # an agent without tools passes tools=[]
            raise LlamaintUnsupportedError(f"{name}=...: this version of llamaint_langchain has no {_LATER[name]}")
    return {name: value for name, value in kwargs.items() if name in known}
