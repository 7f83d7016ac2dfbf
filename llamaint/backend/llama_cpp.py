"""The one importer of the native module, and the one place where its errors change class."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from llamaint.backend import convert
from llamaint.backend.errors import error_of
from llamaint.backend.log_pump import LogPump
from llamaint.backend.model_cache import ModelCache
from llamaint.errors import CapacityError, EngineError, UnsupportedError
from llamaint.types.freeze import freeze

if TYPE_CHECKING:
    from types import ModuleType

    from llamaint import _native
    from llamaint.backend.grammar import Grammar
    from llamaint.backend.protocols import ChatTemplates, EmbedHandle, Handle, Model, RenderedChat, ReplyParser
    from llamaint.backend.requests import ChatOptions, EngineRequest
    from llamaint.types import ContextParams, EmbeddingParams, ModelParams


@cache
def _module() -> ModuleType:
    # ggml's abort handler would start a debugger for a stack trace.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    try:
        from llamaint import _native
    except ImportError as error:
        raise UnsupportedError(f"the native module of llamaint is missing; install the package: {error}") from error
    return _native


@contextmanager
def native_errors() -> Iterator[None]:
    """Raise native errors as the classes of `llamaint.errors`."""
    native = _module()
    try:
        yield
    except native.NativeError as error:
        raise error_of(error.code, str(error), error.numbers) from None
    except MemoryError as error:
        raise CapacityError(f"out of memory: {error}") from error
    except RuntimeError as error:  # a C++ exception that nobody expected
        raise EngineError(str(error)) from error


@cache
def _log_pump() -> LogPump:
    native = _module()
    return LogPump(native.drain_log, native.wake_log)


class NativeGrammar:
    """`llamaint.backend.protocols.Grammar` over ``_native.Grammar``."""

    def __init__(self, native: _native.Grammar) -> None:
        self.native = native

    @property
    def gbnf(self) -> str:
        """The grammar's text."""
        return self.native.gbnf

    def after(self, tokens: Sequence[int]) -> NativeGrammar:
        """The same grammar once it has read ``tokens``."""
        with native_errors():
            return NativeGrammar(self.native.after(tokens))


class NativeModel:
    """`llamaint.backend.protocols.Model` over ``_native.Model``."""

    def __init__(self, native: _native.Model) -> None:
        self.native = native

    def info(self) -> dict[str, Any]:
        """Facts of the file."""
        with native_errors():
            return self.native.info()

    def metadata(self) -> dict[str, str]:
        """Every scalar of the metadata as text."""
        with native_errors():
            return self.native.metadata()

    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        """Token ids of ``text``."""
        with native_errors():
            return self.native.tokenize(text, add_special, parse_special)

    def detokenize(self, tokens: Sequence[int], remove_special: bool, unparse_special: bool) -> bytes:
        """Bytes of ``tokens``."""
        with native_errors():
            return self.native.detokenize(tokens, remove_special, unparse_special)

    def token_to_piece(self, token: int, special: bool) -> bytes:
        """Bytes of one token."""
        with native_errors():
            return self.native.token_to_piece(token, special)

    def grammar_from_gbnf(self, gbnf: str) -> NativeGrammar:
        """A compiled grammar."""
        with native_errors():
            return NativeGrammar(self.native.grammar_from_gbnf(gbnf))

    def grammar_from_json_schema(self, schema: str) -> NativeGrammar:
        """A compiled grammar."""
        with native_errors():
            return NativeGrammar(self.native.grammar_from_json_schema(schema))


class NativeTemplates:
    """`llamaint.backend.protocols.ChatTemplates` over ``_native.ChatTemplates``."""

    def __init__(self, native: _native.ChatTemplates) -> None:
        self._native = native

    @property
    def source(self) -> str:
        """The template's text."""
        return self._native.source

    def capabilities(self) -> dict[str, bool]:
        """What the template can express."""
        with native_errors():
            return self._native.capabilities()

    def render(self, messages_json: str, options: ChatOptions) -> RenderedChat:
        """Prompt text and what goes with it."""
        with native_errors():
            return self._native.render(messages_json, _chat_options(options))

    def make_parser(self, chat: RenderedChat, options: ChatOptions) -> ReplyParser:
        """A parser for one reply."""
        with native_errors():
            return self._native.make_parser(cast("_native.RenderedChat", chat), _chat_options(options))


class NativeEngine:
    """`llamaint.backend.protocols.Engine` over ``_native.Engine``."""

    def __init__(self, native: _native.Engine) -> None:
        self._native = native

    def submit(self, request: EngineRequest) -> Handle:
        """Queue a request."""
        native = _module()
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


class LlamaCpp:
    """`llamaint.backend.protocols.Backend` on llama.cpp. Importing this loads nothing native."""

    def __init__(self) -> None:
        self._models: ModelCache[NativeModel] = ModelCache()

    def load_model(self, path: str, params: ModelParams, progress: Callable[[float], bool] | None) -> NativeModel:
        """A model, shared by all who ask for the same file and settings while one holds it."""
        native = _module()
        _log_pump().start()

        def load() -> NativeModel:
            with native_errors():
                values = native.ModelParams(**convert.model_fields(params))
                return NativeModel(native.Model.load(path, values, progress))

        return self._models.get((_file_key(path), freeze(params)), load)

    def open_templates(self, model: Model, source: str) -> ChatTemplates:
        """The template ``source``, or the model's own when it is empty."""
        with native_errors():
            return NativeTemplates(_module().ChatTemplates(_native_model(model), source))

    def open_engine(self, model: Model, params: ContextParams) -> NativeEngine:
        """Start a generation engine."""
        native = _module()
        with native_errors():
            context = native.ContextParams(**convert.context_fields(params))
            values = native.EngineParams(context=context, **convert.engine_fields(params))
            return NativeEngine(native.Engine(_native_model(model), values))

    def open_embed_engine(self, model: Model, params: EmbeddingParams) -> NativeEmbedEngine:
        """Start an embedding engine."""
        native = _module()
        with native_errors():
            context = native.ContextParams(**convert.embed_context_fields(params))
            values = native.EmbedParams(context=context, **convert.embed_fields(params))
            return NativeEmbedEngine(native.EmbedEngine(_native_model(model), values))


BACKEND = LlamaCpp()


def build_info() -> dict[str, Any]:
    """Version of llama.cpp, compiler and features of this build."""
    with native_errors():
        return cast("dict[str, Any]", _module().build_info())


def devices() -> list[dict[str, Any]]:
    """The compute devices of this machine that the build can use."""
    with native_errors():
        return cast("list[dict[str, Any]]", _module().devices())


def usable_cores() -> int:
    """Physical cores this process may run on."""
    return int(_module().usable_cores())


def scan_gguf(path: str) -> dict[str, Any]:
    """Metadata of a GGUF file, read without loading it."""
    with native_errors():
        return cast("dict[str, Any]", _module().scan_gguf(path))


def _native_model(model: Model) -> _native.Model:
    return cast("NativeModel", model).native


def _native_grammar(grammar: Grammar | None) -> _native.Grammar | None:
    return None if grammar is None else cast("NativeGrammar", grammar).native


def _chat_options(options: ChatOptions) -> _native.ChatOptions:
    return cast("_native.ChatOptions", _module().ChatOptions(**convert.chat_fields(options)))


def _file_key(path: str) -> tuple[str, int, int]:
    """A replaced file is another model. What does not exist is the loader's to report."""
    real = os.path.realpath(path)
    try:
        stat = Path(real).stat()
    except OSError:
        return (real, 0, 0)
    return (real, stat.st_mtime_ns, stat.st_size)
