"""The life of an engine behind an adapter object: shared, loaded on first use, given back."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, PrivateAttr
from typing_extensions import Self

from llamaint_langchain._errors import LlamaintConfigError, langchain_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llamaint_langchain._lease import Lease


class EngineLife(BaseModel):
    """Loading early and giving back. Subclasses set ``_lease`` and say which engine is theirs."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    _lease: Lease[Any] = PrivateAttr()

    def _own_engine(self) -> object:
        """The engine of this object's fields."""
        raise NotImplementedError

    async def _aown_engine(self) -> object:
        """The same, loaded in a thread."""
        raise NotImplementedError

    def warmup(self) -> Self:
        """Load the engine now. Returns this object."""
        with langchain_errors():
            self._own_engine()
        return self

    async def awarmup(self) -> Self:
        """Load the engine now, in a thread. Returns this object."""
        with langchain_errors():
            await self._aown_engine()
        return self

    def close(self) -> None:
        """Give the shared engine back; the last one to do so unloads it. A later call loads again."""
        self._lease.close()

    async def aclose(self) -> None:
        """The same without blocking the event loop."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()


def field_names(*params: type) -> frozenset[str]:
    """Names of the settings that some dataclasses hold."""
    return frozenset(field.name for cls in params for field in dataclasses.fields(cls))


def model_text(model: object) -> object:
    """A path object as absolute text: a relative one could also be read as an alias."""
    return str(Path(model).absolute()) if isinstance(model, os.PathLike) else model


def given(**settings: object) -> dict[str, object]:
    """The settings that were given at all."""
    return {name: value for name, value in settings.items() if value is not None}


def check_settings(more: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raise LlamaintConfigError for a name in ``engine_kwargs`` that no setting without a field has."""
    unknown = sorted(set(more) - known)
    if unknown:
        raise LlamaintConfigError(f"engine_kwargs: {unknown} are fields, or not settings at all")


def check_source(model: str, own: object, settings: Mapping[str, object], variable: str) -> None:
    """Raise LlamaintConfigError unless a model, or an engine that nothing else shall change, is given."""
    if own is None and not model:
        raise LlamaintConfigError(f"give model=... or set {variable}")
    if own is not None and settings:
        raise LlamaintConfigError(f"a loaded engine is given; {sorted(settings)} cannot change it")
