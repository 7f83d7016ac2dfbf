"""What every public object with an engine has in common: closing, pickling, with-blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override

from llamaint.engine import offload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from typing_extensions import Self

    from llamaint.engine.guard import EngineGuard


class EngineObject:
    """Base of objects that own an engine through a guard and can be made again from their arguments."""

    _guard: EngineGuard[Any]
    _arguments: dict[str, Any]

    def _set_arguments(self, given: Mapping[str, Any]) -> None:
        """What pickling stores: every constructor argument but the callback."""
        left_out = ("self", "progress", "__class__")
        self._arguments = {name: value for name, value in given.items() if name not in left_out}

    def close(self) -> None:
        """Free the engine; requests that still run end with `ClosedError`. Idempotent."""
        self._guard.close()

    async def aclose(self) -> None:
        """`close` for an event loop: the engine's threads may need a step to end."""
        await offload.in_thread(self.close)

    @property
    def closed(self) -> bool:
        """Whether the object can no longer be used in this process."""
        return self._guard.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return (_reopen, (type(self), self._arguments))


def _reopen(cls: Callable[..., EngineObject], arguments: dict[str, Any]) -> EngineObject:
    return cls(**arguments)
