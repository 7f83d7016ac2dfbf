"""`LlamaEmbedding` on tiny models: texts, windows, threads, event loops, close."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from llamaint import (
    CancelledError,
    ClosedError,
    Llama,
    LlamaEmbedding,
    PromptTooLongError,
    UnsupportedError,
    shared_embedding,
)
from tests.support import tiny_models

WORD = "hello"  # one token of the tiny vocabularies
MANY = [f"{WORD} " * (1 + n % 60) for n in range(5000)]


@pytest.fixture(scope="module")
def bert(tiny_bert: Path) -> Iterator[LlamaEmbedding]:
    with LlamaEmbedding(tiny_bert, n_threads=2) as model:
        yield model


def test_the_word_of_these_tests_is_one_token(bert: LlamaEmbedding) -> None:
    assert bert.count_tokens(f"{WORD} {WORD} {WORD}") == bert.count_tokens(WORD) + 2 == 5


def test_an_empty_text_has_the_vector_of_its_special_tokens(bert: LlamaEmbedding) -> None:
    assert bert.count_tokens("") == 2
    vectors = bert.embed(["", WORD, ""])
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-3)
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)
    assert not np.allclose(vectors[0], vectors[1], atol=1e-2)


def test_a_text_of_the_whole_window_fits_and_a_longer_one_is_refused(bert: LlamaEmbedding) -> None:
    assert bert.max_tokens == 128
    assert bert.embed(f"{WORD} " * 126).shape == (64,)
    with pytest.raises(PromptTooLongError) as caught:
        bert.embed(["x", f"{WORD} " * 127])
    assert caught.value.numbers == {"index": 1, "n_prompt": 129, "n_ctx": 128}


def test_a_cut_text_keeps_its_final_special_token(bert: LlamaEmbedding) -> None:
    result = bert.embed_full([f"{WORD} " * 500, WORD], truncate=True)
    assert (result.n_tokens, result.truncated) == ((128, 3), (0,))
    np.testing.assert_allclose(result.vectors[0], bert.embed(f"{WORD} " * 126), atol=1e-3)


def test_special_tokens_written_in_a_text_are_only_text(bert: LlamaEmbedding) -> None:
    assert bert.tokenize("[SEP]")[1:-1] != [bert.tokenize("")[-1]]


def test_n_ctx_makes_the_window_smaller(tiny_bert: Path) -> None:
    with LlamaEmbedding(tiny_bert, n_ctx=10, n_threads=1) as model:
        assert model.max_tokens == 10
        with pytest.raises(PromptTooLongError):
            model.embed(f"{WORD} " * 9)


def test_info_tells_model_and_engine(bert: LlamaEmbedding) -> None:
    info = bert.info
    assert (info["arch"], info["pooling"], info["n_embd_out"], info["causal"]) == ("bert", "mean", 64, False)
    assert bert.metrics()["failed_decodes"] == 0


def test_a_chat_engine_and_an_embedding_engine_of_one_file_share_the_weights(tiny_llama: Path) -> None:
    with Llama(tiny_llama, n_ctx=256, n_threads=1) as llm, LlamaEmbedding(tiny_llama, n_threads=1) as model:
        assert llm._model is model._model
        assert model.pooling == "mean"
        assert model.embed("abc").shape == (64,)
        assert llm.complete("abc", max_tokens=2).text is not None


def test_a_reranker_and_a_bare_vocabulary_are_refused(tiny_bert: Path) -> None:
    with pytest.raises(UnsupportedError):
        LlamaEmbedding(tiny_models.bert_rerank())
    with pytest.raises(UnsupportedError):
        LlamaEmbedding(tiny_bert, vocab_only=True)


def test_shared_embedding_is_one_object_until_the_last_release(tiny_bert: Path) -> None:
    one, other = shared_embedding(tiny_bert, n_threads=1), shared_embedding(str(tiny_bert), n_threads=1)
    assert one is other
    one.close()
    assert other.embed(WORD).shape == (64,)
    other.close()
    assert other.closed
    with shared_embedding(tiny_bert, n_threads=1) as first, shared_embedding(tiny_bert, pooling="cls") as second:
        assert first is not second


def test_many_threads_get_their_own_vectors(bert: LlamaEmbedding) -> None:
    groups = [[f"{WORD} {chr(97 + n % 26)} " * (1 + k) for k in range(n % 5 + 1)] for n in range(32)]
    expected = [bert.embed(group) for group in groups]
    got: dict[int, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda n=n: got.__setitem__(n, bert.embed(groups[n]))) for n in range(len(groups))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, vectors in enumerate(expected):
        np.testing.assert_allclose(got[n], vectors, atol=2e-3)


def test_closing_ends_the_calls_of_other_threads(tiny_bert: Path) -> None:
    model = LlamaEmbedding(tiny_bert, n_threads=1)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            model.embed(MANY)
        except ClosedError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while model.metrics()["decodes"] < 2:
        time.sleep(0.001)
    model.close()
    for thread in threads:
        thread.join(30)
    assert len(errors) == 3


def test_concurrent_tasks_of_two_loops_get_their_own_vectors(bert: LlamaEmbedding) -> None:
    texts = [f"{WORD} " * n for n in range(1, 40)]
    expected = bert.embed(texts)
    failures: list[str] = []

    async def main() -> None:
        vectors = await asyncio.gather(*(bert.aembed(text) for text in texts))
        if not np.allclose(np.stack(vectors), expected, atol=2e-3):
            failures.append("different")

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_cancelling_a_task_cancels_the_request(tiny_bert: Path) -> None:
    async def main(model: LlamaEmbedding) -> None:
        task = asyncio.create_task(model.aembed(MANY))
        while model.metrics()["decodes"] < 2:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.aembed(WORD)
        assert model.metrics()["texts"] < len(MANY)

    with LlamaEmbedding(tiny_bert, n_threads=1) as model:
        asyncio.run(main(model))


def test_closing_ends_waiting_tasks(tiny_bert: Path) -> None:
    async def main() -> None:
        model = LlamaEmbedding(tiny_bert, n_threads=1)
        tasks = [asyncio.create_task(model.aembed(MANY)) for _ in range(2)]
        while model.metrics()["decodes"] < 2:
            await asyncio.sleep(0.001)
        await model.aclose()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [ClosedError, ClosedError]

    asyncio.run(main())


def test_a_dropped_handle_is_cancelled(bert: LlamaEmbedding) -> None:
    from llamaint.engine.embed_handle import EmbedRequestHandle

    handle = EmbedRequestHandle(bert._guard, [bert.tokenize(text) for text in MANY])
    handle.cancel()
    with pytest.raises(CancelledError):
        handle.result()


def test_load_and_close_leave_no_thread(tiny_bert: Path) -> None:
    def n_threads() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    if not Path("/proc/self/task").exists():
        pytest.skip("counts threads under /proc")
    with LlamaEmbedding(tiny_bert, n_threads=2) as model:
        model.embed(WORD)
    before = n_threads()
    for _ in range(10):
        with LlamaEmbedding(tiny_bert, n_threads=2) as model:
            model.embed(MANY[:50])
    assert n_threads() <= before
