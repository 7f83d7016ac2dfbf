"""Grammars by llama-cpp-python's name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from llamaint.errors import GrammarError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaGrammar:
    """A grammar as text; each model compiles it once. Exactly one of the fields is set.

    Attributes:
        gbnf: in llama.cpp's notation, with a rule named ``root``.
        json_schema: JSON text.
    """

    gbnf: str | None = None
    json_schema: str | None = None

    def __post_init__(self) -> None:
        if (self.gbnf is None) == (self.json_schema is None):
            raise GrammarError("a grammar is made of either GBNF or a JSON schema")

    @classmethod
    def from_string(cls, grammar: str) -> LlamaGrammar:
        """A grammar in GBNF. It is compiled, and errors in it raised, with the first request."""
        return cls(gbnf=grammar)

    @classmethod
    def from_file(cls, file: str | os.PathLike[str]) -> LlamaGrammar:
        """A grammar in GBNF from a UTF-8 file."""
        return cls(gbnf=Path(file).read_text(encoding="utf-8"))

    @classmethod
    def from_json_schema(cls, json_schema: str | Mapping[str, object]) -> LlamaGrammar:
        """A grammar of the JSON texts that satisfy a schema. Raises GrammarError for bad JSON."""
        return cls(json_schema=schema_text(json_schema))


def schema_text(schema: str | Mapping[str, object]) -> str:
    """A JSON schema as JSON text. Raises GrammarError if it is not JSON."""
    try:
        if isinstance(schema, str):
            json.loads(schema)
            return schema
        return json.dumps(schema, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise GrammarError(f"the JSON schema is not JSON: {error}") from None
