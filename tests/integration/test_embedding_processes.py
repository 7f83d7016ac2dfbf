"""`LlamaEmbedding` across forks, pickles and the end of the interpreter."""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from llamaint import LlamaEmbedding, shared_embedding

Run = Callable[..., subprocess.CompletedProcess[str]]
PRELUDE = """
    import os, sys, threading, time, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    from llamaint import ForkedError, LlamaEmbedding
    model = LlamaEmbedding(sys.argv[1], n_threads=2)
    many = ["hello " * (1 + n % 60) for n in range(5000)]
"""


def test_pickle_loads_again_with_the_same_settings(tiny_bert: Path) -> None:
    model = LlamaEmbedding(tiny_bert, n_ctx=64, pooling="cls", n_threads=1)
    with model, pickle.loads(pickle.dumps(model)) as again:
        assert again is not model
        assert (again.max_tokens, again.pooling) == (64, "cls")
        np.testing.assert_allclose(again.embed("hello"), model.embed("hello"), atol=1e-3)


def test_shared_embedding_pickles_to_itself(tiny_bert: Path) -> None:
    with shared_embedding(tiny_bert, n_threads=1) as model:
        again = pickle.loads(pickle.dumps(model))
        assert again is model
        again.close()
        assert not model.closed


# In its first milliseconds the parent's thread fills tables of llama.cpp: a fork then once left the child waiting.
@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is a thing of POSIX")
@pytest.mark.parametrize("delay_s", [0, 0.0005, 0.001, 0.003, 0.01])
def test_a_forked_child_is_refused_loads_its_own_and_the_parent_goes_on(
    run_python: Run, tiny_bert: Path, delay_s: float
) -> None:
    done = run_python(
        PRELUDE
        + """
    threading.Thread(target=lambda: model.embed(many), daemon=True).start()
    time.sleep(float(sys.argv[2]))
    pid = os.fork()
    if pid == 0:
        for use in (lambda: model.embed("a"), lambda: model.count_tokens("a"), lambda: model.info):
            try:
                use()
            except ForkedError as error:
                assert error.numbers["pid"] == os.getppid()
            else:
                os._exit(3)
        model.close()
        with LlamaEmbedding(sys.argv[1], n_threads=1) as own:
            assert own.embed("hello").shape == (64,)
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert model.embed("hello").shape == (64,)
    print("fine")
    """,
        tiny_bert,
        delay_s,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "del model"])
def test_the_interpreter_ends_cleanly_with_a_request_running(run_python: Run, tiny_bert: Path, ending: str) -> None:
    done = run_python(
        PRELUDE
        + f"""
    def work():
        try:
            model.embed(many)
        except Exception as error:
            print(type(error).__name__)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while model.metrics()["decodes"] < 2:
        time.sleep(0.001)
    {ending}
    """,
        tiny_bert,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
