"""What the rest of the package may ask of a backend. The native classes and the fakes satisfy it.

Every method raises `LlamaintError` subclasses only, and may be called from any thread unless it
says otherwise. `Handle` and `EmbedHandle` have one consumer at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from llamaint.backend.grammar import Grammar
    from llamaint.backend.requests import ChatOptions, EngineRequest
    from llamaint.types import ContextParams, EmbeddingParams, ModelParams


class Model(Protocol):
    """A loaded model: vocabulary, metadata, grammars. Immutable."""

    def info(self) -> dict[str, Any]:
        """Facts of the file; the keys are listed in ``_native.pyi``."""
        ...

    def metadata(self) -> dict[str, str]:
        """Every scalar of the GGUF's metadata as text."""
        ...

    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        """Token ids of ``text``."""
        ...

    def detokenize(self, tokens: Sequence[int], remove_special: bool, unparse_special: bool) -> bytes:
        """Bytes of ``tokens``, not necessarily valid UTF-8. Raises InvalidBatchError."""
        ...

    def token_to_piece(self, token: int, special: bool) -> bytes:
        """Bytes of one token; empty for special tokens unless ``special``."""
        ...

    def grammar_from_gbnf(self, gbnf: str) -> Grammar:
        """Compile, or serve from the cache. Raises GrammarError."""
        ...

    def grammar_from_json_schema(self, schema: str) -> Grammar:
        """Compile a JSON schema given as JSON text. Raises GrammarError."""
        ...


class RenderedChat(Protocol):
    """A conversation as prompt text, with what the template asks of generation."""

    @property
    def prompt(self) -> str:
        """Text to tokenise with special tokens parsed."""
        ...

    @property
    def stops(self) -> Sequence[str]:
        """Stop strings of the template."""
        ...

    @property
    def grammar(self) -> str:
        """GBNF that a schema or the template asks for; empty for none."""
        ...

    @property
    def grammar_prefix(self) -> str:
        """End of the prompt that ``grammar`` begins with; empty for none."""
        ...

    @property
    def preserved(self) -> Sequence[str]:
        """Special tokens that the reply's text must show, for the parser."""
        ...

    @property
    def supports_thinking(self) -> bool:
        """Whether the template separates reasoning from the answer."""
        ...


class ReplyDelta(Protocol):
    """What became certain of a reply since the last feed."""

    @property
    def content(self) -> str:
        """New answer text."""
        ...

    @property
    def reasoning(self) -> str:
        """New reasoning text."""
        ...

    @property
    def tool_calls(self) -> Sequence[tuple[int, str, str, str]]:
        """Number of the call, id, name and new argument text."""
        ...


class ReplyParser(Protocol):
    """Splits one reply into content, reasoning and tool calls as it grows. One thread at a time."""

    def feed(self, text: str, final: bool) -> ReplyDelta:
        """Append text; ``final`` closes the reply."""
        ...


class ChatTemplates(Protocol):
    """The chat template of a model, or the one that replaces it."""

    def render(self, messages_json: str, options: ChatOptions) -> RenderedChat:
        """Render OpenAI-shaped messages given as JSON text. Raises TemplateError."""
        ...

    def make_parser(self, chat: RenderedChat, options: ChatOptions) -> ReplyParser:
        """A parser for one reply to ``chat``."""
        ...

    @property
    def source(self) -> str:
        """The template's text."""
        ...

    def capabilities(self) -> dict[str, bool]:
        """What the template can express, e.g. ``system``, ``tools``."""
        ...


