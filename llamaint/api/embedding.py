"""`LlamaEmbedding`: a model loaded for embeddings."""

from __future__ import annotations

import base64
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from typing_extensions import override

from llamaint.api.embed_input import EmbedTokenizer, check_texts
from llamaint.api.lifecycle import EngineObject
from llamaint.api.normalize import check_normalize, normalize_rows
from llamaint.engine import offload
from llamaint.engine.embed_handle import EmbedRequestHandle
from llamaint.engine.guard import EngineGuard
from llamaint.errors import RequestError
from llamaint.types import EmbeddingParams, Embeddings, ModelParams
from llamaint.types.checks import check_embedding, check_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    import numpy.typing as npt

    from llamaint.api.embed_input import EmbedInput
    from llamaint.backend.protocols import Backend, EmbedEngine
    from llamaint.types import KvOverride
    from llamaint.types.params import FlashAttention, LoadMode, Pooling, SplitMode

    Array = npt.NDArray[np.float32]
    Texts = str | Iterable[str]
    Vectors = Array | tuple[Array, ...]

_MODEL = ModelParams()
_EMBEDDING = EmbeddingParams()

# Scaling this many values takes about a millisecond; beyond, an event loop hands it to a thread.
_INLINE_VALUES = 100_000


class LlamaEmbedding(EngineObject):
    """A model and the engine that turns texts into vectors with it.

    One object serves any number of threads and event loops at the same time; their texts share
    decodes, and a short request does not wait behind a long one. Close it with `close`, a ``with``
    block, or by dropping the last reference; requests that still run then end with `ClosedError`.

    It can be pickled: what is stored are the arguments, and unpickling loads again. After a fork the
    child must load its own (`ForkedError` otherwise). A `Llama` on the same file with the same
    `ModelParams` shares the weights.
    """

    def __init__(
        self,
        model_path: str | os.PathLike[str],
        *,
        n_ctx: int = _EMBEDDING.n_ctx,
        n_ubatch: int = _EMBEDDING.n_ubatch,
        pooling: Pooling = _EMBEDDING.pooling,
        pack_tokens: int | None = _EMBEDDING.pack_tokens,
        n_threads: int | Literal["auto"] = _EMBEDDING.n_threads,
        flash_attn: FlashAttention = _EMBEDDING.flash_attn,
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
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        """Load a model.

        ``model_path`` is a GGUF file, an alias such as ``"minilm-l6"``, or ``"hf:owner/repo"``, with
        ``":file-or-quantisation"`` after it if needed. `EmbeddingParams` describes the keywords up to
        ``flash_attn``, `ModelParams` those after it. ``progress`` is called in this thread with what is
        being done and how far it is, 0..1; an exception raised in it stops the load.

        Raises:
            ConfigError: a setting cannot work.
            ModelNotFoundError: no such file, alias or repository.
            ModelLoadError: the file is damaged or not a model.
            UnsupportedError: this build cannot run the model, or the model is a reranker.
            CapacityError: there is not enough memory.
        """
        self._set_arguments(dict(locals()))
        model_params, embedding_params = self._params()
        from llamaint import hub
        from llamaint.backend.llama_cpp import BACKEND

        path = hub.resolve(model_path, progress=progress)
        self._open(BACKEND, path, _name_of(model_path), model_params, embedding_params, progress)

    def _params(self) -> tuple[ModelParams, EmbeddingParams]:
        model = ModelParams(**{f.name: self._arguments[f.name] for f in fields(ModelParams)})
        embedding = EmbeddingParams(**{f.name: self._arguments[f.name] for f in fields(EmbeddingParams)})
        check_model(model)
        check_embedding(embedding)
        return model, embedding

    def _open(
        self,
        backend: Backend,
        path: Path,
        name: str,
        model_params: ModelParams,
        embedding_params: EmbeddingParams,
        progress: Callable[[str, float], None] | None,
    ) -> None:
        def report(fraction: float) -> bool:
            if progress is not None:
                progress("load", fraction)
            return True

        self.name = name
        self._path = path
        self._model = backend.load_model(os.fspath(path), model_params, report)
        engine = backend.open_embed_engine(self._model, embedding_params)
        self._guard: EngineGuard[EmbedEngine] = EngineGuard(engine, f"LlamaEmbedding({name})")
        self._engine_info = engine.info()
        self._tokenizer = EmbedTokenizer(self._model)

    # ---- vectors ----------------------------------------------------------------------------
    def embed(self, texts: Texts, *, normalize: float | bool = 2, truncate: bool = False) -> Array:
        """Vectors of texts, in their order.

        Args:
            texts: one text, or any iterable of texts. An empty text has a vector like any other.
            normalize: 2 or ``True`` scales to unit length, ``False`` or -1 leaves the vectors alone, 1
                divides by the sum of magnitudes, p by the p-norm, 0 scales the largest magnitude to
                32760 (for storage as int16).
            truncate: cut texts that are too long at their end instead of raising.

        Returns:
            float32 ``[n_texts, n_embd_out]``, or ``[n_embd_out]`` for one text given as ``str``. With
            ``pooling="none"`` a tuple of ``[n_tokens, n_embd_out]``, or that array for one ``str``.

        Raises:
            TypeError: ``texts`` is not a text or an iterable of texts.
            PromptTooLongError: a text is too long; ``numbers`` holds ``index``, ``n_prompt``, ``n_ctx``.
            RequestError: a text is not valid Unicode, or ``normalize`` cannot work.
            EngineError: the engine failed, or was closed meanwhile.
        """
        return _plain(texts, self.embed_full(texts, normalize=normalize, truncate=truncate))

    def embed_full(self, texts: Texts, *, normalize: float | bool = 2, truncate: bool = False) -> Embeddings:
        """`embed` with token counts and the indices of texts that were cut; never one-dimensional."""
        p = check_normalize(normalize)
        prepared = self._prepare(check_texts(texts), truncate)
        vectors = EmbedRequestHandle(self._guard, prepared.tokens).result()
        return _embeddings(prepared, vectors, p)

    async def aembed(self, texts: Texts, *, normalize: float | bool = 2, truncate: bool = False) -> Array:
        """`embed` for an event loop. Cancelling the task cancels the request."""
        return _plain(texts, await self.aembed_full(texts, normalize=normalize, truncate=truncate))

    async def aembed_full(self, texts: Texts, *, normalize: float | bool = 2, truncate: bool = False) -> Embeddings:
        """`embed_full` for an event loop. Cancelling the task cancels the request."""
        p = check_normalize(normalize)
        many = check_texts(texts)
        prepared = await offload.run(lambda: self._prepare(many, truncate), sum(map(len, many)))
        vectors = await EmbedRequestHandle(self._guard, prepared.tokens).aresult()
        if sum(rows.size for rows in vectors) <= _INLINE_VALUES:
            return _embeddings(prepared, vectors, p)
        return await offload.in_thread(lambda: _embeddings(prepared, vectors, p))

    def create_embedding(
        self,
        input: str | Iterable[str],
        *,
        model: str | None = None,
        encoding_format: Literal["float", "base64"] = "float",
        normalize: float | bool = 2,
        truncate: bool = False,
    ) -> dict[str, Any]:
        """`embed_full` in the shape of OpenAI's ``/v1/embeddings``.

        Args:
            input: one text or several.
            model: the name to answer with; this object's own by default.
            encoding_format: lists of numbers, or little-endian float32 as base64 text.
            normalize: as `embed`.
            truncate: as `embed`.
        """
        if encoding_format not in ("float", "base64"):
            raise RequestError(f"encoding_format must be 'float' or 'base64'; it is {encoding_format!r}")
        result = self.embed_full(input, normalize=normalize, truncate=truncate)
        n_tokens = sum(result.n_tokens)
        return {
            "object": "list",
            "data": [
                {"object": "embedding", "embedding": _encoded(vector, encoding_format), "index": index}
                for index, vector in enumerate(result.vectors)
            ],
            "model": self.name if model is None else model,
            "usage": {"prompt_tokens": n_tokens, "total_tokens": n_tokens},
        }

    def tokenize(self, text: str) -> list[int]:
        """Token ids that embedding the text evaluates, special tokens included."""
        _ = self._guard.engine
        return self._tokenizer.encode(check_texts(text)[0])

    def count_tokens(self, text: str) -> int:
        """How many tokens `tokenize` gives."""
        return len(self.tokenize(text))

    def _prepare(self, texts: Sequence[str], truncate: bool) -> EmbedInput:
        _ = self._guard.engine  # closed or forked: say so before any work
        return self._tokenizer.encode_all(texts, max_tokens=self.max_tokens, truncate=truncate)

    # ---- facts ------------------------------------------------------------------------------
    @property
    def n_embd_out(self) -> int:
        """Width of a vector."""
        return int(self._engine_info["n_embd_out"])

    @property
    def max_tokens(self) -> int:
        """Longest text in tokens, special tokens included."""
        return int(self._engine_info["max_tokens"])

    @property
    def pooling(self) -> str:
        """The pooling in use, "auto" resolved."""
        return str(self._engine_info["pooling"])

    @property
    def info(self) -> dict[str, object]:
        """Facts of the model file and of the running engine, e.g. ``n_embd_out``, ``max_tokens``."""
        return {
            "model": self.name,
            "path": os.fspath(self._path),
            **self._model.info(),
            **self._guard.engine.info(),
        }

    def metrics(self) -> dict[str, float]:
        """Counters of the engine since it was started."""
        return self._guard.engine.metrics()

    @override
    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"{type(self).__name__}({self.name!r}{state})"


def _embeddings(prepared: EmbedInput, vectors: Array | Sequence[Array], p: float) -> Embeddings:
    scaled: Vectors
    if isinstance(vectors, np.ndarray):
        scaled = normalize_rows(vectors, p)
    else:
        scaled = tuple(normalize_rows(rows, p) for rows in vectors)
    return Embeddings(vectors=scaled, n_tokens=prepared.n_tokens, truncated=prepared.truncated)


def _plain(texts: Texts, result: Embeddings) -> Array:
    return cast("Array", result.vectors[0] if isinstance(texts, str) else result.vectors)


def _encoded(vector: Array, encoding_format: str) -> object:
    if encoding_format == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    return vector.tolist()


def _name_of(model_path: str | os.PathLike[str]) -> str:
    text = os.fspath(model_path)
    return Path(text).stem if text.endswith(".gguf") else text
