"""WordPiece tokenisation of the texts that llama.cpp's own WordPiece tokenizer gets wrong.

llama.cpp keeps only the first part of a Hangul syllable, drops vowel signs that are not accents
(Devanagari, Bengali, Tamil, ...), splits words at form feeds, and words of any length into pieces, while
the tokenizers that BERT models were trained with delete form feeds like any control character and take a
word of more than 100 characters as unknown. Everything else it does alike and faster, so this is for
those texts only.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from llamaint.backend.protocols import Model

MAX_WORD_CHARS = 100

_LONG_WORD = re.compile(rf"\S{{{MAX_WORD_CHARS + 1},}}")
_CONTROL_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
# BERT's own ranges of "Chinese characters", with the slip of the reference implementation (U+2B920).
_CHINESE = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)


class WordPiece:
    """The tokenizer of one uncased BERT vocabulary, as trained: normalise, split, longest match first."""

    def __init__(self, model: Model) -> None:
        info = model.info()
        special = info["tokens"]
        self._model = model
        self._n_vocab = int(info["n_vocab"])
        self._first, self._last = special["bos"], special["sep"]
        self._ids: Mapping[str, int] | None = None

    @staticmethod
    def serves(model: Model) -> bool:
        """Whether the model has such a vocabulary. Cased ones keep accents and do not differ."""
        if model.info().get("vocab_type") != "wpm":
            return False
        metadata = model.metadata()
        return all(metadata.get(f"tokenizer.ggml.normalizer.{key}", "true") == "true" for key in _UNCASED)

    @staticmethod
    def differs(text: str) -> bool:
        """Whether llama.cpp may tokenise the text in another way."""
        if _LONG_WORD.search(text) or _CONTROL_SPACE.search(text):
            return True
        if text.isascii():
            return False
        return bool(_HANGUL.search(text)) or any(
            unicodedata.category(char) in ("Mc", "Me") for char in unicodedata.normalize("NFD", text)
        )

    def encode(self, text: str) -> list[int]:
        """Token ids between [CLS] and [SEP]."""
        ids = [self._first]
        for word in _words(_normalize(text)):
            ids.extend(self._pieces(word))
        return [*ids, self._last]

    def _pieces(self, word: str) -> list[int]:
        vocabulary = self._vocabulary()
        unknown = [vocabulary["[UNK]"]] if "[UNK]" in vocabulary else []
        if len(word) > MAX_WORD_CHARS:
            return unknown
        ids, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                found = vocabulary.get(prefix + word[start:end])
                if found is not None:
                    break
            else:
                return unknown
            ids.append(found)
            start = end
        return ids

    def _vocabulary(self) -> Mapping[str, int]:
        if self._ids is None:
            pieces = (self._model.token_to_piece(token, True) for token in range(self._n_vocab))
            self._ids = {_bert_form(piece.decode("utf-8", "replace")): token for token, piece in enumerate(pieces)}
        return self._ids


_UNCASED = ("lowercase", "strip_accents")


def _bert_form(piece: str) -> str:
    """llama.cpp marks the start of a word (shown as a space), BERT its continuation."""
    if piece.startswith(" "):
        return piece[1:]
    return piece if piece.startswith("[") and piece.endswith("]") else "##" + piece


def _normalize(text: str) -> str:
    kept = (" " if char.isspace() else char for char in text if not _is_control(char))
    spaced = _CHINESE.sub(r" \1 ", "".join(kept))
    bare = (char for char in unicodedata.normalize("NFD", spaced) if unicodedata.category(char) != "Mn")
    # Character by character: str.lower() writes a sigma at the end of a word in another way.
    return "".join(char.lower() for char in bare)


def _is_control(char: str) -> bool:
    return char not in "\t\n\r" and (char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co"))


def _words(text: str) -> Iterator[str]:
    for part in text.split():
        word = ""
        for char in part:
            if _is_punctuation(char):
                if word:
                    yield word
                yield char
                word = ""
            else:
                word += char
        if word:
            yield word


def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return not char.isalnum() and char > " " and char != "\x7f"
    return unicodedata.category(char).startswith("P")
