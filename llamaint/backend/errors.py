"""The one table from error codes to exception classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llamaint import errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def _tree(cls: type[errors.LlamaintError]) -> Iterator[type[errors.LlamaintError]]:
    yield cls
    for child in cls.__subclasses__():
        if child.__module__ == errors.__name__:  # subclasses of adapters share their parent's code
            yield from _tree(child)


CLASS_OF_CODE: Mapping[str, type[errors.LlamaintError]] = {cls.code: cls for cls in _tree(errors.LlamaintError)}


def error_of(code: str, message: str, numbers: Mapping[str, float]) -> errors.LlamaintError:
    """The exception for a native error code; an unknown code is the engine's fault."""
    cls = CLASS_OF_CODE.get(code)
    if cls is None:
        return errors.EngineError(f"{message} (unknown error code {code!r})", **numbers)
    return cls(message, **numbers)
