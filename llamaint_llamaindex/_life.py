"""The life of an engine behind a component: shared, loaded on first use, given back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

if TYPE_CHECKING:
    from llamaint_llamaindex._lease import Lease


class EngineLife:
    """Loading early and giving back, for components that have a ``_lease``."""

    if TYPE_CHECKING:
        _lease: Lease[Any]

    def _engine(self) -> object:
        """The engine, loaded if it must be."""
        raise NotImplementedError

    async def _aengine(self) -> object:
        """The same, loaded in a thread."""
        raise NotImplementedError

    def warmup(self) -> Self:
        """Load the engine now. Returns this object."""
        self._engine()
        return self

    async def awarmup(self) -> Self:
        """Load the engine now, in a thread. Returns this object."""
        await self._aengine()
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
