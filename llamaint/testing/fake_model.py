"""A vocabulary of bytes and words, and a template in plain text."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llamaint.errors import GrammarError, InvalidBatchError, TemplateError
from llamaint.testing.script import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llamaint.backend.protocols import RenderedChat
    from llamaint.backend.requests import ChatOptions

BOS, EOS = 1, 2
_BYTE0 = 3
_WORD0 = _BYTE0 + 256
N_VOCAB = 32768
_SPECIAL = {BOS: b"<s>", EOS: b"</s>"}
_SPECIAL_TEXT = re.compile("(<s>|</s>)")

TEMPLATE = "{{ messages }}"


@dataclass(frozen=True, slots=True)
class FakeGrammar:
    """A grammar that is only kept, not obeyed: scripts say what is generated."""

    gbnf: str

    def after(self, tokens: Sequence[int]) -> FakeGrammar:
        """The same."""
        return self


class FakeModel:
    """Tokens are words, given an id when first seen, or single bytes. Thread-safe."""

    def __init__(self, name: str = "fake", n_ctx_train: int = 4096) -> None:
        self._name = name
        self._n_ctx_train = n_ctx_train
        self._lock = threading.Lock()
        self._ids: dict[bytes, int] = {}
        self._words: list[bytes] = []

    def info(self) -> dict[str, Any]:
        """The facts that the pipeline reads."""
        return {
            "arch": "fake",
            "desc": self._name,
            "n_ctx_train": self._n_ctx_train,
            "n_vocab": N_VOCAB,
            "n_params": 0,
            "size_bytes": 0,
            "n_embd": 8,
            "n_embd_out": 8,
            "has_encoder": False,
            "has_decoder": True,
            "add_bos": True,
            "add_eos": False,
            "tokens": {"bos": BOS, "eos": EOS, "eot": None},
            "chat_template": TEMPLATE,
        }

    def metadata(self) -> dict[str, str]:
        """Two entries."""
        return {"general.architecture": "fake", "general.name": self._name}

    def intern(self, piece: bytes) -> int:
        """The id of a piece, made up when it is new."""
        if len(piece) == 1:
            return _BYTE0 + piece[0]
        with self._lock:
            token = self._ids.get(piece)
            if token is None:
                token = _WORD0 + len(self._words)
                if token >= N_VOCAB:
                    raise InvalidBatchError(f"the fake vocabulary of {N_VOCAB} words is full")
                self._ids[piece] = token
                self._words.append(piece)
            return token

    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        """BOS in front if asked for, then words."""
        tokens = [BOS] if add_special else []
        for part in _SPECIAL_TEXT.split(text) if parse_special else [text]:
            if parse_special and part in ("<s>", "</s>"):
                tokens.append(BOS if part == "<s>" else EOS)
            else:
                tokens.extend(self.intern(word.encode()) for word in split(part))
        return tokens

    def detokenize(self, tokens: Sequence[int], remove_special: bool, unparse_special: bool) -> bytes:
        """The pieces joined."""
        if remove_special and tokens and tokens[0] == BOS:
            tokens = tokens[1:]
        return b"".join(self.token_to_piece(token, unparse_special) for token in tokens)

    def token_to_piece(self, token: int, special: bool) -> bytes:
        """Bytes of a token. Raises InvalidBatchError for ids never given out."""
        if token in _SPECIAL:
            return _SPECIAL[token] if special else b""
        if _BYTE0 <= token < _WORD0:
            return bytes([token - _BYTE0])
        if _WORD0 <= token < _WORD0 + len(self._words):
            return self._words[token - _WORD0]
        raise InvalidBatchError(f"token {token} is not in the fake vocabulary", token=token)

    def grammar_from_gbnf(self, gbnf: str) -> FakeGrammar:
        """Refuses a grammar without a root rule."""
        if "root" not in gbnf:
            raise GrammarError("the grammar has no rule named 'root'")
        return FakeGrammar(gbnf)

    def grammar_from_json_schema(self, schema: str) -> FakeGrammar:
        """Refuses what is not a JSON object."""
        if not isinstance(json.loads(schema), dict):
            raise GrammarError("the JSON schema is not an object")
        return FakeGrammar(f"root ::= json  # {schema}")


@dataclass(frozen=True, slots=True)
class FakeRenderedChat:
    """A conversation as plain text."""

    prompt: str
    grammar: str = ""
    grammar_prefix: str = ""
    preserved: Sequence[str] = ()
    stops: Sequence[str] = ()
    supports_thinking: bool = True


class FakeTemplates:
    """Renders ``<|role|>`` lines; a custom source is put in front, so that its use can be seen."""

    def __init__(self, model: FakeModel, source: str) -> None:
        if source.count("{{") != source.count("}}"):
            raise TemplateError("the template has an expression that is not closed")
        self._model = model
        self._source = source

    @property
    def source(self) -> str:
        """The template's text."""
        return self._source or TEMPLATE

    def capabilities(self) -> dict[str, bool]:
        """What llama.cpp reports of a plain template."""
        return {"system_role": True, "tools": False, "thinking": True}

    def render(self, messages_json: str, options: ChatOptions) -> FakeRenderedChat:
        """Every message on lines of its own."""
        lines = [self._source] if self._source else []
        lines += [f"{name}={value}" for name, value in sorted(options.template_kwargs.items())]
        messages = json.loads(messages_json)
        for message in messages:
            content = message["content"]
            if not isinstance(content, str):
                content = "".join(part["text"] for part in content)
            lines.append(f"<|{message['role']}|>\n{content}")
        if options.add_generation_prompt:
            lines.append("<|assistant|>\n")
        schema = options.json_schema
        grammar = options.grammar or (f"root ::= json  # {schema}" if schema else "")
        return FakeRenderedChat("\n".join(lines), grammar, supports_thinking=True)

    def make_parser(self, chat: RenderedChat, options: ChatOptions) -> FakeParser:
        """A parser of ``<think>`` reasoning."""
        return FakeParser()


@dataclass(slots=True)
class FakeDelta:
    """What a feed made certain."""

    content: str = ""
    reasoning: str = ""
    tool_calls: list[tuple[int, str, str, str]] = field(default_factory=list)


class FakeParser:
    """Splits ``<think>reasoning</think>content``."""

    _OPEN, _CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, text: str, final: bool) -> FakeDelta:
        """Append text; what may be part of a tag is held back until it is certain."""
        self._held += text
        delta = FakeDelta()
        if self._state == "start":
            if self._held.startswith(self._OPEN):
                self._held = self._held[len(self._OPEN) :]
                self._state = "thinking"
            elif final or not self._OPEN.startswith(self._held):
                self._state = "content"
        if self._state == "thinking":
            thought, closed, rest = self._held.partition(self._CLOSE)
            keep = 0 if final or closed else _overlap(thought, self._CLOSE)
            delta.reasoning = thought[: len(thought) - keep]
            self._held = rest if closed else thought[len(thought) - keep :]
            if closed:
                self._state = "content"
        if self._state == "content":
            delta.content, self._held = self._held, ""
        return delta


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that ``tag`` begins with."""
    return next((n for n in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:n])), 0)
