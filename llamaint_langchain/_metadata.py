"""Usage, log-probabilities and response metadata in the shapes LangChain documents."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from langchain_core.messages.ai import InputTokenDetails, UsageMetadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llamaint.types import Timings, TokenLogprob, Usage

PROVIDER = "llamaint"


def usage_metadata(usage: Usage) -> UsageMetadata:
    """Tokens of one request; ``cache_read`` of the prompt came from the prefix cache."""
    return UsageMetadata(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.total_tokens,
        input_token_details=InputTokenDetails(cache_read=usage.cached_tokens),
    )


def token_usage(usage: Usage) -> dict[str, int]:
    """OpenAI's names, for `LLMResult.llm_output`."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }


def add_token_usage(outputs: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """One ``llm_output`` for several requests: counts add up, the model's name is the last."""
    total: dict[str, int] = {}
    combined: dict[str, Any] = {}
    for output in outputs:
        if not output:  # answered by the LLM cache
            continue
        for name, count in output["token_usage"].items():
            total[name] = total.get(name, 0) + count
        combined = {"token_usage": total, "model_name": output["model_name"]}
    return combined


def last_metadata(model: str, usage: Usage, timings: Timings) -> dict[str, Any]:
    """What stands on a finished message, and in a stream on its last chunk alone.

    Chunks are merged by adding: a value that is not to be added twice must come once.
    """
    return {
        "model_name": model,
        "token_usage": token_usage(usage),
        "timings": dataclasses.asdict(timings),
    }


def openai_logprobs(logprobs: Sequence[TokenLogprob] | None) -> dict[str, Any]:
    """``{"logprobs": {"content": [...]}}``, or empty where none were asked for."""
    if logprobs is None:
        return {}
    return {"logprobs": {"content": [_entry(item) for item in logprobs]}}


def _entry(item: TokenLogprob) -> dict[str, Any]:
    top = [_token(raw, logprob) for _, raw, logprob in item.top]
    return {**_token(item.bytes, item.logprob), "top_logprobs": top}


def _token(raw: bytes, logprob: float) -> dict[str, Any]:
    return {"token": raw.decode("utf-8", "replace"), "logprob": logprob, "bytes": list(raw)}
