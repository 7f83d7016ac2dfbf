"""Prompt text to token ids, with exactly one BOS where the model wants one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from llamaint.errors import InvalidBatchError, RequestError, UnsupportedError
from llamaint.prompt.text import check_text
from llamaint.types.rules import INT32_MAX, is_integer

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
        self.missing_infill = [name for name in _FIM if name not in self._special]
        self._bos_text = b"" if self._bos is None else model.token_to_piece(self._bos, True)

    def prompt(self, prompt: str | Sequence[int]) -> list[int]:
        """Tokens of a completion prompt: text, in which special tokens count as such, or ids.

        An empty text becomes the BOS token alone. Raises RequestError if there is none.
        """
        if not isinstance(prompt, str):
            if not isinstance(prompt, Iterable):
                raise RequestError(f"the prompt must be a str or token ids; it is {type(prompt).__name__}")
            ids = self.ids(prompt, "prompt")
            if not ids:
                raise RequestError("the prompt holds no tokens")
            return ids
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

    def ids(self, tokens: Iterable[int], where: str) -> list[int]:
        """Token ids as plain ints; see `check_tokens` for what is raised."""
        return check_tokens(tokens, self._n_vocab, where)

    def begun(self, text: str) -> list[int]:
        """Tokens of text that stands inside a prompt, without the space some vocabularies put in front."""
        tokens = self._model.tokenize(text, False, True)
        if tokens and self._model.token_to_piece(tokens[0], True).isspace() and not text[:1].isspace():
            return tokens[1:]
        return tokens

    def singles(self, texts: Iterable[str]) -> list[int]:
        """Those of ``texts`` that are one token each."""
        split = [self._model.tokenize(text, False, True) for text in texts]
        return [tokens[0] for tokens in split if len(tokens) == 1]

    def infill(self, prefix: str, suffix: str) -> list[int]:
        """Tokens that ask for the text between two others. Raises UnsupportedError without FIM."""
        if self.missing_infill:
            missing = ", ".join(self.missing_infill)
            raise UnsupportedError(f"suffix needs a model with fill-in-the-middle tokens; {missing} missing")
        pre, suf, mid = (self._special[name] for name in _FIM)
        before = self._model.tokenize(check_text(prefix, "the prompt"), False, True)
        after = self._model.tokenize(check_text(suffix, "suffix"), False, True)
        bos = self._model.tokenize("", True, True)
        return [*bos, pre, *before, suf, *after, mid]


def check_tokens(tokens: object, n_vocab: int, where: str) -> list[int]:
    """Token ids as plain ints.

    Raises:
        RequestError: not a sequence of integers.
        InvalidBatchError: an id outside the vocabulary.
    """
    if not isinstance(tokens, Iterable) or isinstance(tokens, (bytes, Mapping)):
        raise RequestError(f"{where} must be token ids; it is {type(tokens).__name__}")
    checked = []
    for index, token in enumerate(tokens):
        if not is_integer(token, -INT32_MAX, INT32_MAX):
            raise RequestError(f"{where}[{index}] must be a token id; it is {token!r}")
        if not 0 <= token < n_vocab:
            raise InvalidBatchError(
                f"{where}[{index}] is {token}; token ids go from 0 to {n_vocab - 1}",
                token=float(token),
                n_vocab=n_vocab,
            )
        checked.append(int(token))
    return checked
