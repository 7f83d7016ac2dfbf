"""The one importer of the native module, and the one place where its errors change class."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from llamaint.backend.errors import error_of
from llamaint.backend.log_pump import LogPump
from llamaint.errors import CapacityError, EngineError, UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType


@cache
def native_module() -> ModuleType:
    """``llamaint._native``, loaded when first needed. Raises UnsupportedError if it was not built."""
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
    native = native_module()
    try:
        yield
    except native.NativeError as error:
        raise error_of(error.code, str(error), error.numbers) from None
    except MemoryError as error:
        raise CapacityError(f"out of memory: {error}") from error
    except RuntimeError as error:  # a C++ exception that nobody expected
        raise EngineError(str(error)) from error


@cache
def log_pump() -> LogPump:
    """What moves the native log into `logging`; not yet started."""
    native = native_module()
    return LogPump(native.drain_log, native.wake_log)
