"""The WordPiece vocabulary of a BERT model in the form llama.cpp reads (tokenizer model "bert")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llamaint.errors import ModelLoadError, UnsupportedError

if TYPE_CHECKING:
    from gguf import GGUFWriter

    from llamaint.hub._checkpoint import Checkpoint

_SPECIAL_TOKENS = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
_NORMAL, _CONTROL, _UNUSED = 1, 3, 5  # tokenizer.ggml.token_type


def add_bert_vocabulary(writer: GGUFWriter, checkpoint: Checkpoint, n_vocab: int) -> None:
    """Add the tokenizer's metadata from vocab.txt, special_tokens_map.json and tokenizer_config.json.

    Ids beyond vocab.txt, up to ``n_vocab``, become unused ``[PADi]`` tokens.

    Raises:
        ModelLoadError: more tokens than ``n_vocab``, or a special token is missing.
        UnsupportedError: a setting that llama.cpp's tokenizer does not have.
    """
    words = _read_words(checkpoint)
    if len(words) > n_vocab:
        raise ModelLoadError(f"vocab.txt has {len(words)} tokens; config.json allows {n_vocab}")
    special = _special_ids(checkpoint, words)
    settings = checkpoint.json_or("tokenizer_config.json", dict[str, Any]())
    if settings.get("tokenize_chinese_chars", True) is not True:
        raise UnsupportedError("tokenize_chinese_chars is false; llama.cpp always splits Chinese characters")
    lowercase = bool(settings.get("do_lower_case", True))
    strip_accents = settings.get("strip_accents")

    unused = [f"[PAD{index}]" for index in range(len(words), n_vocab)]
    control = set(special.values())
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")  # what the converter writes for plain WordPiece; the loader ignores it
    writer.add_token_list([_phantom(word, index in control) for index, word in enumerate(words)] + unused)
    writer.add_token_types([_CONTROL if i in control else _NORMAL for i in range(len(words))] + [_UNUSED] * len(unused))
    writer.add_bos_token_id(special["cls"])
    writer.add_eos_token_id(special["sep"])
    writer.add_unk_token_id(special["unk"])
    writer.add_sep_token_id(special["sep"])
    writer.add_pad_token_id(special["pad"])
    writer.add_mask_token_id(special["mask"])
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_bool("tokenizer.ggml.add_sep_token", False)
    writer.add_bool("tokenizer.ggml.normalizer.lowercase", lowercase)
    writer.add_bool("tokenizer.ggml.normalizer.strip_accents", lowercase if strip_accents is None else strip_accents)


def _read_words(checkpoint: Checkpoint) -> list[str]:
    # Only "\n" separates: a few tokens are themselves Unicode line separators.
    words = checkpoint.read("vocab.txt").decode("utf-8").replace("\r\n", "\n").split("\n")
    if words[-1] == "":
        words.pop()
    return words


def _special_ids(checkpoint: Checkpoint, words: list[str]) -> dict[str, int]:
    names = dict(_SPECIAL_TOKENS)
    for key, value in checkpoint.json_or("special_tokens_map.json", dict[str, Any]()).items():
        role = key.removesuffix("_token")
        if role in names:
            names[role] = value["content"] if isinstance(value, dict) else value
    ids = {word: index for index, word in enumerate(words)}
    missing = sorted(word for word in names.values() if word not in ids)
    if missing:
        raise ModelLoadError(f"vocab.txt lacks the special tokens {', '.join(missing)}")
    return {role: ids[word] for role, word in names.items()}


def _phantom(word: str, is_control: bool) -> str:
    """A word starts with U+2581, a continuation (``##``) does not: the form of llama.cpp's WPM vocabulary."""
    if is_control:
        return word
    return word[2:] if word.startswith("##") else "\u2581" + word
