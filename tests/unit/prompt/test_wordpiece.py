"""WordPiece for the texts that llama.cpp tokenises differently."""

from __future__ import annotations

import pytest

from llamaint.prompt.wordpiece import WordPiece

# BERT's form; llama.cpp shows a word with a space in front and a continuation without "##".
VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "b",
    "##b",
    "##ab",
    "ab",
    ",",
    "नम",
    "##ि",
    "\u03c3",
    "東",
]
VOCABULARY += ["\u1112", "##\u1161", "##\u11ab"]  # the three parts of U+D55C


class Vocabulary:
    """Enough of a model."""

    def __init__(self, vocab_type: str = "wpm", metadata: dict[str, str] | None = None) -> None:
        self.vocab_type = vocab_type
        self.extra = metadata or {}

    def info(self) -> dict[str, object]:
        return {"vocab_type": self.vocab_type, "n_vocab": len(VOCABULARY), "tokens": {"bos": 2, "sep": 3}}

    def metadata(self) -> dict[str, str]:
        return self.extra

    def token_to_piece(self, token: int, special: bool) -> bytes:
        word = VOCABULARY[token]
        if word.startswith("["):
            return word.encode()
        return (word[2:] if word.startswith("##") else " " + word).encode()


def words(text: str) -> list[str]:
    return [VOCABULARY[token] for token in WordPiece(Vocabulary()).encode(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("ab", ["ab"]),
        ("abb", ["ab", "##b"]),
        ("aab", ["a", "##ab"]),
        ("AB", ["ab"]),
        ("áb\u0301", ["ab"]),
        ("a,b", ["a", ",", "b"]),
        ("a\tb\nab", ["a", "b", "ab"]),
        ("a\x0cb", ["ab"]),
        ("a\x00\u200b\ufeffb", ["ab"]),
        ("ac", ["[UNK]"]),
        ("東東a", ["東", "東", "a"]),
        ("नमि", ["नम", "##ि"]),
        ("\ud55c", ["\u1112", "##\u1161", "##\u11ab"]),
        ("\u03a3", ["\u03c3"]),
        ("a" * 101, ["[UNK]"]),
        ("a" + "b" * 99, ["ab", *["##b"] * 98]),
    ],
)
def test_words_become_the_longest_pieces_there_are(text: str, expected: list[str]) -> None:
    assert words(text) == ["[CLS]", *expected, "[SEP]"]


@pytest.mark.parametrize("text", ["한국어", "दुनिया", "বাংলা", "தமிழ்", "x" * 101, "page\x0cbreak"])
def test_texts_that_llama_cpp_tokenises_otherwise_are_recognised(text: str) -> None:
    assert WordPiece.differs("before " + text + " after")


@pytest.mark.parametrize("text", ["", "plain text", "naïve café", "東京", "Привет", "x " * 200, "x" * 100, "😀"])
def test_all_others_are_left_to_llama_cpp(text: str) -> None:
    assert not WordPiece.differs(text)


def test_only_uncased_wordpiece_vocabularies_are_served() -> None:
    assert WordPiece.serves(Vocabulary())
    assert not WordPiece.serves(Vocabulary("bpe"))
    for key in ("lowercase", "strip_accents"):
        assert not WordPiece.serves(Vocabulary(metadata={f"tokenizer.ggml.normalizer.{key}": "false"}))
