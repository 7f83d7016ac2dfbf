"""`Llama`: a model loaded for generation."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from llamaint.api.lifecycle import EngineObject
from llamaint.api.openai_face import OpenAIFace
from llamaint.api.options import ChatCallOptions, CompleteOptions, parse_call
from llamaint.api.pipeline import Messages, Pipeline, Prompt
from llamaint.engine.guard import EngineGuard
from llamaint.prompt.text import check_text, decode_text
from llamaint.types import ContextParams, ModelParams
from llamaint.types.checks import check_context, check_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from typing_extensions import Self, Unpack

    from llamaint.api.settings import LoadSettings
    from llamaint.backend.protocols import Backend, Engine
    from llamaint.engine.stream import AsyncStream, Stream
    from llamaint.types import ChatEvent, ChatResult, CompletionResult, Finish, KvOverride, TextDelta
    from llamaint.types.params import (
        CacheType,
        FlashAttention,
        LoadMode,
        RopeScaling,
        SplitMode,
    )

_MODEL = ModelParams()
_CONTEXT = ContextParams()


class Llama(EngineObject, OpenAIFace):
    """A model and the engine that generates with it.

    One object serves any number of threads and event loops at the same time; requests beyond
    ``n_parallel`` wait. Loading blocks until the model is ready. Close it with `close`, a ``with``
    block, or by dropping the last reference; requests that still run then end with `ClosedError`.

    It can be pickled: what is stored are the arguments, and unpickling loads again. After a fork
    the child must load its own (`ForkedError` otherwise).
    """

    def __init__(
        self,
        model_path: str | os.PathLike[str],
        *,
        n_gpu_layers: int | Literal["auto", "all"] = _MODEL.n_gpu_layers,
        split_mode: SplitMode = _MODEL.split_mode,
        main_gpu: int = _MODEL.main_gpu,
        tensor_split: Sequence[float] = _MODEL.tensor_split,
        devices: Sequence[str] = _MODEL.devices,
        load_mode: LoadMode = _MODEL.load_mode,
        vocab_only: bool = _MODEL.vocab_only,
        check_tensors: bool = _MODEL.check_tensors,
        use_extra_bufts: bool = _MODEL.use_extra_bufts,
        no_host: bool = _MODEL.no_host,
        load_mtp: bool = _MODEL.load_mtp,
        cpu_moe: bool = _MODEL.cpu_moe,
        n_cpu_moe: int = _MODEL.n_cpu_moe,
        tensor_buft_overrides: Mapping[str, str] = _MODEL.tensor_buft_overrides,
        kv_overrides: Mapping[str, KvOverride] = _MODEL.kv_overrides,
        n_ctx: int = _CONTEXT.n_ctx,
        n_batch: int = _CONTEXT.n_batch,
        n_ubatch: int = _CONTEXT.n_ubatch,
        n_parallel: int = _CONTEXT.n_parallel,
        n_threads: int | Literal["auto"] = _CONTEXT.n_threads,
        n_threads_batch: int | None = _CONTEXT.n_threads_batch,
        flash_attn: FlashAttention = _CONTEXT.flash_attn,
        type_k: CacheType = _CONTEXT.type_k,
        type_v: CacheType = _CONTEXT.type_v,
        offload_kqv: bool = _CONTEXT.offload_kqv,
        op_offload: bool = _CONTEXT.op_offload,
        swa_full: bool = _CONTEXT.swa_full,
        kv_unified: bool = _CONTEXT.kv_unified,
        rope_scaling: RopeScaling = _CONTEXT.rope_scaling,
        rope_freq_base: float = _CONTEXT.rope_freq_base,
        rope_freq_scale: float = _CONTEXT.rope_freq_scale,
        yarn_ext_factor: float = _CONTEXT.yarn_ext_factor,
        yarn_attn_factor: float = _CONTEXT.yarn_attn_factor,
        yarn_beta_fast: float = _CONTEXT.yarn_beta_fast,
        yarn_beta_slow: float = _CONTEXT.yarn_beta_slow,
        yarn_orig_ctx: int = _CONTEXT.yarn_orig_ctx,
        prefix_cache: bool = _CONTEXT.prefix_cache,
        n_cache_slots: int | None = _CONTEXT.n_cache_slots,
        deterministic: bool = _CONTEXT.deterministic,
        max_queue: int = _CONTEXT.max_queue,
        no_perf: bool = _CONTEXT.no_perf,
        chat_template: str | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        """Load a model.

        ``model_path`` is a GGUF file, an alias such as ``"smollm2-135m"``, or ``"hf:owner/repo"``,
        with ``":file-or-quantisation"`` after it if needed. `ModelParams` describes every keyword
        up to ``kv_overrides``, `ContextParams` those after it. ``chat_template`` (Jinja text)
        replaces the template of the file. ``progress`` is called in this thread with what is being
        done and how far it is, 0..1; an exception raised in it stops the load.

        Raises:
            ConfigError: a setting cannot work; found before anything is loaded.
            ModelNotFoundError: no such file, alias or repository.
            ModelLoadError: the file is damaged or not a model.
            UnsupportedError: this build cannot run the model.
            CapacityError: there is not enough memory.
            TemplateError: ``chat_template`` is malformed.
        """
        self._set_arguments(dict(locals()))
        model_params, context_params = self._params()
        from llamaint import hub
        from llamaint.backend.llama_cpp import BACKEND

        path = hub.resolve(model_path, progress=progress)
        self._open(BACKEND, path, _name_of(model_path), model_params, context_params, progress)

    def _params(self) -> tuple[ModelParams, ContextParams]:
        model = ModelParams(**{f.name: self._arguments[f.name] for f in fields(ModelParams)})
        context = ContextParams(**{f.name: self._arguments[f.name] for f in fields(ContextParams)})
        check_model(model)
        check_context(context)
        return model, context

    def _open(
        self,
        backend: Backend,
        path: Path,
        name: str,
        model_params: ModelParams,
        context_params: ContextParams,
        progress: Callable[[str, float], None] | None,
    ) -> None:
        self._path = path
        self._model = backend.load_model(os.fspath(path), model_params, _load_progress(progress))
        self._guard = EngineGuard(backend.open_engine(self._model, context_params), f"Llama({name})")
        self._pipeline = Pipeline(
            backend,
            self._model,
            self._guard,
            name=name,
            chat_template=self._arguments["chat_template"],
        )

    @classmethod
    def from_pretrained(cls, repo_id: str, filename: str | None = None, **settings: Unpack[LoadSettings]) -> Self:
        """Download from Hugging Face, once, and load.

        Args:
            repo_id: ``"owner/repo"``.
            filename: name, pattern or quantisation of the file if the repository holds several.
            settings: the keywords of `Llama`.
        """
        return cls(f"hf:{repo_id}" if filename is None else f"hf:{repo_id}:{filename}", **settings)

    # ---- completion -------------------------------------------------------------------------
    @override
    def complete(self, prompt: Prompt, **options: Unpack[CompleteOptions]) -> CompletionResult:
        """Continue a prompt and wait for the result.

        Args:
            prompt: text, in which special tokens count as such, or token ids.
            options: ``max_tokens``, ``stop``, ``n``, ``logprobs``, ``echo``, ``suffix``,
                ``timeout``, ``cache_prompt``, ``logits_processors``, ``sampling`` and every field
                of `SamplingParams`. The meanings stand in `llamaint.api.options.Call`.

        Raises:
            RequestError: something about this request; its subclasses say what.
            CapacityError: ``max_queue`` requests are waiting already.
            CancelledError: the timeout passed.
            EngineError: the engine failed, or was closed meanwhile.
        """
        return self._pipeline.complete(prompt, parse_call("complete", options, CompleteOptions))

    @override
    def complete_stream(self, prompt: Prompt, **options: Unpack[CompleteOptions]) -> Stream[TextDelta | Finish]:
        """`complete`, yielding events as they come; one `Finish` per choice.

        Leaving the stream (``break``, ``close``, garbage) cancels the request.
        """
        call = parse_call("complete_stream", options, CompleteOptions)
        return self._pipeline.complete_stream(prompt, call)

    async def acomplete(self, prompt: Prompt, **options: Unpack[CompleteOptions]) -> CompletionResult:
        """`complete` for an event loop. Cancelling the task cancels the request."""
        call = parse_call("acomplete", options, CompleteOptions)
        return await self._pipeline.acomplete(prompt, call)

    def acomplete_stream(self, prompt: Prompt, **options: Unpack[CompleteOptions]) -> AsyncStream[TextDelta | Finish]:
        """`complete_stream` for an event loop: ``async for event in llm.acomplete_stream(...)``."""
        call = parse_call("acomplete_stream", options, CompleteOptions)
        return self._pipeline.acomplete_stream(prompt, call)

    # ---- chat -------------------------------------------------------------------------------
    @override
    def chat(self, messages: Messages, **options: Unpack[ChatCallOptions]) -> ChatResult:
        """Answer a conversation with the model's own chat template and wait for the result.

        Args:
            messages: `Message` objects or OpenAI-shaped dicts, oldest first.
            options: ``enable_thinking``, ``chat_template_kwargs``, ``continue_final`` and those
                of `complete` except ``echo`` and ``suffix``.

        Raises:
            TemplateError: the template refuses these messages.
            RequestError, CapacityError, CancelledError, EngineError: as `complete`.
        """
        return self._pipeline.chat(messages, parse_call("chat", options, ChatCallOptions))

    @override
    def chat_stream(self, messages: Messages, **options: Unpack[ChatCallOptions]) -> Stream[ChatEvent]:
        """`chat`, yielding events as they come; one `Finish` per choice.

        Leaving the stream (``break``, ``close``, garbage) cancels the request.
        """
        call = parse_call("chat_stream", options, ChatCallOptions)
        return self._pipeline.chat_stream(messages, call)

    async def achat(self, messages: Messages, **options: Unpack[ChatCallOptions]) -> ChatResult:
        """`chat` for an event loop. Cancelling the task cancels the request."""
        return await self._pipeline.achat(messages, parse_call("achat", options, ChatCallOptions))

    def achat_stream(self, messages: Messages, **options: Unpack[ChatCallOptions]) -> AsyncStream[ChatEvent]:
        """`chat_stream` for an event loop: ``async for event in llm.achat_stream(...)``."""
        call = parse_call("achat_stream", options, ChatCallOptions)
        return self._pipeline.achat_stream(messages, call)

    # ---- tokens -----------------------------------------------------------------------------
    def tokenize(self, text: str | bytes, add_bos: bool = True, special: bool = False) -> list[int]:
        """Token ids of a text.

        Args:
            text: bytes must be UTF-8.
            add_bos: add the tokens the model wants around a text (usually BOS, if any).
            special: read special tokens written out in the text as such.
        """
        text = decode_text(text, "text") if isinstance(text, bytes) else check_text(text, "text")
        return self._pipeline.model.tokenize(text, add_bos, special)

    def detokenize(self, tokens: Sequence[int], special: bool = False) -> bytes:
        """Bytes of tokens, not necessarily whole UTF-8; special tokens written out if asked for."""
        return self._pipeline.detokenize(tokens, special)

    def count_tokens(self, text_or_messages: str | Messages) -> int:
        """Tokens of the prompt that a text, or a conversation after the template, would make."""
        return self._pipeline.count_tokens(text_or_messages)

    # ---- facts ------------------------------------------------------------------------------
    @property
    @override
    def name(self) -> str:
        """The model's name in results."""
        return self._pipeline.name

    @property
    def info(self) -> dict[str, object]:
        """Facts of the model file and of the running engine, e.g. ``n_ctx``, ``n_params``."""
        model = self._pipeline.model
        return {
            "model": self.name,
            "path": os.fspath(self._path),
            **model.info(),
            **self._guard.engine.info(),
        }

    @property
    def metadata(self) -> dict[str, str]:
        """Every scalar of the GGUF's metadata as text."""
        return self._pipeline.model.metadata()

    @property
    def chat_template(self) -> str:
        """The Jinja text in use."""
        _ = self._guard.engine
        return self._pipeline.templates.source

    @property
    def capabilities(self) -> dict[str, bool]:
        """What the chat template can express, and ``infill`` (fill in the middle)."""
        _ = self._guard.engine
        return {**self._pipeline.templates.capabilities(), "infill": self._pipeline.can_infill}

    def metrics(self) -> dict[str, float]:
        """Counters of the engine since it was started."""
        engine: Engine = self._guard.engine
        return engine.metrics()

    @override
    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"{type(self).__name__}({self.name!r}{state})"


def _name_of(model_path: str | os.PathLike[str]) -> str:
    text = os.fspath(model_path)
    return Path(text).stem if text.endswith(".gguf") else text


def _load_progress(progress: Callable[[str, float], None] | None) -> Callable[[float], bool]:
    # Without a callback too: Python handles Ctrl-C only where Python code runs.
    def report(fraction: float) -> bool:
        if progress is not None:
            progress("load", fraction)
        return True

    return report
