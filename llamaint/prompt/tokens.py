"""Prompt text to token ids, with exactly one BOS where the model wants one."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING

from llamaint.errors import InvalidBatchError, RequestError, UnsupportedError
from llamaint.prompt.text import check_text

if TYPE_CHECKING:
    from llamaint.backend.protocols import Model

_FIM = ("fim_pre", "fim_suf", "fim_mid")


class PromptTokenizer:
    """Assembles prompts for one model. Thread-safe."""

    def __init__(self, model: Model) -> None:
        self._model = model
        info = model.info()
        self._n_vocab: int = info["n_vocab"]
        self._special: dict[str, int] = {
            name: token for name, token in info["tokens"].items() if token is not None and token >= 0
        }
        self._bos = self._special.get("bos")
        self._bos_text = b"" if self._bos is None else model.token_to_piece(self._bos, True)

    def prompt(self, prompt: str | Sequence[int]) -> list[int]:
        """Tokens of a completion prompt: text, in which special tokens count as such, or ids.

        An empty text becomes the BOS token alone. Raises RequestError if there is none.
        """
        if not isinstance(prompt, str):
            return self._ids(prompt)
        tokens = self.text(prompt)
        if tokens:
            return tokens
        if self._bos is None:
            raise RequestError("the prompt is empty, and this model has no BOS token to start from")
        return [self._bos]

    def text(self, text: str) -> list[int]:
        """Tokens of text; BOS is added if the model wants one and the text does not begin with it."""
        check_text(text, "the prompt")
        has_bos = bool(self._bos_text) and text.encode().startswith(self._bos_text)
        return self._model.tokenize(text, not has_bos, True)

    def infill(self, prefix: str, suffix: str) -> list[int]:
        """Tokens that ask for the text between two others. Raises UnsupportedError without FIM."""
        missing = [name for name in _FIM if name not in self._special]
        if missing:
            raise UnsupportedError(f"suffix needs a model with fill-in-the-middle tokens; {', '.join(missing)} missing")
        pre, suf, mid = (self._special[name] for name in _FIM)
        before = self._model.tokenize(check_text(prefix, "the prompt"), False, True)
        after = self._model.tokenize(check_text(suffix, "suffix"), False, True)
        bos = self._model.tokenize("", True, True)
        return [*bos, pre, *before, suf, *after, mid]

    def _ids(self, prompt: Sequence[int]) -> list[int]:
        if not isinstance(prompt, Sequence) and not hasattr(prompt, "__iter__"):
            raise RequestError(f"the prompt must be a str or token ids; it is {type(prompt).__name__}")
        tokens = list(prompt)
        if not tokens:
            raise RequestError("the prompt holds no tokens")
        for index, token in enumerate(tokens):
            if not isinstance(token, Integral) or isinstance(token, bool):
                raise RequestError(f"prompt[{index}] must be a token id; it is {token!r}")
            if not 0 <= token < self._n_vocab:
                raise InvalidBatchError(
                    f"prompt[{index}] is {token}; token ids go from 0 to {self._n_vocab - 1}",
                    token=float(token),
                    n_vocab=self._n_vocab,
                )
        return [int(token) for token in tokens]
