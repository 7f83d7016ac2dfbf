"""Plays scripts for many requests at once, on a thread of its own."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llamaint.errors import CapacityError, ClosedError, PromptTooLongError
from llamaint.testing.fake_handle import FakeChunk, FakeHandle, Notifier
from llamaint.testing.fake_model import N_VOCAB, FakeModel
from llamaint.testing.text_output import TextOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llamaint.backend.requests import EngineRequest
    from llamaint.testing.script import Playbook, Script
    from llamaint.types import ContextParams


@dataclass(slots=True)
class _Choice:
    index: int
    script: Script
    pieces: list[bytes]
    output: TextOutput
    n_steps: int = 0


@dataclass(slots=True)
class _Running:
    request: EngineRequest
    handle: FakeHandle
    open: list[_Choice]
    n_cached: int
    submitted: float
    started: float = 0.0
    first: float = 0.0
    tokens: list[int] = field(default_factory=list)  # the prompt's, for logits processors

    def deadline(self) -> float:
        limit = self.request.deadline_s
        return float("inf") if limit is None else self.submitted + limit


class FakeEngine:
    """Satisfies `llamaint.backend.protocols.Engine`.

    Sampling settings do not change what a script says; logits processors do: each row is zero but
    for a one at the scripted token, and the largest value decides.
    """

    def __init__(self, model: FakeModel, params: ContextParams, playbook: Playbook) -> None:
        self.requests: list[EngineRequest] = []
        self._model = model
        self._n_ctx = params.n_ctx or int(model.info()["n_ctx_train"])
        self._n_parallel = params.n_parallel
        self._max_queue = params.max_queue
        self._playbook = playbook
        self._notifier = Notifier()
        self._changed = threading.Condition()
        self._ids = itertools.count(1)
        self._waiting: list[_Running] = []
        self._running: list[tuple[float, int, _Running]] = []  # heap by the time of the next step
        self._last_prompt: Sequence[int] = ()
        self._closed = False
        self._metrics = {"n_requests": 0.0, "n_generated": 0.0, "n_cancelled": 0.0}
        self._thread = threading.Thread(target=self._loop, name="llamaint-fake", daemon=True)
        self._thread.start()

    def submit(self, request: EngineRequest) -> FakeHandle:
        """Queue a request."""
        if len(request.prompt) > self._n_ctx:
            raise PromptTooLongError(
                f"the prompt has {len(request.prompt)} tokens; the context window holds {self._n_ctx}",
                n_prompt=len(request.prompt),
                n_ctx=self._n_ctx,
            )
        text = self._model.detokenize(request.prompt, True, True).decode(errors="replace")
        with self._changed:
            if self._closed:
                raise ClosedError("the engine was closed")
            if len(self._waiting) >= self._max_queue:
                raise CapacityError(f"{self._max_queue} requests are waiting already", max_queue=self._max_queue)
            handle = FakeHandle(next(self._ids), request.n, self._notifier, self._wake, stream=request.stream)
            scripts = [self._playbook.next(text) for _ in range(request.n)]
            choices = [
                _Choice(i, script, script.tokens(), TextOutput(request.stop)) for i, script in enumerate(scripts)
            ]
            n_cached = self._common_prefix(request.prompt) if request.cache_prompt else 0
            self._last_prompt = request.prompt
            self._waiting.append(_Running(request, handle, choices, n_cached, time.monotonic()))
            self.requests.append(request)
            self._metrics["n_requests"] += 1
            self._changed.notify()
            return handle

    def wait_ready(self, timeout_s: float) -> Sequence[int]:
        """Ids of watched handles with news."""
        return self._notifier.wait(timeout_s)

    def info(self) -> dict[str, Any]:
        """Facts of the running engine."""
        return {"n_ctx": self._n_ctx, "n_parallel": self._n_parallel, "n_threads": 0}

    def metrics(self) -> dict[str, float]:
        """Counters since start."""
        with self._changed:
            return {
                **self._metrics,
                "n_running": float(len(self._running)),
                "n_waiting": float(len(self._waiting)),
            }

    def close(self) -> None:
        """End every request with ClosedError and join the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not threading.current_thread():
            self._thread.join()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify()

    def _common_prefix(self, prompt: Sequence[int]) -> int:
        pairs = zip(prompt[:-1], self._last_prompt, strict=False)
        return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))

    # ---- the thread -------------------------------------------------------------------------
    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._due, self._pause())
                if self._closed:
                    break
                now = time.monotonic()
                self._reap(now)
                self._admit(now)
                batch = self._take_due(now)
            for running in batch:
                self._step(running)
            with self._changed:
                for running in batch:
                    if running.open:
                        delay = max(choice.script.delay_s for choice in running.open)
                        self._schedule(running, time.monotonic() + delay)
        everyone = [*self._waiting, *(running for _, _, running in self._running)]
        for running in everyone:
            self._end(running, "error", error=("closed", "the engine was closed", {}))
        self._notifier.close()

    def _due(self) -> bool:
        now = time.monotonic()
        everyone = [*self._waiting, *(running for _, _, running in self._running)]
        return (
            self._closed
            or (bool(self._waiting) and len(self._running) < self._n_parallel)
            or (bool(self._running) and self._running[0][0] <= now)
            or any(r.handle.cancelled or r.deadline() <= now for r in everyone)
        )

    def _pause(self) -> float | None:
        times = [at for at, _, _ in self._running[:1]]
        times += [r.deadline() for r in self._waiting]
        times += [r.deadline() for _, _, r in self._running]
        first = min(times, default=float("inf"))
        return None if first == float("inf") else max(first - time.monotonic(), 0.0)

    def _reap(self, now: float) -> None:
        def alive(running: _Running) -> bool:
            if running.handle.cancelled:
                self._metrics["n_cancelled"] += 1
                self._end(running, "cancelled")
            elif running.deadline() <= now:
                self._end(running, "deadline")
            return bool(running.open)

        self._waiting = [r for r in self._waiting if alive(r)]
        self._running = [entry for entry in self._running if alive(entry[2])]
        heapq.heapify(self._running)

    def _admit(self, now: float) -> None:
        while self._waiting and len(self._running) < self._n_parallel:
            running = self._waiting.pop(0)
            running.started = now
            running.tokens = list(running.request.prompt)
            wait = max(c.script.prefill_s + c.script.delay_s for c in running.open)
            self._schedule(running, now + wait)

    def _take_due(self, now: float) -> list[_Running]:
        batch = []
        while self._running and self._running[0][0] <= now:
            batch.append(heapq.heappop(self._running)[2])
        return batch

    def _schedule(self, running: _Running, at: float) -> None:
        heapq.heappush(self._running, (at, running.handle.id, running))

    def _step(self, running: _Running) -> None:
        if not running.first:
            running.first = time.monotonic()
        for choice in list(running.open):
            chunk = self._play(running, choice)
            if chunk.finish is not None:
                running.open.remove(choice)
                chunk.timings = self._timings(running, choice)
            running.handle.push(chunk)

    def _play(self, running: _Running, choice: _Choice) -> FakeChunk:
        request, script, chunk = running.request, choice.script, FakeChunk(choice.index)
        room = self._n_ctx - len(request.prompt) + 1  # the last token takes no place
        limit = room if request.max_tokens is None else min(room, request.max_tokens)
        if script.fail_at == choice.n_steps:
            chunk.finish = "error"
            message = f"the script failed at step {choice.n_steps}"
            chunk.error = (script.error, message, {"step": choice.n_steps})
            return chunk
        ended = choice.n_steps == len(choice.pieces)
        if limit > 0 and not ended:
            token = self._model.intern(choice.pieces[choice.n_steps])
            try:
                token = self._process(running, choice, token)
            except Exception as error:  # what a logits processor raises ends its request
                chunk.finish, chunk.error = "error", ("request", f"logits processor: {error!r}", {})
                return chunk
            choice.n_steps += 1
            self._metrics["n_generated"] += 1
            chunk.tokens = [token]
            if request.logprobs is not None:
                chunk.logprobs = [self._logprob(token, script.logprob, request.logprobs)]
            chunk.text = choice.output.push(self._model.token_to_piece(token, True))
        if choice.output.stop_text is None and (ended or choice.n_steps >= limit):
            chunk.finish = "stop" if ended and limit > 0 else "length"
            chunk.text += choice.output.push(b"", final=True)
        if choice.output.stop_text is not None:
            chunk.finish, chunk.stop_text = "stop", choice.output.stop_text
        return chunk

    def _process(self, running: _Running, choice: _Choice, token: int) -> int:
        processors = running.request.logits_processors
        if not processors:
            return token
        import numpy as np

        done = [self._model.intern(piece) for piece in choice.pieces[: choice.n_steps]]
        row = np.zeros(N_VOCAB, dtype=np.float32)
        row[token] = 1.0
        for processor in processors:
            processor(np.array([*running.tokens, *done], dtype=np.int32), row)
        return int(row.argmax())

    def _logprob(self, token: int, logprob: float, n_top: int) -> tuple[int, float, float, list[tuple[int, float]]]:
        others = (other for other in range(3, 3 + 256) if other != token)
        top = [(token, logprob)] if n_top else []
        top += [(next(others), logprob - 1.0 - i) for i in range(min(n_top - 1, 255))]
        return (token, logprob, logprob, top)

    def _end(
        self,
        running: _Running,
        finish: str,
        error: tuple[str, str, dict[str, float]] | None = None,
    ) -> None:
        for choice in running.open:
            chunk = FakeChunk(choice.index, finish=finish, error=error)
            chunk.timings = self._timings(running, choice)
            running.handle.push(chunk)
        running.open.clear()

    def _timings(self, running: _Running, choice: _Choice) -> dict[str, float]:
        now = time.monotonic()
        started = running.started or now
        first = running.first or now
        prefill, decode = first - started, now - first
        n_evaluated = len(running.request.prompt) - running.n_cached
        return {
            "queue_s": started - running.submitted,
            "prefill_s": prefill,
            "ttft_s": first - running.submitted,
            "decode_s": decode,
            "n_prompt": len(running.request.prompt),
            "n_cached": running.n_cached,
            "n_decoded": choice.n_steps,
            "prefill_per_s": n_evaluated / prefill if prefill > 0 else 0.0,
            "decode_per_s": (choice.n_steps - 1) / decode if decode > 0 and choice.n_steps else 0.0,
        }
