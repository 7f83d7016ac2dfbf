"""References to shared engines, taken on first use.

LangChain builds, copies, pickles and serialises its objects freely and long before they are used.
A lease is what such an object holds instead of an engine: building it costs nothing, a copy or an
unpickled one starts empty, and equal settings end in one engine whoever asks.
"""

from __future__ import annotations

import asyncio
import json
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
    """The engines one adapter object uses, one for each model and settings it was asked for.

    Any thread and any event loop may use it. A forked child takes its own references: an engine
    of the parent counts as closed there.

    Args:
        take: takes a counted reference; a module-level function, so that leases can be pickled.
    """

    def __init__(self, take: Callable[[str, Mapping[str, object]], T]) -> None:
        self._take = take
        self._held: dict[str, tuple[T]] = {}

    def held(self, model: str, settings: Mapping[str, object]) -> T | None:
        """The engine, if this lease has a reference that still works."""
        entry = self._held.get(_key(model, settings))
        return entry[0] if entry is not None and not entry[0].closed else None

    def get(self, model: str, settings: Mapping[str, object]) -> T:
        """The engine; loads it if nobody has. Blocks while loading."""
        found = self.held(model, settings)
        if found is not None:
            return found
        key = _key(model, settings)
        self._held.pop(key, None)
        mine = (self._take(model, settings),)
        kept = self._held.setdefault(key, mine)
        if kept is not mine:  # another thread took a reference meanwhile; one is enough
            mine[0].close()
        return kept[0]

    async def aget(self, model: str, settings: Mapping[str, object]) -> T:
        """The same; a load runs in a thread, and goes on if the waiting task is cancelled."""
        found = self.held(model, settings)
        if found is None:
            found = await asyncio.to_thread(self.get, model, settings)
        return found

    def close(self) -> None:
        """Give every reference back. A later `get` takes them again."""
        while self._held:
            _, (engine,) = self._held.popitem()
            engine.close()

    @override
    def __eq__(self, other: object) -> bool:
        # What is held says nothing about what an object is: pydantic compares its private attributes too.
        return isinstance(other, Lease) and self._take is other._take

    @override
    def __hash__(self) -> int:
        return hash(self._take)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._take,))


def _key(model: str, settings: Mapping[str, object]) -> str:
    return json.dumps([model, settings], sort_keys=True, default=repr)
