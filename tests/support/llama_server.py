"""llama.cpp's own server on a loopback port, as the reference of the parity tests."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_REPOSITORY = Path(__file__).parents[2]
_START_S = 120.0


def binary(name: str) -> Path:
    """One of llama.cpp's programs, built from the source that llamaint is built from.

    Looked for in ``LLAMAINT_LLAMA_BIN``, then in the build tree of `make tools`.
    """
    folder = Path(os.environ.get("LLAMAINT_LLAMA_BIN", _REPOSITORY / "build" / "dev" / "bin"))
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: run `make tools`, or set LLAMAINT_LLAMA_BIN")
    return path


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What the server generated, without the token that ended it."""

    tokens: tuple[int, ...]
    text: str


class LlamaServer:
    """One running server; a context manager that ends the process it started.

    Args:
        model: GGUF file.
        n_ctx: context window of each slot.
        n_slots: requests at once.
        n_threads: for prompts and for decoding.
        n_batch: tokens per decode.
        n_ubatch: tokens evaluated at once.
        flash_attn: ``"on"`` or ``"off"``.
        extra: further command line arguments.
    """

    def __init__(
        self,
        model: Path,
        *,
        n_ctx: int,
        n_slots: int = 1,
        n_threads: int = 2,
        n_batch: int = 2048,
        n_ubatch: int = 512,
        flash_attn: str = "on",
        extra: Sequence[str] = (),
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        options = {
            "--model": model,
            "--host": "127.0.0.1",
            "--port": self.port,
            "--ctx-size": n_ctx * n_slots,
            "--parallel": n_slots,
            "--threads": n_threads,
            "--threads-batch": n_threads,
            "--batch-size": n_batch,
            "--ubatch-size": n_ubatch,
            "--flash-attn": flash_attn,
            # Saved contexts would start a request from an earlier one's state.
            "--ctx-checkpoints": 0,
            "--cache-ram": 0,
        }
        self.command = [str(binary("llama-server"))]
        self.command += [str(part) for option in options.items() for part in option]
        self.command += ["--no-warmup", *extra]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id while it runs."""
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> LlamaServer:
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process; safe to repeat."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._log.close()

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                if self._request("GET", "/health", None)[0] == 200:
                    return
            except ConnectionRefusedError:
                pass
            time.sleep(0.05)
        self._log.seek(0)
        tail = self._log.read()[-2000:].decode(errors="replace")
        raise RuntimeError(f"llama-server did not get ready (exit code {self._process.poll()}): {tail}")

    def _request(self, method: str, path: str, body: Mapping[str, object] | None) -> tuple[int, dict[str, object]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, object]:
        """The JSON answer to a request; raises RuntimeError unless the status is 200."""
        status, answer = self._request("POST", path, body)
        if status != 200:
            raise RuntimeError(f"{path}: {status} {answer}")
        return answer

    def tokenize(self, text: str) -> list[int]:
        """Token ids, with what the model adds in front."""
        return list(self.post("/tokenize", {"content": text, "add_special": True, "parse_special": True})["tokens"])

    def complete(self, prompt: str | Sequence[int], *, max_tokens: int, ignore_eos: bool = False) -> Completion:
        """Greedy completion; nothing is reused from earlier requests.

        Args:
            prompt: text, or token ids that are used as they are.
            max_tokens: tokens to generate.
            ignore_eos: never end before ``max_tokens``.
        """
        body = {
            "prompt": prompt if isinstance(prompt, str) else list(prompt),
            "n_predict": max_tokens,
            "temperature": 0.0,
            "ignore_eos": ignore_eos,
            "return_tokens": True,
            "cache_prompt": False,
        }
        answer = self.post("/completion", body)
        tokens = list(answer["tokens"])
        if answer["stop_type"] == "eos":
            tokens = tokens[:-1]
        return Completion(tokens=tuple(tokens), text=str(answer["content"]))
