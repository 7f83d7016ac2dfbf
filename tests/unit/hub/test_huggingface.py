"""The whole way through huggingface_hub, against a small hub on loopback.

huggingface_hub reads its settings when imported, so `resolve` runs in a worker process of its own.
"""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("huggingface_hub")

WORKER = """
import json, sys
from llamaint import hub
for line in sys.stdin:
    asked, calls = json.loads(line), []
    try:
        path = hub.resolve(asked["name"], offline=asked["offline"], progress=lambda *call: calls.append(call))
        answer = {"path": str(path), "calls": calls}
    except Exception as error:
        answer = {"error": type(error).__name__, "message": str(error), "calls": calls}
    print(json.dumps(answer), flush=True)
"""


class FakeHub:
    """Serves repositories from memory: the model information, and files with etag and ranges."""

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.gated: set[str] = set()
        self.down = False
        self.requests: list[str] = []
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self, body=True)

            def do_HEAD(self) -> None:
                hub.answer(self, body=False)

            def log_message(self, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def commit(self, repo: str) -> str:
        return hashlib.sha1(repr(sorted(self.repos[repo].items())).encode()).hexdigest()

    def answer(self, handler: http.server.BaseHTTPRequestHandler, *, body: bool) -> None:
        path = unquote(urlsplit(handler.path).path).strip("/")
        self.requests.append(f"{handler.command} {path}")
        if self.down:
            return self.reply(handler, 503, b"", {}, body)
        if path.startswith("api/models/"):
            repo, _, revision = path.removeprefix("api/models/").partition("/revision/")
            return self.describe(handler, repo, revision, body)
        repo, _, rest = path.partition("/resolve/")
        revision, _, name = rest.partition("/")
        data = self.repos.get(repo, {}).get(name)
        if data is None:
            return self.reply(handler, 404, b"", {"X-Error-Code": "EntryNotFound"}, body)
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": self.commit(repo)}
        return self.reply(handler, 200, data, headers, body)

    def describe(self, handler: http.server.BaseHTTPRequestHandler, repo: str, revision: str, body: bool) -> None:
        if repo in self.gated:
            return self.reply(handler, 403, b"{}", {"X-Error-Code": "GatedRepo"}, body)
        if repo not in self.repos:
            return self.reply(handler, 404, b"{}", {"X-Error-Code": "RepoNotFound"}, body)
        if revision not in ("", "main", self.commit(repo)):
            return self.reply(handler, 404, b"{}", {"X-Error-Code": "RevisionNotFound"}, body)
        files = [{"rfilename": n, "size": len(d), "blobId": "0"} for n, d in self.repos[repo].items()]
        described = {"id": repo, "modelId": repo, "sha": self.commit(repo), "siblings": files, "tags": []}
        return self.reply(handler, 200, json.dumps(described).encode(), {"Content-Type": "application/json"}, body)

    @staticmethod
    def reply(handler, status: int, data: bytes, headers: dict[str, str], body: bool) -> None:
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if body:
            handler.wfile.write(data)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def server():
    server = FakeHub()
    yield server
    server.close()


def start_worker(url: str, home: Path) -> subprocess.Popen[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "LLAMAINT_"))}
    env |= {"HF_ENDPOINT": url, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_DEBUG": "0"}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        cwd=Path(__file__).parents[3],
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("hf")


@pytest.fixture(scope="module")
def worker(server, home):
    process = start_worker(server.url, home)

    def ask(name: str, *, offline: bool = False) -> dict[str, object]:
        process.stdin.write(json.dumps({"name": name, "offline": offline}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    process.wait(30)
    process.stdout.close()


@pytest.fixture
def hub(server):
    server.down = False
    server.requests.clear()
    return server


def test_quantisation_tag_downloads_that_file_only(hub, worker):
    hub.repos["o/quants"] = {"m-Q4_K_M.gguf": b"GGUF four", "m-Q8_0.gguf": b"GGUF eight", "README.md": b"hi"}
    answer = worker("hf:o/quants:Q8_0")
    assert Path(answer["path"]).read_bytes() == b"GGUF eight"
    assert Path(answer["path"]).name == "m-Q8_0.gguf"
    assert not any("Q4_K_M" in request for request in hub.requests)


def test_split_model_brings_all_parts_side_by_side(hub, worker):
    hub.repos["o/split"] = {f"q/m-0000{i}-of-00003.gguf": bytes([i]) * 3000 for i in (1, 2, 3)}
    answer = worker("hf:o/split")
    first = Path(answer["path"])
    assert first.name == "m-00001-of-00003.gguf"
    for i in (1, 2, 3):
        assert (first.parent / f"m-0000{i}-of-00003.gguf").read_bytes() == bytes([i]) * 3000


def test_progress_runs_over_all_parts_to_1(hub, worker):
    hub.repos["o/progress"] = {f"m-0000{i}-of-00002.gguf": bytes([i]) * 50_000 for i in (1, 2)}
    calls = worker("hf:o/progress")["calls"]
    fractions = [fraction for _, fraction in calls]
    assert fractions == sorted(fractions)
    assert 0.5 in fractions
    assert fractions[-1] == 1.0
    assert calls[-1][0] == "download m-00002-of-00002.gguf (2 of 2)"


def test_revision_is_asked_for(hub, worker):
    hub.repos["o/history"] = {"m.gguf": b"GGUF"}
    assert "path" in worker(f"hf:o/history@{hub.commit('o/history')}")
    answer = worker("hf:o/history@v9")
    assert (answer["error"], "no revision 'v9'" in answer["message"]) == ("ModelNotFoundError", True)


def test_offline_finds_what_was_downloaded_before(hub, worker):
    hub.repos["o/offline"] = {"m-Q8_0.gguf": b"GGUF", "m-Q4_0.gguf": b"GGUF"}
    online = worker("hf:o/offline:Q8_0")
    hub.requests.clear()
    assert worker("hf:o/offline:Q8_0", offline=True)["path"] == online["path"]
    assert hub.requests == []


def test_offline_without_the_file_is_not_found_and_sends_nothing(hub, worker):
    hub.repos["o/partly"] = {"m-Q8_0.gguf": b"GGUF", "m-Q4_0.gguf": b"GGUF"}
    worker("hf:o/partly:Q8_0")
    hub.requests.clear()
    for name in ("hf:o/partly:Q4_0", "hf:o/never:Q4_0"):
        answer = worker(name, offline=True)
        assert answer["error"] == "ModelNotFoundError"
        assert "network is off limits" in answer["message"]
    assert hub.requests == []


def test_hub_that_is_down_falls_back_to_the_cache(hub, worker):
    hub.repos["o/down"] = {"m.gguf": b"GGUF"}
    online = worker("hf:o/down")
    hub.down = True
    assert worker("hf:o/down")["path"] == online["path"]
    answer = worker("hf:o/unseen")
    assert answer["error"] == "ModelNotFoundError"
    assert "503" in answer["message"]


def test_hub_that_cannot_be_reached_falls_back_to_the_cache(hub, worker, home):
    hub.repos["o/away"] = {"m.gguf": b"GGUF"}
    online = worker("hf:o/away")
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        cut_off = start_worker(f"http://127.0.0.1:{nobody_listens.getsockname()[1]}", home)
        asked = "".join(json.dumps({"name": n, "offline": False}) + "\n" for n in ("hf:o/away", "hf:o/x"))
        cached, unseen = (json.loads(line) for line in cut_off.communicate(asked, timeout=60)[0].splitlines())
    assert cached["path"] == online["path"]
    assert unseen["error"] == "ModelNotFoundError"
    assert "cannot be reached" in unseen["message"]


def test_unknown_repository_is_named(hub, worker):
    answer = worker("hf:o/nothing")
    assert answer["error"] == "ModelNotFoundError"
    assert "'o/nothing'" in answer["message"]


def test_gated_repository_tells_how_to_get_in(hub, worker):
    hub.gated.add("o/gated")
    answer = worker("hf:o/gated")
    assert answer["error"] == "ModelNotFoundError"
    assert "hf auth login" in answer["message"]


def test_name_that_is_no_repository_id_is_refused(hub, worker):
    answer = worker("hf:o/bad..name")
    assert answer["error"] == "ModelNotFoundError"
