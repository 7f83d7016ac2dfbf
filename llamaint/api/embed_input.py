"""Texts to embed: checked, tokenised, cut to the window if that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llamaint.errors import PromptTooLongError
from llamaint.prompt.text import check_text
from llamaint.prompt.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llamaint.backend.protocols import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedInput:
    """Token ids of each text, and the indices of those that were cut."""

    tokens: Sequence[Sequence[int]]
    truncated: tuple[int, ...]

    @property
    def n_tokens(self) -> tuple[int, ...]:
        """Tokens of each text."""
        return tuple(map(len, self.tokens))


def check_texts(texts: str | Iterable[str]) -> list[str]:
    """The texts as a list; generators are read here.

    Raises:
        TypeError: not a text or an iterable of texts.
        RequestError: a text with lone surrogates.
    """
    if isinstance(texts, str):
        return [check_text(texts, "the text")]
    if isinstance(texts, (bytes, bytearray, Mapping)) or not isinstance(texts, Iterable):
        raise TypeError(f"texts must be a str or an iterable of str, not {type(texts).__name__}")
    many = []
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts[{index}] must be a str, not {type(text).__name__}")
        many.append(check_text(text, f"texts[{index}]"))
    return many


class EmbedTokenizer:
    """Turns texts into the token ids that are embedded.

    Special tokens are those that the model wants around a text; none are read from the text itself.
    """

    def __init__(self, model: Model) -> None:
        special = model.info()["tokens"]
        self._model = model
        self._closing = {special.get("sep"), special.get("eos")} - {None}
        self._wordpiece = WordPiece(model) if WordPiece.serves(model) else None

    def encode(self, text: str) -> list[int]:
        """Token ids of one text."""
        if self._wordpiece is not None and self._wordpiece.differs(text):
            return self._wordpiece.encode(text)
        return self._model.tokenize(text, True, False)

    def encode_all(self, texts: Sequence[str], *, max_tokens: int, truncate: bool) -> EmbedInput:
        """Token ids of texts; a text that is cut keeps its closing special token.

        Raises:
            PromptTooLongError: a text has more than ``max_tokens`` and ``truncate`` is false; ``numbers``
                holds ``index``, ``n_prompt`` and ``n_ctx``.
        """
        tokens, truncated = [], []
        for index, text in enumerate(texts):
            ids = self.encode(text)
            if len(ids) > max_tokens:
                if not truncate:
                    raise PromptTooLongError(
                        f"text {index} has {len(ids)} tokens; the model takes {max_tokens}."
                        " truncate=True cuts texts at their end",
                        index=index,
                        n_prompt=len(ids),
                        n_ctx=max_tokens,
                    )
                ids = self._cut(ids, max_tokens)
                truncated.append(index)
            tokens.append(ids)
        return EmbedInput(tokens=tokens, truncated=tuple(truncated))

    def _cut(self, ids: list[int], max_tokens: int) -> list[int]:
        if ids[-1] in self._closing and max_tokens > 1:
            return [*ids[: max_tokens - 1], ids[-1]]
        return ids[:max_tokens]
