"""The protocols of models and chat templates over the native classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from llamaint.backend import convert
from llamaint.backend.native import native_errors, native_module

if TYPE_CHECKING:
    from llamaint import _native
    from llamaint.backend.protocols import RenderedChat, ReplyParser
    from llamaint.backend.requests import ChatOptions


class NativeGrammar:
    """`llamaint.backend.protocols.Grammar` over ``_native.Grammar``."""

    def __init__(self, native: _native.Grammar) -> None:
        self.native = native

    @property
    def gbnf(self) -> str:
        """The grammar's text."""
        return self.native.gbnf

    def after(self, tokens: Sequence[int]) -> NativeGrammar:
        """The same grammar once it has read ``tokens``."""
        with native_errors():
            return NativeGrammar(self.native.after(tokens))


class NativeModel:
    """`llamaint.backend.protocols.Model` over ``_native.Model``."""

    def __init__(self, native: _native.Model) -> None:
        self.native = native

    def info(self) -> dict[str, Any]:
        """Facts of the file."""
        with native_errors():
            return self.native.info()

    def metadata(self) -> dict[str, str]:
        """Every scalar of the metadata as text."""
        with native_errors():
            return self.native.metadata()

    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        """Token ids of ``text``."""
        with native_errors():
            return self.native.tokenize(text, add_special, parse_special)

    def detokenize(self, tokens: Sequence[int], remove_special: bool, unparse_special: bool) -> bytes:
        """Bytes of ``tokens``."""
        with native_errors():
            return self.native.detokenize(tokens, remove_special, unparse_special)

    def token_to_piece(self, token: int, special: bool) -> bytes:
        """Bytes of one token."""
        with native_errors():
            return self.native.token_to_piece(token, special)

    def grammar_from_gbnf(self, gbnf: str) -> NativeGrammar:
        """A compiled grammar."""
        with native_errors():
            return NativeGrammar(self.native.grammar_from_gbnf(gbnf))

    def grammar_from_json_schema(self, schema: str) -> NativeGrammar:
        """A compiled grammar."""
        with native_errors():
            return NativeGrammar(self.native.grammar_from_json_schema(schema))


class NativeTemplates:
    """`llamaint.backend.protocols.ChatTemplates` over ``_native.ChatTemplates``."""

    def __init__(self, native: _native.ChatTemplates) -> None:
        self._native = native

    @property
    def source(self) -> str:
        """The template's text."""
        return self._native.source

    def capabilities(self) -> dict[str, bool]:
        """What the template can express."""
        with native_errors():
            return self._native.capabilities()

    def render(self, messages_json: str, options: ChatOptions) -> RenderedChat:
        """Prompt text and what goes with it."""
        with native_errors():
            return self._native.render(messages_json, _chat_options(options))

    def make_parser(self, chat: RenderedChat, options: ChatOptions) -> ReplyParser:
        """A parser for one reply."""
        with native_errors():
            return self._native.make_parser(cast("_native.RenderedChat", chat), _chat_options(options))


def _chat_options(options: ChatOptions) -> _native.ChatOptions:
    return cast("_native.ChatOptions", native_module().ChatOptions(**convert.chat_fields(options)))