class Chunk(Protocol):
    """What one choice produced since the last take."""

    @property
    def choice(self) -> int:
        """Number of the choice."""
        ...

    @property
    def text(self) -> str:
        """Valid UTF-8, never part of a stop string."""
        ...

    @property
    def tokens(self) -> Sequence[int]:
        """Tokens decided since the last chunk of this choice."""
        ...

    @property
    def logprobs(self) -> Sequence[tuple[int, float, float, Sequence[tuple[int, float]]]]:
        """Per token: id, raw and sampled log-probability, and the most likely (id, raw)."""
        ...

    @property
    def finish(self) -> str | None:
        """stop, length, cancelled, deadline or error; ``None`` while running."""
        ...

    @property
    def stop_text(self) -> str | None:
        """The stop string that ended the choice."""
        ...

    @property
    def error(self) -> tuple[str, str, Mapping[str, float]] | None:
        """Code, message and numbers with ``finish == "error"``."""
        ...

    @property
    def timings(self) -> Mapping[str, float] | None:
        """With the last chunk of a choice; the keys are listed in ``_native.pyi``."""
        ...


class Handle(Protocol):
    """The consumer's end of one generation request."""

    @property
    def id(self) -> int:
        """Unique within the engine."""
        ...

    @property
    def done(self) -> bool:
        """Every choice has finished and every chunk was taken."""
        ...

    def take(self) -> Sequence[Chunk]:
        """What there is, at once; maybe nothing."""
        ...

    def wait(self, timeout_s: float) -> Sequence[Chunk]:
        """Wait without the GIL until there is something, or the timeout."""
        ...

    def cancel(self) -> None:
        """Stop as soon as possible; idempotent, never blocks."""
        ...

    def watch(self) -> None:
        """From now on the id comes out of `Engine.wait_ready` when there is something to take."""
        ...


class ReadyEngine(Protocol):
    """The part of an engine that a dispatcher needs."""

    def wait_ready(self, timeout_s: float) -> Sequence[int]:
        """Ids of watched handles with news, each announced once per take. Raises ClosedError."""
        ...

    def close(self) -> None:
        """End every request with ClosedError and join the engine's thread; idempotent."""
        ...

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        ...


class Engine(ReadyEngine, Protocol):
    """Generates for many requests at once."""

    def submit(self, request: EngineRequest) -> Handle:
        """Queue a request. Raises PromptTooLongError, CapacityError, RequestError, ClosedError."""
        ...

    def info(self) -> dict[str, Any]:
        """Facts of the running engine."""
        ...

    def metrics(self) -> dict[str, float]:
        """Counters since start."""
        ...


class EmbedHandle(Protocol):
    """The consumer's end of one embedding request."""

    @property
    def id(self) -> int:
        """Unique within the engine."""
        ...

    def wait(self, timeout_s: float) -> bool:
        """Wait without the GIL; true once `result` will not block."""
        ...

    def result(self) -> Sequence[npt.NDArray[np.float32]] | npt.NDArray[np.float32]:
        """float32 ``[n_texts, n_embd_out]``, or one ``[n_tokens, n_embd_out]`` per text."""
        ...

    def cancel(self) -> None:
        """Stop as soon as possible; idempotent, never blocks."""
        ...

    def watch(self) -> None:
        """From now on the id comes out of `EmbedEngine.wait_ready`."""
        ...


class EmbedEngine(ReadyEngine, Protocol):
    """Embeds many texts at once."""

    def submit(self, texts: Sequence[Sequence[int]]) -> EmbedHandle:
        """Queue texts given as token ids. Raises PromptTooLongError, ClosedError."""
        ...

    def info(self) -> dict[str, Any]:
        """Facts of the running engine."""
        ...

    def metrics(self) -> dict[str, float]:
        """Counters since start."""
        ...


class Backend(Protocol):
    """Opens models and engines."""

    def load_model(self, path: str, params: ModelParams, progress: Callable[[float], bool] | None) -> Model:
        """Load a file; ``progress`` gets 0..1 and stops the load by returning false."""
        ...

    def open_templates(self, model: Model, source: str) -> ChatTemplates:
        """The template ``source``, or the model's own when it is empty. Raises TemplateError."""
        ...

    def open_engine(self, model: Model, params: ContextParams) -> Engine:
        """Start a generation engine. Raises ConfigError, CapacityError."""
        ...

    def open_embed_engine(self, model: Model, params: EmbeddingParams) -> EmbedEngine:
        """Start an embedding engine. Raises ConfigError, CapacityError."""
        ...
