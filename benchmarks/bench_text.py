"""Text generation and embeddings of llamaint beside llama.cpp's own programs.

    python -m benchmarks.bench_text            # everything, about 6 minutes on 2 cores
    python -m benchmarks.bench_text --only decode prefill --repeats 5

Needs `make tools` (llama-bench and llama-server of the same source). llama-cpp-python is measured too when it can
be imported.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks.pairs import Row, compare, machine, print_table, write_json
from llamaint import Llama
from llamaint.hub import resolve
from tests.support.llama_server import LlamaServer, binary

PROMPT = "The harbour was quiet in the early morning, and the boats lay close together under a grey sky. "
N_THREADS = 2
N_PROMPT, N_DECODE = 512, 64
N_STREAMS, N_STREAM_TOKENS = 16, 64
N_CTX_STREAM = 256  # of each stream; llama-server divides its context in the same way


def prompt_tokens(llm: Llama, n_tokens: int) -> list[int]:
    """`n_tokens` tokens of ordinary English."""
    tokens = llm.tokenize(PROMPT * (n_tokens // 10 + 1), add_bos=False)
    return tokens[:n_tokens]


def llama_bench(model: Path, n_prompt: int, n_decode: int) -> float:
    """Tokens per second that llama-bench reports for one test."""
    command = [str(binary("llama-bench")), "-m", str(model), "-t", str(N_THREADS), "-r", "1", "-o", "json"]
    command += ["-p", str(n_prompt), "-n", str(n_decode)]
    report = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return float(json.loads(report)[0]["avg_ts"])


def decode_rate(llm: Llama) -> float:
    """Generated tokens per second of a single stream."""
    result = llm.complete(
        prompt_tokens(llm, 8), max_tokens=N_DECODE, temperature=0.0, ignore_eos=True, cache_prompt=False
    )
    return result.timings.decode_per_s


def prefill_rate(llm: Llama) -> float:
    """Prompt tokens per second of a single request."""
    result = llm.complete(prompt_tokens(llm, N_PROMPT), max_tokens=1, temperature=0.0, cache_prompt=False)
    return result.timings.prefill_per_s


def stream_prompts(llm: Llama) -> list[list[int]]:
    """Prompts of about 65 tokens that share no beginning."""
    words = ["North", "South", "East", "West", "Red", "Blue", "Green", "Grey"]
    heads = [f"{words[i % 8]} {i} wind. " for i in range(N_STREAMS)]
    return [llm.tokenize(head, add_bos=False) + prompt_tokens(llm, 60) for head in heads]


def open_streams(model: str | Path, *, kv_unified: bool) -> Llama:
    """An engine for all streams whose memory is as large as llama-server's."""
    n_ctx = N_CTX_STREAM * (N_STREAMS if kv_unified else 1)
    return Llama(model, n_ctx=n_ctx, n_parallel=N_STREAMS, n_threads=N_THREADS, kv_unified=kv_unified)


def our_streams(llm: Llama) -> float:
    """Generated tokens per second of all streams together, prompts included in the time."""
    prompts = stream_prompts(llm)
    start = time.perf_counter()
    with ThreadPoolExecutor(N_STREAMS) as pool:
        results = list(
            pool.map(
                lambda tokens: llm.complete(
                    tokens, max_tokens=N_STREAM_TOKENS, temperature=0.0, ignore_eos=True, cache_prompt=False
                ),
                prompts,
            )
        )
    return sum(result.usage.completion_tokens for result in results) / (time.perf_counter() - start)


def server_streams(prompts: list[list[int]], server: LlamaServer) -> float:
    """The same through llama-server."""
    start = time.perf_counter()
    with ThreadPoolExecutor(N_STREAMS) as pool:
        results = list(
            pool.map(lambda tokens: server.complete(tokens, max_tokens=N_STREAM_TOKENS, ignore_eos=True), prompts)
        )
    return sum(len(result.tokens) for result in results) / (time.perf_counter() - start)


