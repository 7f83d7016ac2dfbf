"""Embeddings of many short texts: beside llama-server on the same file, and by packing and workers.

python -m benchmarks.embedding             # 1,000 texts of 8 to 31 words against llama-server
python -m benchmarks.embedding packing     # tokens per decode, and threads per decode: docs/dev/embeddings.md
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from benchmarks.pairs import Row, compare, machine, print_table
from llamaint import (
    LlamaEmbedding,
    _native,  # noqa: TID251 - the number of workers is no setting of the public class
)
from llamaint.hub import resolve
from tests.support.llama_server import LlamaServer

MODEL = "minilm-l6"
N_TEXTS = 1000
N_THREADS = 2
N_SLOTS = 16
WORDS = (
    "harbour morning boat grey sky market bread river bridge winter garden letter music teacher engine paper "
    "copper island forest window silver mountain history answer question number weather travel doctor village"
)


def texts(n_texts: int = N_TEXTS) -> list[str]:
    """Texts of 8 to 31 words; the same each time."""
    rng, words = random.Random(1), WORDS.split()
    return [" ".join(rng.choices(words, k=rng.randint(8, 31))) for _ in range(n_texts)]


def our_rate(model: LlamaEmbedding, many: list[str]) -> float:
    """Texts per second, tokenising and scaling included."""
    start = time.perf_counter()
    model.embed(many)
    return len(many) / (time.perf_counter() - start)


def server_rate(server: LlamaServer, many: list[str]) -> float:
    """Texts per second of one request with all texts, in the shape that costs the server least."""
    start = time.perf_counter()
    server.post("/v1/embeddings", {"input": many, "encoding_format": "base64"})
    return len(many) / (time.perf_counter() - start)


def compare_with_server(repeats: int, model_path: Path | None = None, n_texts: int = N_TEXTS) -> Row:
    """One row for benchmarks/bench_text.py."""
    path = model_path or resolve(MODEL)
    many = texts(n_texts)
    extra = ["--embeddings", "--pooling", "mean"]
    with (
        LlamaServer(path, n_ctx=512, n_slots=N_SLOTS, n_threads=N_THREADS, n_ubatch=2048, extra=extra) as server,
        LlamaEmbedding(path, n_threads=N_THREADS) as model,
    ):
        return compare(
            f"embeddings of {n_texts:,} short texts",
            "texts/s",
            f"llama-server, {N_SLOTS} slots",
            lambda: our_rate(model, many),
            lambda: server_rate(server, many),
            repeats,
            ">= 1.3",
        )


def packing(model_path: Path, n_texts: int, repeats: int) -> None:
    """Best texts per second for tokens per decode, with two workers of one thread and one worker of two."""
    many = texts(n_texts)
    model = _native.Model.load(str(model_path), _native.ModelParams())
    tokens = [model.tokenize(text, True, False) for text in many]
    print("| tokens per decode | 2 workers x 1 thread | 1 worker x 2 threads | 2 workers, flash attention off |")
    print("| --- | --- | --- | --- |")
    for pack_tokens in (32, 64, 128, 256, 512, 1024):
        cells = []
        for n_workers, flash_attn in ((2, "on"), (1, "on"), (2, "off")):
            context = _native.ContextParams(n_threads=N_THREADS, flash_attn=flash_attn)
            params = _native.EmbedParams(context=context, pack_tokens=pack_tokens, n_workers=n_workers)
            engine = _native.EmbedEngine(model, params)
            best = 0.0
            for _ in range(repeats):
                start = time.perf_counter()
                engine.submit(tokens).result()
                best = max(best, n_texts / (time.perf_counter() - start))
            engine.close()
            cells.append(f"{best:.0f}")
        print(f"| {pack_tokens} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["server", "packing"], default="server")
    parser.add_argument("--model", default=MODEL, help="path or alias")
    parser.add_argument("--texts", type=int, default=N_TEXTS)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    facts = machine()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_before']} before the run, {args.model}")
    if args.what == "packing":
        packing(resolve(args.model), args.texts, args.repeats)
    else:
        print_table([compare_with_server(args.repeats, resolve(args.model), args.texts)])


if __name__ == "__main__":
    main()
