"""Three small vocabularies, one per kind that llama.cpp knows: byte-level BPE, SentencePiece, WordPiece."""

from __future__ import annotations

from dataclasses import dataclass, field

import gguf

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
SPACE = "\u2581"

CONTROL_TOKENS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|mask|>",
    "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>",
    "<|audio_bos|>", "<|audio_eos|>", "<|AUDIO|>", "<|audio_start|>", "<|audio_end|>", "<|audio_pad|>",
    "<start_of_image>", "<end_of_image>", "<image_soft_token>",
    "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>",
)  # fmt: skip
USER_TOKENS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
WORDS = (
    "the", "and", "ing", "er", "in", "on", "an", "re", "is", "at", "user", "assistant", "system",
    "red", "green", "blue", "circle", "square", "image", "one", "two", "three", "yes", "no", "hello", "world",
)  # fmt: skip

CHATML = (
    "{%- for m in messages -%}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}{%- endif -%}"
)


@dataclass
class Vocab:
    """Tokens with their kinds, in id order."""

    tokens: list[str] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)

    @property
    def n_vocab(self) -> int:
        """Number of tokens."""
        return len(self.tokens)

    def add(self, text: str, kind: int = NORMAL) -> bool:
        """Append a token; False if the text has one already."""
        if text in self.ids:
            return False
        self.ids[text] = len(self.tokens)
        self.tokens.append(text)
        self.kinds.append(kind)
        return True

    def add_markers(self) -> None:
        """Append the control and user-defined tokens that every decoder vocabulary shares."""
        for text in CONTROL_TOKENS:
            self.add(text, CONTROL)
        for text in USER_TOKENS:
            self.add(text, USER_DEFINED)

    def pad_to(self, n_vocab: int) -> None:
        """Fill up with unused tokens."""
        if self.n_vocab > n_vocab:
            raise ValueError(f"the vocabulary has {self.n_vocab} tokens; at most {n_vocab} were planned")
        while self.n_vocab < n_vocab:
            self.add(f"<|unused_{self.n_vocab}|>", UNUSED)


