"""What a request cost: tokens and seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts. ``cached_tokens`` of the prompt came from the prefix cache."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds of one request, measured by the engine. All zero when ``no_perf`` is set.

    Attributes:
        queue_s: submit to first token of the prompt evaluated.
        prefill_s: evaluating the prompt.
        ttft_s: submit to first generated token.
        decode_s: first to last generated token.
        prefill_per_s: prompt tokens evaluated (not cached) per second.
        decode_per_s: generated tokens per second after the first.
    """

    queue_s: float = 0.0
    prefill_s: float = 0.0
    ttft_s: float = 0.0
    decode_s: float = 0.0
    prefill_per_s: float = 0.0
    decode_per_s: float = 0.0