@contextmanager
def busy_process() -> Iterator[None]:
    """Another program that wants a whole core."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)
        yield
    finally:
        process.kill()
        process.wait()


def busy_decode(llm: Llama) -> float:
    """Decoding beside a busy process, after the engine had a second to notice."""
    with busy_process():
        decode_rate(llm)
        decode_rate(llm)
        return decode_rate(llm)


def resident_mib(pid: int) -> float:
    """Resident memory of a process in MiB."""
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def our_memory(model: Path) -> float:
    """Resident MiB of a fresh Python process that has served the 16 streams."""
    code = (
        "import os, psutil\n"
        "from benchmarks.bench_text import open_streams, our_streams\n"
        f"llm = open_streams({str(model)!r}, kv_unified=False)\n"
        "our_streams(llm)\n"
        "print(psutil.Process().memory_info().rss / 2**20)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(out.split()[-1])


def other_python(model: Path, n_decode: int) -> float:
    """Single-stream decoding of llama-cpp-python."""
    code = (
        "import time, llama_cpp\n"
        f"llm = llama_cpp.Llama({str(model)!r}, n_ctx=1024, n_threads={N_THREADS}, verbose=False)\n"
        f"tokens = llm.tokenize({PROMPT.encode()!r}, add_bos=False)[:8]\n"
        "stream = llm.generate(tokens, temp=0.0)\n"
        "next(stream)\n"
        "start = time.perf_counter()\n"
        f"for _ in range({n_decode}): next(stream)\n"
        f"print({n_decode} / (time.perf_counter() - start))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(out.split()[-1])


def stream_server(model: Path, *, kv_unified: bool) -> LlamaServer:
    """llama-server with as many slots as there are streams."""
    extra = ("--kv-unified",) if kv_unified else ()
    return LlamaServer(model, n_ctx=N_CTX_STREAM, n_slots=N_STREAMS, n_threads=N_THREADS, extra=extra)


def streams_row(model: Path, repeats: int, *, kv_unified: bool) -> Row:
    """All streams at once, both sides with a cache per stream or both with a shared one."""
    with open_streams(model, kv_unified=kv_unified) as llm, stream_server(model, kv_unified=kv_unified) as server:
        return compare(
            f"{N_STREAMS} streams, " + ("one cache" if kv_unified else "a cache each"),
            "tok/s",
            "llama-server" + (" --kv-unified" if kv_unified else ""),
            lambda: our_streams(llm),
            lambda: server_streams(stream_prompts(llm), server),
            repeats,
            ">= 1.0",
        )


def memory_row(model: Path) -> Row:
    """Resident memory after all streams were served."""

    def their_memory() -> float:
        with stream_server(model, kv_unified=False) as server:
            server_streams(prompts, server)
            return resident_mib(server.pid)

    with Llama(model, n_ctx=256, n_parallel=1) as llm:
        prompts = stream_prompts(llm)
    return compare("resident memory", "MiB", "llama-server", lambda: our_memory(model), their_memory, 1, "<= 1.1")


def measure(model: Path, repeats: int, only: set[str]) -> Iterator[Row]:
    """One row after the other."""

    def wanted(name: str) -> bool:
        return not only or name in only

    with Llama(model, n_ctx=1024, n_parallel=1, n_threads=N_THREADS) as llm:
        pairs: list[tuple[str, Callable[[], float], Callable[[], float], str]] = [
            ("decode", lambda: decode_rate(llm), lambda: llama_bench(model, 0, N_DECODE), ">= 0.97"),
            ("prefill", lambda: prefill_rate(llm), lambda: llama_bench(model, N_PROMPT, 0), ">= 0.97"),
        ]
        for name, ours, theirs, target in pairs:
            if wanted(name):
                yield compare(f"{name}, 1 stream", "tok/s", "llama-bench", ours, theirs, repeats, target)
        if wanted("python") and importlib.util.find_spec("llama_cpp"):
            yield compare(
                "decode, 1 stream",
                "tok/s",
                "llama-cpp-python",
                lambda: decode_rate(llm),
                lambda: other_python(model, N_DECODE),
                max(1, repeats // 2),
                "-",
            )
    if wanted("streams"):
        yield streams_row(model, repeats, kv_unified=False)
        yield streams_row(model, repeats, kv_unified=True)
    if wanted("memory"):
        yield memory_row(model)
    if wanted("busy"):
        with Llama(model, n_ctx=1024, n_parallel=1) as llm:
            yield compare(
                "decode beside a busy process",
                "tok/s",
                "llamaint, idle",
                lambda: busy_decode(llm),
                lambda: max(decode_rate(llm) for _ in range(3)),
                repeats,
                ">= 0.5",
            )
    if wanted("embed"):
        from benchmarks.embedding import compare_with_server

        yield compare_with_server(repeats)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m", help="path or alias")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--only", nargs="*", default=[], choices=["decode", "prefill", "python", "streams", "memory", "busy", "embed"]
    )
    parser.add_argument("--json", type=Path, help="write the rows to this file as well")
    args = parser.parse_args()
    facts = machine()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_before']} before the run, {args.model}")
    rows = []
    for row in measure(resolve(args.model), args.repeats, set(args.only)):
        rows.append(row)
        print(f"{row.name}: {row.ours:.1f} against {row.theirs:.1f} {row.unit} of {row.other}", file=sys.stderr)
    print_table(rows)
    if args.json:
        write_json(args.json, facts, rows)


if __name__ == "__main__":
    main()
