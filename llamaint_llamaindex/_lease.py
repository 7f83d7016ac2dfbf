"""A reference to a shared engine, taken on first use.

LlamaIndex copies and pickles its components, into worker processes too, and builds them long before
they are used. A lease is what a component holds instead of an engine: building it costs nothing, a
copy or an unpickled one starts empty, and equal settings end in one engine whoever asks.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Engine(Protocol):
    """A counted reference; `close` gives this one back."""

    @property
    def closed(self) -> bool: ...

    def close(self) -> None: ...


T = TypeVar("T", bound=Engine)


class Lease(Generic[T]):
    """The engine of one component. Any thread and any event loop may use it.

    A forked child takes its own reference: an engine of the parent counts as closed there.

    Args:
        take: takes a counted reference; a module-level function, so that leases can be pickled.
    """

    def __init__(self, take: Callable[[str, Mapping[str, object]], T]) -> None:
        self._take = take
        self._held: list[T] = []

    def held(self) -> T | None:
        """The engine, if this lease has a reference that still works."""
        engine = self._held[-1] if self._held else None
        return None if engine is None or engine.closed else engine

    def get(self, model: str, settings: Mapping[str, object]) -> T:
        """The engine; loads it if nobody has. Blocks while loading."""
        found = self.held()
        if found is None:
            found = self._take(model, settings)
            self._held.append(found)  # two threads may take two; `close` gives both back
        return found

    async def aget(self, model: str, settings: Mapping[str, object]) -> T:
        """The same; a load runs in a thread, and goes on if the waiting task is cancelled."""
        found = self.held()
        return await asyncio.to_thread(self.get, model, settings) if found is None else found

    def close(self) -> None:
        """Give the references back. A later `get` takes one again."""
        while self._held:
            self._held.pop().close()

    @override
    def __eq__(self, other: object) -> bool:
        # What is held says nothing about what a component is: pydantic compares its private attributes too.
        return isinstance(other, Lease) and self._take is other._take

    @override
    def __hash__(self) -> int:
        return hash(self._take)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._take,))
