"""Nothing leaks and nothing is left behind. Each case runs in a subprocess that prints what it measured."""

import json
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.native]

_LOAD_CLOSE = """
import gc, json, sys, threading
import psutil
from llamaint import Llama
path, n = sys.argv[1], int(sys.argv[2])
rss = []
for i in range(n):
    with Llama(path, n_ctx=256, n_parallel=2, n_threads=1) as llm:
        llm.complete("ab", max_tokens=2, temperature=0.0)
    if i >= n // 4 and i % 5 == 0:
        gc.collect()
        rss.append(psutil.Process().memory_info().rss / 1024)
xs = range(len(rss))
mean_x, mean_y = sum(xs) / len(rss), sum(rss) / len(rss)
slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, rss)) / sum((x - mean_x) ** 2 for x in xs) / 5
left = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
print(json.dumps({"slope_kib_per_cycle": slope, "rss_mib": rss[-1] / 1024, "threads": left,
                  "native_threads": psutil.Process().num_threads()}))
"""

_CANCELS = """
import gc, json, random, sys, threading
import psutil
from llamaint import Llama, errors
path, n = sys.argv[1], int(sys.argv[2])
llm = Llama(path, n_ctx=1024, n_parallel=8, n_threads=1)
rss, outcomes, lock = [], {}, threading.Lock()
def work(seed):
    rnd = random.Random(seed)
    for i in range(n // 8):
        prompt = [rnd.randrange(32, 120) for _ in range(rnd.choice([1, 5, 40, 200]))]
        stop_after = rnd.choice([0, 1, 3, 10**9])
        try:
            stream = llm.complete_stream(prompt, max_tokens=rnd.choice([1, 8, 24]), temperature=1.0, seed=i,
                                         timeout=rnd.choice([None, None, 0.01]))
            for k, event in enumerate(stream):
                if k >= stop_after:
                    break
            stream.close()
            outcome = "ended"
        except errors.CancelledError:
            outcome = "deadline"
        with lock:
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            if seed == 0 and i >= n // 32 and i % 10 == 0:
                gc.collect()
                rss.append(psutil.Process().memory_info().rss / 1024)
threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
def probe(llm):
    return llm.complete([97, 98, 99], max_tokens=8, temperature=0.0, cache_prompt=False).choices[0].tokens
again = [probe(llm), probe(llm)]
metrics = llm.metrics()
llm.close()
with Llama(path, n_ctx=1024, n_parallel=8, n_threads=1) as fresh:
    alone = probe(fresh)
xs = range(len(rss))
mean_x, mean_y = sum(xs) / len(rss), sum(rss) / len(rss)
slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, rss)) / sum((x - mean_x) ** 2 for x in xs) / 80
print(json.dumps({"slope_kib_per_request": slope, "outcomes": outcomes, "running": metrics["running"],
                  "waiting": metrics["waiting"], "same_afterwards": again == [alone, alone]}))
"""

_EXIT_BUSY = """
import contextlib, sys, threading
from llamaint import Llama, errors
llm = Llama(sys.argv[1], n_ctx=4096, n_parallel=2, n_threads=1)
stream = llm.complete_stream([97, 98], max_tokens=4000, ignore_eos=True)
next(stream)
if sys.argv[2] == "thread":
    def read():
        with contextlib.suppress(errors.ClosedError):
            list(stream)
    threading.Thread(target=read, daemon=True).start()
print("left")
"""


def run(code: str, *args: str) -> str:
    """Standard output of the program; its exit code must be 0 and its standard error empty."""
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr == ""
    return done.stdout


def test_two_hundred_loads_leave_memory_flat_and_no_thread(tiny_llama):
    report = json.loads(run(_LOAD_CLOSE, str(tiny_llama), "200"))
    print(report)
    assert abs(report["slope_kib_per_cycle"]) < 16
    assert not [name for name in report["threads"] if "llamaint" in name and "log" not in name]
    assert report["native_threads"] <= 4


def test_two_thousand_requests_with_random_cancels_leave_no_trace(tiny_llama):
    report = json.loads(run(_CANCELS, str(tiny_llama), "2000"))
    print(report)
    assert sum(report["outcomes"].values()) == 2000
    assert report["running"] == report["waiting"] == 0
    assert report["same_afterwards"]
    assert report["slope_kib_per_request"] < 2


@pytest.mark.parametrize("how", ["main", "thread"])
def test_the_interpreter_exits_cleanly_while_a_request_runs(tiny_llama, how):
    assert run(_EXIT_BUSY, str(tiny_llama), how) == "left\n"
