"""The backend on llama.cpp, and what its build can do. Importing this loads nothing native."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from llamaint.backend import convert
from llamaint.backend.model_cache import ModelCache
from llamaint.backend.native import log_pump, native_errors, native_module
from llamaint.backend.native_engines import NativeEmbedEngine, NativeEngine
from llamaint.backend.native_model import NativeModel, NativeTemplates
from llamaint.types.freeze import freeze

if TYPE_CHECKING:
    from llamaint import _native
    from llamaint.backend.protocols import ChatTemplates, Model
    from llamaint.types import ContextParams, EmbeddingParams, ModelParams


class LlamaCpp:
    """`llamaint.backend.protocols.Backend` on llama.cpp. Importing this loads nothing native."""

    def __init__(self) -> None:
        self._models: ModelCache[NativeModel] = ModelCache()

    def load_model(self, path: str, params: ModelParams, progress: Callable[[float], bool] | None) -> NativeModel:
        """A model, shared by all who ask for the same file and settings while one holds it."""
        native = native_module()
        log_pump().start()

        def load() -> NativeModel:
            with native_errors():
                values = native.ModelParams(**convert.model_fields(params))
                return NativeModel(native.Model.load(path, values, progress))

        return self._models.get((_file_key(path), freeze(params)), load)

    def open_templates(self, model: Model, source: str) -> ChatTemplates:
        """The template ``source``, or the model's own when it is empty."""
        with native_errors():
            return NativeTemplates(native_module().ChatTemplates(_native_model(model), source))

    def open_engine(self, model: Model, params: ContextParams) -> NativeEngine:
        """Start a generation engine."""
        native = native_module()
        with native_errors():
            context = native.ContextParams(**convert.context_fields(params))
            values = native.EngineParams(context=context, **convert.engine_fields(params))
            return NativeEngine(native.Engine(_native_model(model), values))

    def open_embed_engine(self, model: Model, params: EmbeddingParams) -> NativeEmbedEngine:
        """Start an embedding engine."""
        native = native_module()
        with native_errors():
            context = native.ContextParams(**convert.embed_context_fields(params))
            values = native.EmbedParams(context=context, **convert.embed_fields(params))
            return NativeEmbedEngine(native.EmbedEngine(_native_model(model), values))


BACKEND = LlamaCpp()


def build_info() -> dict[str, Any]:
    """Version of llama.cpp, compiler and features of this build."""
    with native_errors():
        return cast("dict[str, Any]", native_module().build_info())


def devices() -> list[dict[str, Any]]:
    """The compute devices of this machine that the build can use."""
    with native_errors():
        return cast("list[dict[str, Any]]", native_module().devices())


def usable_cores() -> int:
    """Physical cores this process may run on."""
    return int(native_module().usable_cores())


def scan_gguf(path: str) -> dict[str, Any]:
    """Metadata of a GGUF file, read without loading it."""
    with native_errors():
        return cast("dict[str, Any]", native_module().scan_gguf(path))


def _native_model(model: Model) -> _native.Model:
    return cast("NativeModel", model).native


def _file_key(path: str) -> tuple[str, int, int]:
    """A replaced file is another model. What does not exist is the loader's to report."""
    real = os.path.realpath(path)
    try:
        stat = Path(real).stat()
    except OSError:
        return (real, 0, 0)
    return (real, stat.st_mtime_ns, stat.st_size)
