"""The keywords of requests, and the one checked form they all take."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypedDict

from llamaint.errors import RequestError, UnsupportedError
from llamaint.types import LogitsProcessor, SamplingParams
from llamaint.types.checks import check_sampling
from llamaint.types.rules import Rule, each, flag, integer, is_number, optional

MAX_CHOICES = 128


class SamplingOverrides(TypedDict, total=False):
    """Every field of `SamplingParams`, which documents them."""

    seed: int | None
    temperature: float
    dynatemp_range: float
    dynatemp_exponent: float
    top_k: int
    top_p: float
    min_p: float
    typical_p: float
    top_n_sigma: float
    xtc_probability: float
    xtc_threshold: float
    min_keep: int
    penalty_last_n: int
    repeat_penalty: float
    frequency_penalty: float
    presence_penalty: float
    dry_multiplier: float
    dry_base: float
    dry_allowed_length: int
    dry_penalty_last_n: int
    dry_sequence_breakers: Sequence[str]
    mirostat_mode: Literal[0, 1, 2]
    mirostat_tau: float
    mirostat_eta: float
    adaptive_target: float
    adaptive_decay: float
    ignore_eos: bool
    logit_bias: Mapping[int, float]
    samplers: Sequence[str] | None
    grammar: str | None
    json_schema: Mapping[str, object] | str | None


class RequestOptions(SamplingOverrides, total=False):
    """What completions and chats have in common; `Call` has the defaults and documents them."""

    max_tokens: int | None
    stop: str | Sequence[str]
    n: int
    logprobs: int | None
    timeout: float | None
    cache_prompt: bool
    logits_processors: Sequence[LogitsProcessor]
    sampling: SamplingParams | None


class CompleteOptions(RequestOptions, total=False):
    """Keywords of `Llama.complete` and its three siblings."""

    echo: bool
    suffix: str | None


class ChatCallOptions(RequestOptions, total=False):
    """Keywords of `Llama.chat` and its three siblings."""

    enable_thinking: bool
    chat_template_kwargs: Mapping[str, object] | None
    continue_final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One checked call of a `Llama` method.

    Attributes:
        max_tokens: ``None`` generates until the model ends or the window is full; 0 generates none.
        stop: the text ends before the stop string that comes first in it.
        n: choices; choice i samples with seed + i.
        logprobs: ``None`` for none; k >= 0 for the picked token and the k most likely.
        timeout: seconds until the request is given up with `CancelledError`.
        cache_prompt: start from, and leave behind, a cached prefix.
        logits_processors: called in order for every row, each editing it in place.
        sampling: the request's values; single keywords override its fields.
        echo: completions only; the text begins with the prompt.
        suffix: completions only; the text after the gap to fill.
        enable_thinking: chats only; whether a reasoning model may think first.
        chat_template_kwargs: chats only; further variables for the template, JSON values.
        continue_final: chats only; go on from the last message, which is the assistant's.
    """

    max_tokens: int | None = None
    stop: str | Sequence[str] = ()
    n: int = 1
    logprobs: int | None = None
    timeout: float | None = None
    cache_prompt: bool = True
    logits_processors: Sequence[LogitsProcessor] = ()
    sampling: SamplingParams = field(default_factory=SamplingParams)
    echo: bool = False
    suffix: str | None = None
    enable_thinking: bool = True
    chat_template_kwargs: Mapping[str, object] | None = None
    continue_final: bool = False


_SAMPLING = frozenset(f.name for f in fields(SamplingParams))


def names_of(options: type) -> frozenset[str]:
    """The keywords a ``TypedDict`` allows."""
    return frozenset(options.__required_keys__ | options.__optional_keys__)  # type: ignore[attr-defined]


def refuse_unknown(method: str, given: Mapping[str, object], known: frozenset[str]) -> None:
    """Raises TypeError for a keyword that ``method`` does not have, with the nearest that it has."""
    for name in given.keys() - known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise TypeError(f"{method}() got an unexpected keyword argument {name!r}{hint}")


def parse_call(method: str, given: Mapping[str, Any], options: type) -> Call:
    """Check the keywords of one call.

    Raises:
        TypeError: a keyword that ``options`` does not have.
        RequestError: a value that cannot work; the field and the value are named.
    """
    refuse_unknown(method, given, names_of(options))
    plain = {name: value for name, value in given.items() if name not in _SAMPLING}
    base = plain.pop("sampling", None) or SamplingParams()
    if not isinstance(base, SamplingParams):
        raise RequestError(f"sampling must be SamplingParams; it is {type(base).__name__}")
    overrides = {name: value for name, value in given.items() if name in _SAMPLING}
    call = Call(sampling=replace(base, **overrides), **plain)
    _check(call)
    return call


def _check(call: Call) -> None:
    check_sampling(call.sampling)
    _require("max_tokens", call.max_tokens, optional(integer(0)))
    _require("n", call.n, integer(1, MAX_CHOICES))
    _require("logprobs", call.logprobs, optional(integer(0)))
    if call.timeout is not None and not (is_number(call.timeout, 0) and call.timeout > 0):
        raise RequestError(f"timeout must be None or seconds above 0; it is {call.timeout!r}")
    for name in ("cache_prompt", "echo", "enable_thinking", "continue_final"):
        _require(name, getattr(call, name), flag)
    _require("suffix", call.suffix, optional(_any_text))
    _require("logits_processors", call.logits_processors, each(_callable, "callables"))
    if call.echo and call.logprobs is not None:
        raise UnsupportedError("echo with logprobs is not possible: rows of the prompt are not kept")


def _require(name: str, value: object, rule: Rule) -> None:
    must = rule(value)
    if must is not None:
        raise RequestError(f"{name} must be {must}; it is {value!r}")


def _any_text(value: object) -> str | None:
    return None if isinstance(value, str) else "a str"


def _callable(value: object) -> str | None:
    return None if callable(value) else "a callable"
