"""Tries the native module in a process of its own, so that a crash there can be reported.

``python -m llamaint.cli.probe PART`` prints one JSON object; `run` starts it and reads it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import Any, Literal

from llamaint.errors import EngineError, LlamaintError

Part = Literal["native", "chat", "embed"]

CHAT_ALIAS = "smollm2-135m"
EMBED_ALIAS = "minilm-l6"
_TIMEOUT_S = 120.0
_COMMAND = [sys.executable, "-m", "llamaint.cli.probe"]


def run(part: Part) -> dict[str, Any]:
    """What the part found.

    Raises:
        EngineError: the process died, hung or reported an error; the message says which.
    """
    try:
        done = subprocess.run(
            [*_COMMAND, part], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise EngineError(f"no answer within {_TIMEOUT_S:.0f} s", timeout_s=_TIMEOUT_S) from None
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        advice = "; the module was built for another processor" if name == "SIGILL" else ""
        raise EngineError(f"the process was killed by {name}{advice}", signal=-done.returncode)
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise EngineError(f"exit code {done.returncode}: {last}", exit_code=done.returncode) from None
    if "error" in found:
        raise EngineError(str(found["error"]))
    return found


def _native() -> dict[str, Any]:
    from llamaint.backend import llama_cpp

    return {
        "build": llama_cpp.build_info(),
        "devices": llama_cpp.devices(),
        "usable_cores": llama_cpp.usable_cores(),
    }


def _chat() -> dict[str, Any]:
    import llamaint

    started = time.perf_counter()
    with llamaint.Llama(CHAT_ALIAS, n_ctx=256, n_parallel=1) as llm:
        loaded = time.perf_counter()
        result = llm.complete("The sun is a", max_tokens=16, temperature=0)
    return {
        "load_s": loaded - started,
        "text": result.text,
        "n_tokens": result.usage.completion_tokens,
        "decode_per_s": result.timings.decode_per_s,
    }


def _embed() -> dict[str, Any]:
    import llamaint

    started = time.perf_counter()
    with llamaint.LlamaEmbedding(EMBED_ALIAS) as embedder:
        loaded = time.perf_counter()
        near, same, far = embedder.embed(["a red apple", "an apple that is red", "the tax office is closed"])
    return {
        "load_s": loaded - started,
        "n_embd": len(near),
        "similar": float(near @ same),
        "different": float(near @ far),
    }


_PARTS = {"native": _native, "chat": _chat, "embed": _embed}

if __name__ == "__main__":
    try:
        print(json.dumps(_PARTS[sys.argv[1]]()))
    except LlamaintError as error:
        print(json.dumps({"error": str(error)}))
