"""Every error that llamaint raises.

```
LlamaintError                  code, numbers
├── ConfigError                a setting cannot work; raised before anything is loaded
├── ModelError
│   ├── ModelNotFoundError     no such file, alias or repository
│   ├── ModelLoadError         the file is damaged, truncated or not a model
│   └── UnsupportedError       the model (or this build) cannot do what was asked
├── RequestError               this request is at fault; others are not affected
│   ├── PromptTooLongError     numbers: n_prompt, n_ctx
│   ├── InvalidBatchError
│   ├── TemplateError
│   ├── GrammarError
│   ├── ToolError
│   ├── MediaError
│   └── StateError
├── CapacityError              no room now; the same request may succeed later
├── CancelledError             the request was cancelled or ran past its deadline
└── EngineError
    ├── DecodeError
    ├── NumericError           the model produced NaN
    ├── ClosedError            the object was closed
    └── ForkedError            the engine belongs to the parent process
```
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override


class LlamaintError(Exception):
    """Base of all errors.

    Attributes:
        code: a stable lower-case identifier, the same in Python, logs and HTTP.
        numbers: the figures behind the message, e.g. ``{"n_prompt": 5120, "n_ctx": 4096}``.
    """

    code: ClassVar[str] = "llamaint"

    def __init__(self, message: str, **numbers: float) -> None:
        super().__init__(message)
        self.numbers: dict[str, float] = numbers

    @override
    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process borders (multiprocessing, joblib, Ray) with their numbers."""
        return (_rebuild, (type(self), str(self), self.numbers))


def _rebuild(cls: type[LlamaintError], message: str, numbers: dict[str, float]) -> LlamaintError:
    return cls(message, **numbers)


class ConfigError(LlamaintError, ValueError):
    """A setting cannot work. Raised before anything is loaded."""

    code = "config"


class ModelError(LlamaintError):
    """The model is at fault."""

    code = "model"


class ModelNotFoundError(ModelError, FileNotFoundError):
    """No such file, alias or repository."""

    code = "model_not_found"


class ModelLoadError(ModelError):
    """The file is damaged, truncated or not a model llama.cpp can load."""

    code = "model_load"


class UnsupportedError(ModelError):
    """The model, or this build of llamaint, cannot do what was asked."""

    code = "unsupported"


class RequestError(LlamaintError, ValueError):
    """This request is at fault; other requests are not affected."""

    code = "request"


class PromptTooLongError(RequestError):
    """The prompt does not fit. ``numbers`` holds ``n_prompt`` and ``n_ctx``."""

    code = "prompt_too_long"


class InvalidBatchError(RequestError):
    """Token ids, positions or shapes are out of range."""

    code = "invalid_batch"


class TemplateError(RequestError):
    """The chat template is malformed or refuses these messages."""

    code = "template"


class GrammarError(RequestError):
    """A grammar or JSON schema is malformed, too large or too deep, or cannot be satisfied."""

    code = "grammar"


class ToolError(RequestError):
    """A tool definition or tool message is malformed."""

    code = "tool"


class MediaError(RequestError):
    """An image, audio or video part cannot be read."""

    code = "media"


class StateError(RequestError):
    """A saved state does not belong to this model or is damaged."""

    code = "state"


class CapacityError(LlamaintError):
    """No room now; the same request may succeed later."""

    code = "capacity"


class CancelledError(LlamaintError):
    """The request was cancelled, or ran past its deadline."""

    code = "cancelled"


class EngineError(LlamaintError, RuntimeError):
    """The engine is at fault."""

    code = "engine"


class DecodeError(EngineError):
    """llama.cpp failed to evaluate a batch."""

    code = "decode"


class NumericError(EngineError):
    """The model produced NaN or only minus infinity."""

    code = "numeric"


class ClosedError(EngineError):
    """The object was closed."""

    code = "closed"


class ForkedError(EngineError):
    """The engine belongs to the parent of this forked process; load it again here."""

    code = "forked"
