"""Reading back what LangChain's ``dumps`` writes of our models, alone or inside a chain.

LangChain's own ``load`` refuses classes outside its built-in list unless they are named; these
functions name ours.
"""

from __future__ import annotations

from typing import Any

from langchain_core import load as lc

_MAPPINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    path: path
    for path in (
        ("llamaint_langchain", "chat_models", "ChatLlamaint"),
        ("llamaint_langchain", "llms", "Llamaint"),
    )
}


def load(obj: Any) -> Any:
    """The object that ``dumpd`` described. Nothing is loaded into memory until it is used.

    Only LangChain's core classes and ours are built. As with LangChain's own function, the text
    decides which files are opened later: read back only what you trust.
    """
    return lc.load(
        obj,
        allowed_objects="core",
        valid_namespaces=["llamaint_langchain"],
        additional_import_mappings=_MAPPINGS,
    )


def loads(text: str) -> Any:
    """The object that ``dumps`` wrote; see `load`."""
    return lc.loads(
        text,
        allowed_objects="core",
        valid_namespaces=["llamaint_langchain"],
        additional_import_mappings=_MAPPINGS,
    )
