"""Runtime errors as LangChain sees them: each is both llamaint's class and one of its model errors.

Code that catches `llamaint.errors` and code that catches `langchain_core.exceptions` (fallbacks,
retry and summarisation middleware) both work.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from langchain_core import exceptions as lc

from llamaint import errors as runtime

if TYPE_CHECKING:
    from collections.abc import Iterator


class LlamaintContextOverflowError(runtime.PromptTooLongError, lc.ContextOverflowError):
    """The prompt does not fit. ``numbers`` holds ``n_prompt`` and ``n_ctx``."""


class LlamaintNotFoundError(runtime.ModelNotFoundError, lc.ModelNotFoundError):
    """No such file, alias or repository."""


class LlamaintLoadError(runtime.ModelLoadError, lc.ModelInvalidRequestError):
    """The file is damaged, truncated or not a model."""


class LlamaintUnsupportedError(runtime.UnsupportedError, lc.ModelInvalidRequestError, NotImplementedError):
    """The model, or this version of the adapter, cannot do what was asked.

    LangChain itself says so with NotImplementedError.
    """


class LlamaintConfigError(runtime.ConfigError, lc.ModelInvalidRequestError):
    """A setting cannot work."""


class LlamaintTemplateError(runtime.TemplateError, lc.ModelInvalidRequestError):
    """The chat template refuses these messages."""


class LlamaintGrammarError(runtime.GrammarError, lc.ModelInvalidRequestError):
    """A grammar or JSON schema is malformed or too large."""


class LlamaintToolError(runtime.ToolError, lc.ModelInvalidRequestError):
    """A tool definition or tool message is malformed."""


class LlamaintMediaError(runtime.MediaError, lc.ModelInvalidRequestError):
    """An image, audio or video part cannot be read."""


class LlamaintInvalidBatchError(runtime.InvalidBatchError, lc.ModelInvalidRequestError):
    """Token ids are out of range."""


class LlamaintStateError(runtime.StateError, lc.ModelInvalidRequestError):
    """A saved state does not belong to this model or is damaged."""


class LlamaintRequestError(runtime.RequestError, lc.ModelInvalidRequestError):
    """This request is at fault for another reason."""


class LlamaintCapacityError(runtime.CapacityError, lc.ModelRateLimitError):
    """The engine's queue is full. Retryable."""


class LlamaintTimeoutError(runtime.CancelledError, lc.ModelTimeoutError):
    """The request ran past its ``timeout``. Retryable."""


class LlamaintCancelledError(runtime.CancelledError, lc.ModelError):
    """The request was cancelled."""


class LlamaintClosedError(runtime.ClosedError, lc.ModelError):
    """The shared engine was closed while the request ran. Not retryable."""


class LlamaintForkedError(runtime.ForkedError, lc.ModelError):
    """The engine belongs to the parent of this forked process. Not retryable."""


class LlamaintDecodeError(runtime.DecodeError, lc.ModelAPIError):
    """llama.cpp failed to evaluate a batch. Retryable: other requests are not affected."""


class LlamaintNumericError(runtime.NumericError, lc.ModelAPIError):
    """The model produced NaN. Not retryable."""

    is_retryable = False


class LlamaintEngineError(runtime.EngineError, lc.ModelAPIError):
    """The engine failed. Retryable: other requests are not affected."""


# The first row that matches wins, so that subclasses stand above their parents.
_TABLE: tuple[tuple[type[runtime.LlamaintError], type[runtime.LlamaintError]], ...] = (
    (runtime.PromptTooLongError, LlamaintContextOverflowError),
    (runtime.TemplateError, LlamaintTemplateError),
    (runtime.GrammarError, LlamaintGrammarError),
    (runtime.ToolError, LlamaintToolError),
    (runtime.MediaError, LlamaintMediaError),
    (runtime.InvalidBatchError, LlamaintInvalidBatchError),
    (runtime.StateError, LlamaintStateError),
    (runtime.RequestError, LlamaintRequestError),
    (runtime.ModelNotFoundError, LlamaintNotFoundError),
    (runtime.UnsupportedError, LlamaintUnsupportedError),
    (runtime.ModelError, LlamaintLoadError),
    (runtime.ConfigError, LlamaintConfigError),
    (runtime.CapacityError, LlamaintCapacityError),
    (runtime.ClosedError, LlamaintClosedError),
    (runtime.ForkedError, LlamaintForkedError),
    (runtime.DecodeError, LlamaintDecodeError),
    (runtime.NumericError, LlamaintNumericError),
    (runtime.EngineError, LlamaintEngineError),
)


def translate(error: runtime.LlamaintError) -> runtime.LlamaintError:
    """The LangChain twin of a runtime error, with its message and numbers."""
    if isinstance(error, lc.ModelError):
        return error
    if isinstance(error, runtime.CancelledError):
        late = "timeout_s" in error.numbers
        cls = LlamaintTimeoutError if late else LlamaintCancelledError
        return cls(str(error), **error.numbers)
    for source, target in _TABLE:
        if isinstance(error, source):
            return target(str(error), **error.numbers)
    return error


@contextmanager
def langchain_errors() -> Iterator[None]:
    """Raise runtime errors of the block as their LangChain twins, the original as the cause."""
    try:
        yield
    except runtime.LlamaintError as error:
        twin = translate(error)
        if twin is error:
            raise
        raise twin from error
