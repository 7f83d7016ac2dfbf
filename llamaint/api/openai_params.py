"""Keywords of OpenAI and llama-cpp-python to those of `Llama.complete` and `Llama.chat`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from llamaint.api.grammar import LlamaGrammar
from llamaint.api.options import RequestOptions, SamplingOverrides, names_of, refuse_unknown
from llamaint.errors import RequestError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llamaint.types import LogitsProcessor, SamplingParams

RANDOM_SEEDS = (-1, 2**32 - 1)  # llama-cpp-python's ways to ask for a fresh seed


class OpenAIOptions(SamplingOverrides, total=False):
    """Keywords that text and chat completions share.

    ``present_penalty`` is llama-cpp-python's name of ``presence_penalty``. ``seed`` also takes
    -1, which draws a fresh one. ``logit_bias`` may have text keys, as JSON has. ``model`` names
    the model in the answer. ``user`` is OpenAI's tag of the end user and changes nothing here.
    """

    stop: str | Sequence[str] | None
    n: int
    present_penalty: float
    model: str | None
    user: str | None
    timeout: float | None
    cache_prompt: bool
    logits_processors: Sequence[LogitsProcessor]
    sampling: SamplingParams | None
    grammar: LlamaGrammar | str | None  # type: ignore[misc]  # wider than in SamplingOverrides


class OpenAICompletionOptions(OpenAIOptions, total=False):
    """Keywords of `Llama.create_completion` beside those in its signature."""

    logprobs: int | None
    echo: bool


class OpenAIChatOptions(OpenAIOptions, total=False):
    """Keywords of `Llama.create_chat_completion` beside those in its signature.

    ``max_completion_tokens`` is OpenAI's newer name of ``max_tokens``.
    """

    max_completion_tokens: int | None
    logprobs: bool | None
    top_logprobs: int | None
    response_format: Mapping[str, object] | None
    enable_thinking: bool
    chat_template_kwargs: Mapping[str, object] | None
    continue_final: bool
    tools: object
    tool_choice: object
    functions: object
    function_call: object
    parallel_tool_calls: object


_LATER = ("tools", "tool_choice", "functions", "function_call", "parallel_tool_calls")
_SHARED = names_of(RequestOptions) - {"logprobs", "grammar"}


def completion_options(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords for `Llama.complete`. Raises TypeError, RequestError, UnsupportedError."""
    refuse_unknown(method, given, names_of(OpenAICompletionOptions))
    options = _shared(given)
    for name in ("logprobs", "echo"):
        if given.get(name) is not None:
            options[name] = given[name]
    return options


def chat_options(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords for `Llama.chat`. Raises TypeError, RequestError, UnsupportedError."""
    refuse_unknown(method, given, names_of(OpenAIChatOptions))
    for name in _LATER:
        if given.get(name):
            raise UnsupportedError(f"{name} is not supported by this version of llamaint")
    options = _shared(given)
    for name in ("enable_thinking", "chat_template_kwargs", "continue_final"):
        if name in given:
            options[name] = given[name]
    if given.get("max_completion_tokens") is not None:
        options["max_tokens"] = given["max_completion_tokens"]
    _add_logprobs(options, given)
    _add_response_format(options, given.get("response_format"))
    return options


def _shared(given: Mapping[str, Any]) -> dict[str, Any]:
    options = {
        name: value for name, value in given.items() if name in _SHARED and (value is not None or name == "seed")
    }
    if options.get("seed") in RANDOM_SEEDS:
        options["seed"] = None
    if given.get("present_penalty") is not None:
        if given.get("presence_penalty") is not None:
            raise RequestError("present_penalty and presence_penalty are the same; give one")
        options["presence_penalty"] = given["present_penalty"]
    if "logit_bias" in options:
        options["logit_bias"] = _logit_bias(options["logit_bias"])
    grammar = given.get("grammar")
    if isinstance(grammar, LlamaGrammar):
        if grammar.gbnf is not None:
            options["grammar"] = grammar.gbnf
        else:
            options["json_schema"] = grammar.json_schema
    elif grammar is not None:
        options["grammar"] = grammar
    return options


def _logit_bias(bias: object) -> dict[int, float]:
    if not isinstance(bias, Mapping):
        raise RequestError(f"logit_bias must be a mapping; it is {type(bias).__name__}")
    try:
        return {int(token): value for token, value in bias.items()}
    except (TypeError, ValueError) as error:
        raise RequestError(f"logit_bias must have token ids as keys: {error}") from None


def _add_logprobs(options: dict[str, Any], given: Mapping[str, Any]) -> None:
    wanted, top = given.get("logprobs"), given.get("top_logprobs")
    if wanted is not None and not isinstance(wanted, bool):
        raise RequestError(f"logprobs must be True or False; it is {wanted!r}")
    if top is not None and not wanted:
        raise RequestError("top_logprobs needs logprobs=True")
    if wanted:
        options["logprobs"] = top or 0


def _add_response_format(options: dict[str, Any], format_: object) -> None:
    if format_ is None:
        return
    if not isinstance(format_, Mapping):
        raise RequestError(f"response_format must be a mapping; it is {type(format_).__name__}")
    kind: Literal["text", "json_object", "json_schema"] | object = format_.get("type")
    allowed = {"text": (), "json_object": ("schema",), "json_schema": ("json_schema",)}
    if kind not in allowed:
        raise RequestError(f"response_format has type {kind!r}; it must be 'text', 'json_object' or 'json_schema'")
    for name in format_.keys() - {"type", *allowed[str(kind)]}:
        raise RequestError(f"response_format of type {kind!r} has an unknown key {name!r}")
    if kind == "text":
        return
    if "grammar" in options or options.get("json_schema") is not None:
        raise RequestError("response_format excludes grammar and json_schema; give one of them")
    if kind == "json_object":
        options["json_schema"] = format_.get("schema") or {"type": "object"}
        return
    named = format_.get("json_schema")
    schema = named.get("schema") if isinstance(named, Mapping) else None
    if not isinstance(schema, Mapping):
        raise RequestError("response_format['json_schema'] must look like {'name', 'schema'}")
    options["json_schema"] = schema
