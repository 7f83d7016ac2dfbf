"""Decoding speed by number of threads, idle and beside busy processes: the figures of docs/dev/threads.md.

python -m benchmarks.threads
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from benchmarks.bench_text import busy_process, decode_rate
from benchmarks.pairs import machine
from llamaint import Llama


def rate(model: str, n_threads: int | str) -> float:
    """Best of two runs after one that warms up, tokens per second."""
    with Llama(model, n_ctx=1024, n_parallel=1, n_threads=n_threads) as llm:
        decode_rate(llm)
        return max(decode_rate(llm), decode_rate(llm))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--busy", type=int, nargs="*", default=[0, 1, 4], help="busy processes beside")
    args = parser.parse_args()
    facts = machine()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_before']} before the run")
    print("| busy processes | 1 thread | 2 threads | auto |")
    print("| --- | --- | --- | --- |")
    for n_busy in args.busy:
        with ExitStack() as stack:
            for _ in range(n_busy):
                stack.enter_context(busy_process())
            one, two, auto = (rate(args.model, n) for n in (1, 2, "auto"))
            print(f"| {n_busy} | {one:.1f} | {two:.1f} | {auto:.1f} |", flush=True)


if __name__ == "__main__":
    main()