def _printable_bytes() -> list[str]:
    """GPT-2's printable stand-in for each byte value."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    stand_in = dict(zip(plain, map(chr, plain), strict=True))
    others = (byte for byte in range(256) if byte not in stand_in)
    stand_in.update({byte: chr(256 + n) for n, byte in enumerate(others)})
    return [stand_in[byte] for byte in range(256)]


class BpeTokenizer:
    """Byte-level BPE of 384 tokens: id == byte value below 256, then merges, markers, padding."""

    def __init__(self, *, pre: str = "qwen2", chat_template: str | None = CHATML) -> None:
        self.vocab = Vocab()
        self._pre = pre
        self._chat_template = chat_template
        self._merges: list[str] = []
        letters = _printable_bytes()
        for letter in letters:
            self.vocab.add(letter)
        room = 384 - len(CONTROL_TOKENS) - len(USER_TOKENS)
        for word in (prefix + word for word in WORDS for prefix in ("", " ")):
            head, *rest = (letters[byte] for byte in word.encode())
            for letter in rest:
                if self.vocab.n_vocab < room and self.vocab.add(head + letter):
                    self._merges.append(f"{head} {letter}")
                head += letter
        self.vocab.add_markers()
        self.vocab.pad_to(384)

    @property
    def n_vocab(self) -> int:
        """Number of tokens."""
        return self.vocab.n_vocab

    def write(self, out: gguf.GGUFWriter) -> None:
        """Add the ``tokenizer.*`` keys."""
        ids = self.vocab.ids
        out.add_tokenizer_model("gpt2")
        out.add_tokenizer_pre(self._pre)
        out.add_token_list(self.vocab.tokens)
        out.add_token_types(self.vocab.kinds)
        out.add_token_merges(self._merges)
        out.add_bos_token_id(ids["<|endoftext|>"])
        out.add_eos_token_id(ids["<|im_end|>"])
        out.add_pad_token_id(ids["<|endoftext|>"])
        out.add_mask_token_id(ids["<|mask|>"])
        out.add_add_bos_token(False)
        out.add_add_eos_token(False)
        if self._chat_template is not None:
            out.add_chat_template(self._chat_template)


class SpmTokenizer:
    """SentencePiece of 448 tokens with byte fallback; begins with ``<unk> <s> </s>``."""

    def __init__(self, *, add_eos: bool = False, chat_template: str | None = CHATML) -> None:
        self.vocab = Vocab()
        self._add_eos = add_eos
        self._chat_template = chat_template
        for text, kind in (("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)):
            self.vocab.add(text, kind)
        for byte in range(256):
            self.vocab.add(f"<0x{byte:02X}>", BYTE)
        for letter in SPACE + "".join(map(chr, range(33, 127))):
            self.vocab.add(letter)
        room = 448 - len(CONTROL_TOKENS) - len(USER_TOKENS)
        for word in (prefix + word for word in WORDS for prefix in ("", SPACE)):
            for length in range(2, len(word) + 1):
                if self.vocab.n_vocab < room:
                    self.vocab.add(word[:length])
        self.vocab.add_markers()
        self.vocab.pad_to(448)

    @property
    def n_vocab(self) -> int:
        """Number of tokens."""
        return self.vocab.n_vocab

    def _scores(self) -> list[float]:
        """Longer pieces score higher than letters; among them the earlier wins."""
        return [
            0.0 if kind != NORMAL else (-1000.0 if len(text) == 1 else 0.0) - index
            for index, (text, kind) in enumerate(zip(self.vocab.tokens, self.vocab.kinds, strict=True))
        ]

    def write(self, out: gguf.GGUFWriter) -> None:
        """Add the ``tokenizer.*`` keys."""
        out.add_tokenizer_model("llama")
        out.add_tokenizer_pre("default")
        out.add_token_list(self.vocab.tokens)
        out.add_token_scores(self._scores())
        out.add_token_types(self.vocab.kinds)
        out.add_unk_token_id(0)
        out.add_bos_token_id(1)
        out.add_eos_token_id(2)
        out.add_pad_token_id(2)
        out.add_eot_token_id(self.vocab.ids["<|im_end|>"])
        out.add_mask_token_id(self.vocab.ids["<|mask|>"])
        out.add_add_bos_token(True)
        out.add_add_eos_token(self._add_eos)
        out.add_add_space_prefix(False)
        if self._chat_template is not None:
            out.add_chat_template(self._chat_template)


class WordPieceTokenizer:
    """BERT WordPiece of 320 tokens in llama.cpp's form: ``word`` -> ``U+2581 word``, ``##ing`` -> ``ing``."""

    def __init__(self) -> None:
        self.vocab = Vocab()
        for text in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"):
            self.vocab.add(text, CONTROL)
        for letter in "abcdefghijklmnopqrstuvwxyz0123456789":
            self.vocab.add(SPACE + letter)
            self.vocab.add(letter)
        for sign in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~":
            self.vocab.add(SPACE + sign)
        for word in WORDS:
            self.vocab.add(SPACE + word)
            self.vocab.add(word)
        self.vocab.pad_to(320)

    @property
    def n_vocab(self) -> int:
        """Number of tokens."""
        return self.vocab.n_vocab

    def write(self, out: gguf.GGUFWriter) -> None:
        """Add the ``tokenizer.*`` keys."""
        out.add_tokenizer_model("bert")
        out.add_tokenizer_pre("default")
        out.add_token_list(self.vocab.tokens)
        out.add_token_types(self.vocab.kinds)
        out.add_token_type_count(2)
        out.add_pad_token_id(0)
        out.add_unk_token_id(1)
        out.add_bos_token_id(2)
        out.add_uint32("tokenizer.ggml.cls_token_id", 2)
        out.add_sep_token_id(3)
        out.add_mask_token_id(4)
        out.add_add_bos_token(True)
