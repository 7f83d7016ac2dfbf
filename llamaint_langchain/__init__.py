"""LangChain on local models: `ChatLlamaint`, `LlamaintEmbeddings` and `Llamaint`.

Importing it registers how LangChain reads the content blocks of our messages.
"""

from llamaint_langchain import _translator
from llamaint_langchain._errors import (
    LlamaintCancelledError,
    LlamaintCapacityError,
    LlamaintClosedError,
    LlamaintConfigError,
    LlamaintContextOverflowError,
    LlamaintDecodeError,
    LlamaintEngineError,
    LlamaintForkedError,
    LlamaintGrammarError,
    LlamaintInvalidBatchError,
    LlamaintLoadError,
    LlamaintMediaError,
    LlamaintNotFoundError,
    LlamaintNumericError,
    LlamaintRequestError,
    LlamaintStateError,
    LlamaintTemplateError,
    LlamaintTimeoutError,
    LlamaintToolError,
    LlamaintUnsupportedError,
)
from llamaint_langchain.chat_models import ChatLlamaint
from llamaint_langchain.embeddings import LlamaintEmbeddings
from llamaint_langchain.llms import Llamaint
from llamaint_langchain.load import load, loads

_translator.register()

__all__ = [
    "ChatLlamaint",
    "Llamaint",
    "LlamaintCancelledError",
    "LlamaintCapacityError",
    "LlamaintClosedError",
    "LlamaintConfigError",
    "LlamaintContextOverflowError",
    "LlamaintDecodeError",
    "LlamaintEmbeddings",
    "LlamaintEngineError",
    "LlamaintForkedError",
    "LlamaintGrammarError",
    "LlamaintInvalidBatchError",
    "LlamaintLoadError",
    "LlamaintMediaError",
    "LlamaintNotFoundError",
    "LlamaintNumericError",
    "LlamaintRequestError",
    "LlamaintStateError",
    "LlamaintTemplateError",
    "LlamaintTimeoutError",
    "LlamaintToolError",
    "LlamaintUnsupportedError",
    "load",
    "loads",
]
