"""Fixtures of the LangChain adapter."""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture
def known_to_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """LangChain's built-in list of classes with ours in it.

    ``test_serdes`` of the standard suite reads back only what stands in that list.
    """
    lc_load = importlib.import_module("langchain_core.load.load")
    ours = ("llamaint_langchain", "chat_models", "ChatLlamaint")
    monkeypatch.setitem(lc_load.ALL_SERIALIZABLE_MAPPINGS, ours, ours)
    monkeypatch.setattr(lc_load, "_default_class_paths_cache", {})
