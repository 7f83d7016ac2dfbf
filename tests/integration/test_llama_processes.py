"""Forks, pickles, signals and the end of the interpreter."""

from __future__ import annotations

import os
import pickle

import pytest

from llamaint import Llama, shared_llama

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is a thing of POSIX")
PRELUDE = """
    import asyncio, os, pickle, signal, sys, threading, time, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    from llamaint import ClosedError, ForkedError, Llama, TextDelta, shared_llama
    path = sys.argv[1]
"""


def test_pickle_loads_again_with_the_same_settings(cycle_llama):
    with Llama(cycle_llama, n_ctx=512, n_parallel=2, n_threads=1) as llm, pickle.loads(pickle.dumps(llm)) as again:
        assert again is not llm
        assert (again.info["n_ctx"], again.info["n_parallel"]) == (llm.info["n_ctx"], 2)
        assert again.complete("abc", max_tokens=3, temperature=0).text == "def"


def test_shared_llama_is_one_object_and_pickles_to_itself(cycle_llama):
    with shared_llama(str(cycle_llama), n_ctx=512, n_threads=1) as llm:
        again = pickle.loads(pickle.dumps(llm))
        assert again is llm
        again.close()
        assert llm.complete("abc", max_tokens=3, temperature=0).text == "def"
    assert llm.closed


def test_two_engines_of_one_file_share_its_weights(cycle_llama):
    with Llama(cycle_llama, n_ctx=512, n_threads=1) as one, Llama(cycle_llama, n_ctx=256, n_threads=1) as other:
        assert one._model is other._model


@needs_fork
def test_forked_child_is_refused_loads_its_own_and_the_parent_goes_on(run_python, cycle_llama):
    done = run_python(
        PRELUDE
        + """
    llm = shared_llama(path, n_ctx=512, n_threads=1)
    stream = llm.complete_stream("abc", max_tokens=200, temperature=0)
    first = next(stream).text
    pid = os.fork()
    if pid == 0:
        for use in (lambda: llm.complete("abc"), lambda: next(stream), lambda: llm.tokenize("abc"), lambda: llm.info):
            try:
                use()
            except ForkedError as error:
                assert error.numbers["pid"] == os.getppid()
            else:
                sys.exit(3)
        again = shared_llama(path, n_ctx=512, n_threads=1)
        assert again is not llm
        assert again.complete("abc", max_tokens=3, temperature=0).text == "def"
        assert pickle.loads(pickle.dumps(llm)) is again
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    text = first + "".join(e.text for e in stream if isinstance(e, TextDelta))
    assert text == ("defghijklmnopabc" * 13)[:200], text
    print("parent ok")
    """,
        cycle_llama,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "parent ok", "")


def test_pool_of_spawned_processes_loads_its_own(run_python, cycle_llama, tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        "import multiprocessing as mp, sys\n"
        "from llamaint import Llama\n"
        "def ask(llm):\n"
        "    return llm.complete('abc', max_tokens=3, temperature=0).text\n"
        "if __name__ == '__main__':\n"
        "    llm = Llama(sys.argv[1], n_ctx=512, n_threads=1)\n"
        "    with mp.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(ask, [llm]))\n"
    )
    done = run_python(
        "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')",
        script,
        cycle_llama,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "['def']"), done.stderr


def test_interpreter_exit_with_requests_running_is_clean(run_python, cycle_llama):
    done = run_python(
        PRELUDE
        + """
    llm = Llama(path, n_threads=1)
    stream = llm.complete_stream("abc", temperature=0)
    next(stream)
    other = llm.complete_stream("abc", temperature=0, logits_processors=[lambda tokens, row: None])
    next(other)
    async def main():
        async for _ in llm.acomplete_stream("abc", temperature=0):
            break
    asyncio.run(main())
    """,
        cycle_llama,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_fork
def test_ctrl_c_interrupts_a_waiting_call_and_cancels_its_request(run_python, cycle_llama):
    done = run_python(
        PRELUDE
        + """
    llm = Llama(path, n_threads=1)
    slow = [lambda tokens, row: time.sleep(0.05)]
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    try:
        llm.complete("abc", temperature=0, logits_processors=slow)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - started < 5)
    while llm.metrics()["finished_cancelled"] < 1:
        time.sleep(0.01)
    print(llm.complete("abc", max_tokens=3, temperature=0).text)
    """,
        cycle_llama,
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["interrupted", "True", "def"], "")


def test_loading_and_answering_writes_nothing_to_the_console(run_python, cycle_llama):
    done = run_python(
        """
    import sys
    from llamaint import Llama
    with Llama(sys.argv[1], n_threads=1) as llm:
        llm.complete("abc", max_tokens=3)
        llm.chat([{"role": "user", "content": "abc"}], max_tokens=3)
    """,
        cycle_llama,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_native_log_reaches_logging_when_asked_for(run_python, cycle_llama):
    done = run_python(
        """
    import logging, sys
    logging.basicConfig(level=logging.DEBUG, format="%(name)s %(message)s", stream=sys.stdout)
    from llamaint import Llama
    Llama(sys.argv[1], n_threads=1).close()
    """,
        cycle_llama,
    )
    assert done.returncode == 0
    assert any(
        line.startswith("llamaint.native") and "general.architecture" in line for line in done.stdout.splitlines()
    )
