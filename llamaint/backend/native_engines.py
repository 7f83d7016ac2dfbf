"""The protocols of engines and their handles over the native classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from llamaint.backend import convert
from llamaint.backend.native import native_errors, native_module

if TYPE_CHECKING:
    from llamaint import _native
    from llamaint.backend.grammar import Grammar
    from llamaint.backend.native_model import NativeGrammar
    from llamaint.backend.protocols import EmbedHandle, Handle
    from llamaint.backend.requests import EngineRequest


class NativeEngine:
    """`llamaint.backend.protocols.Engine` over ``_native.Engine``."""

    def __init__(self, native: _native.Engine) -> None:
        self._native = native

    def submit(self, request: EngineRequest) -> Handle:
        """Queue a request."""
        native = native_module()
        with native_errors():
            values = native.GenerationRequest(
                prompt=request.prompt,
                sampling=native.SamplingParams(**convert.sampling_fields(request.sampling)),
                grammar=_native_grammar(request.grammar),
                max_tokens=-1 if request.max_tokens is None else request.max_tokens,
                n=request.n,
                stop=list(request.stop),
                logprobs=-1 if request.logprobs is None else request.logprobs,
                preserved_tokens=request.preserved_tokens,
                deadline_s=request.deadline_s or 0.0,
                cache_prompt=request.cache_prompt,
                stream=request.stream,
            )
            if request.logits_processors:
                values.set_logits_processors(request.logits_processors)
            return self._native.submit(values)

    def wait_ready(self, timeout_s: float) -> Sequence[int]:
        """Ids of watched handles with news."""
        with native_errors():
            return self._native.wait_ready(timeout_s)

    def info(self) -> dict[str, Any]:
        """Facts of the running engine."""
        with native_errors():
            return self._native.info()

    def metrics(self) -> dict[str, float]:
        """Counters since start."""
        with native_errors():
            return self._native.metrics()

    def close(self) -> None:
        """End every request and join the thread."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._native.closed


class NativeEmbedEngine:
    """`llamaint.backend.protocols.EmbedEngine` over ``_native.EmbedEngine``."""

    def __init__(self, native: _native.EmbedEngine) -> None:
        self._native = native

    def submit(self, texts: Sequence[Sequence[int]]) -> EmbedHandle:
        """Queue texts."""
        with native_errors():
            return NativeEmbedHandle(self._native.submit(texts))

    def wait_ready(self, timeout_s: float) -> Sequence[int]:
        """Ids of watched handles with news."""
        with native_errors():
            return self._native.wait_ready(timeout_s)

    def info(self) -> dict[str, Any]:
        """Facts of the running engine."""
        with native_errors():
            return self._native.info()

    def metrics(self) -> dict[str, float]:
        """Counters since start."""
        with native_errors():
            return self._native.metrics()

    def close(self) -> None:
        """End every request and join the thread."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._native.closed


class NativeEmbedHandle:
    """`llamaint.backend.protocols.EmbedHandle` over ``_native.EmbedHandle``, whose result raises."""

    def __init__(self, native: _native.EmbedHandle) -> None:
        self._native = native
        self.id = native.id
        self.wait = native.wait
        self.cancel = native.cancel
        self.watch = native.watch

    def result(self) -> Any:  # noqa: ANN401 - arrays as the protocol says
        """The vectors, or the error that ended the request."""
        with native_errors():
            return self._native.result()


def _native_grammar(grammar: Grammar | None) -> _native.Grammar | None:
    return None if grammar is None else cast("NativeGrammar", grammar).native
