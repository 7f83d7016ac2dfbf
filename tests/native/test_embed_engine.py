"""The embedding engine: what comes out does not depend on how texts were packed, ordered or cut."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from llamaint import _native
from tests.support import tiny_models
from tests.support.embed_engines import EXACT, open_engine, random_texts

# ggml looks GELU up in a table of half-precision values, so a bit of difference before it becomes 1e-4 after it.
ENCODERS = {"bert_mean": 1e-3, "bert_cls": 1e-3, "nomic_bert": 1e-4, "gemma_embedding": 1e-3}
CAUSAL = ("llama", "qwen3", "qwen3_embedding", "gemma3", "qwen35", "mamba")


def path_of(name: str) -> Path:
    return getattr(tiny_models, name)()


@pytest.fixture(scope="module")
def bert() -> Iterator[tuple[_native.Model, _native.EmbedEngine]]:
    model, engine = open_engine(tiny_models.bert_mean(), n_threads=2)
    yield model, engine
    engine.close()


@pytest.mark.parametrize(("name", "tolerance"), ENCODERS.items())
def test_a_text_alone_and_among_others_has_the_same_vector(name: str, tolerance: float) -> None:
    model, engine = open_engine(path_of(name), n_threads=2, **EXACT)
    longest = engine.info()["max_tokens"]
    texts = random_texts(model.info()["n_vocab"], [1, 2, 3, 7, 31, 64, 65, longest - 1, longest] * 4)
    alone = np.concatenate([engine.submit([text]).result() for text in texts])
    together = engine.submit(texts).result()
    np.testing.assert_allclose(together, alone, atol=tolerance)
    engine.close()


@pytest.mark.parametrize("name", CAUSAL)
def test_a_causal_text_alone_and_among_others_has_the_same_vector(name: str) -> None:
    model, engine = open_engine(path_of(name), pooling="mean", n_ctx=512, n_ubatch=64, **EXACT)
    texts = random_texts(model.info()["n_vocab"], [1, 2, 40, 512, 64, 65, 300, 5] * 6)
    alone = np.concatenate([engine.submit([text]).result() for text in texts])
    together = engine.submit(texts).result()
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-4)
    engine.close()


def test_the_order_of_texts_is_kept(bert: tuple[_native.Model, _native.EmbedEngine]) -> None:
    model, engine = bert
    texts = random_texts(model.info()["n_vocab"], [5, 100, 1, 30, 77, 2, 128, 9] * 8)
    forward = engine.submit(texts).result()
    backward = engine.submit(texts[::-1]).result()
    np.testing.assert_allclose(backward[::-1], forward, atol=1e-3)
    assert not np.allclose(forward[0], forward[1], atol=1e-1)


@pytest.mark.parametrize("pooling", ["mean", "last", "cls"])
@pytest.mark.parametrize("name", CAUSAL)
def test_the_result_does_not_depend_on_the_chunks(name: str, pooling: str) -> None:
    lengths = [1, 15, 16, 17, 33, 200, 511, 512]
    vectors = {}
    for n_ubatch in (16, 17, 64, 512):
        model, engine = open_engine(path_of(name), pooling=pooling, n_ctx=512, n_ubatch=n_ubatch, **EXACT)
        vectors[n_ubatch] = engine.submit(random_texts(model.info()["n_vocab"], lengths)).result()
        engine.close()
    for n_ubatch in (16, 17, 64):
        np.testing.assert_allclose(vectors[n_ubatch], vectors[512], rtol=1e-4, atol=1e-4)


def test_pooling_last_is_the_last_row_however_it_was_planned() -> None:
    """A few rows are evaluated in one decode, many in one without outputs and one of last tokens."""
    lengths = [3, 30, 33, 100]
    model, rows_engine = open_engine(tiny_models.qwen3(), pooling="none", **EXACT)
    texts = random_texts(model.info()["n_vocab"], lengths)
    rows = rows_engine.submit(texts).result()
    _, last_engine = open_engine(tiny_models.qwen3(), pooling="last", **EXACT)
    together = last_engine.submit(texts).result()
    alone = [last_engine.submit([text]).result()[0] for text in texts]
    for index in range(len(texts)):
        np.testing.assert_allclose(together[index], rows[index][-1], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(alone[index], rows[index][-1], rtol=1e-4, atol=1e-4)


def test_pooling_none_gives_one_array_per_text() -> None:
    model, engine = open_engine(tiny_models.bert_mean(), pooling="none", n_threads=2)
    texts = random_texts(model.info()["n_vocab"], [3, 1, 50])
    rows = engine.submit(texts).result()
    assert [row.shape for row in rows] == [(3, 64), (1, 64), (50, 64)]
    assert all(row.dtype == np.float32 for row in rows)
    _, pooled = open_engine(tiny_models.bert_mean(), pooling="mean")
    means = np.stack([row.mean(axis=0) for row in rows])
    np.testing.assert_allclose(pooled.submit(texts).result(), means, atol=1e-3)


def test_no_texts_give_an_empty_array(bert: tuple[_native.Model, _native.EmbedEngine]) -> None:
    handle = bert[1].submit([])
    assert handle.wait(0)
    assert handle.result().shape == (0, 64)


def test_texts_without_tokens_give_zeros_and_do_not_disturb_the_others(
    bert: tuple[_native.Model, _native.EmbedEngine],
) -> None:
    model, engine = bert
    (text,) = random_texts(model.info()["n_vocab"], [12])
    expected = engine.submit([text]).result()[0]
    vectors = engine.submit([[], text, [], [], text, []]).result()
    np.testing.assert_array_equal(vectors[[0, 2, 3, 5]], 0)
    np.testing.assert_allclose(vectors[[1, 4]], [expected, expected], atol=1e-3)
    assert not engine.submit([[], []]).result().any()


def test_a_text_of_the_window_fits_and_one_token_more_is_refused(
    bert: tuple[_native.Model, _native.EmbedEngine],
) -> None:
    model, engine = bert
    fits, long = random_texts(model.info()["n_vocab"], [128, 129])
    assert np.isfinite(engine.submit([fits]).result()).all()
    with pytest.raises(_native.NativeError) as caught:
        engine.submit([fits, long])
    assert caught.value.code == "prompt_too_long"
    assert caught.value.numbers == {"index": 1, "n_prompt": 129, "n_ctx": 128}


@pytest.mark.parametrize("token", [-1, 10**6])
def test_a_token_outside_the_vocabulary_is_refused(bert: tuple[_native.Model, _native.EmbedEngine], token: int) -> None:
    with pytest.raises(_native.NativeError) as caught:
        bert[1].submit([[1, token]])
    assert caught.value.code == "invalid_batch"


def test_a_longer_text_than_the_first_context_makes_it_grow() -> None:
    model, engine = open_engine(tiny_models.llama(), pooling="mean", n_ctx=4096, n_ubatch=512, **EXACT)
    short, long = random_texts(model.info()["n_vocab"], [10, 3000])
    before = engine.submit([short]).result()
    assert engine.metrics()["grown_contexts"] == 0
    assert np.isfinite(engine.submit([long, short]).result()).all()
    assert engine.metrics()["grown_contexts"] == 1
    np.testing.assert_allclose(engine.submit([short]).result(), before, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "asked", "resolved"),
    [
        ("bert_mean", "auto", "mean"),
        ("bert_cls", "auto", "cls"),
        ("qwen3_embedding", "auto", "last"),
        ("llama", "auto", "mean"),
        ("llama", "last", "last"),
        ("bert_rerank", "cls", "cls"),
    ],
)
def test_auto_takes_the_pooling_of_the_file_and_mean_without_one(name: str, asked: str, resolved: str) -> None:
    _, engine = open_engine(path_of(name), pooling=asked, n_ctx=128)
    assert engine.info()["pooling"] == resolved


def test_a_reranker_has_no_embeddings_unless_a_pooling_is_named() -> None:
    with pytest.raises(_native.NativeError) as caught:
        open_engine(tiny_models.bert_rerank())
    assert caught.value.code == "unsupported"


def test_a_window_beyond_the_position_table_is_refused() -> None:
    with pytest.raises(_native.NativeError) as caught:
        open_engine(tiny_models.bert_mean(), n_ctx=129)
    assert caught.value.code == "config"
    assert caught.value.numbers == {"n_ctx": 129, "n_ctx_train": 128}


def test_an_unknown_pooling_is_refused() -> None:
    with pytest.raises(_native.NativeError) as caught:
        open_engine(tiny_models.bert_mean(), pooling="max")
    assert caught.value.code == "config"


def test_texts_of_several_jobs_share_decodes(bert: tuple[_native.Model, _native.EmbedEngine]) -> None:
    model, engine = open_engine(tiny_models.bert_mean(), n_threads=1)
    blocker = engine.submit(random_texts(model.info()["n_vocab"], [128] * 200))
    handles = [engine.submit(random_texts(model.info()["n_vocab"], [4], seed=n)) for n in range(50)]
    for handle in (blocker, *handles):
        handle.result()
    assert engine.metrics()["decodes"] < 200 + 50


def test_a_short_job_does_not_wait_for_a_long_one() -> None:
    model, engine = open_engine(tiny_models.bert_mean(), n_threads=1)
    long_job = engine.submit(random_texts(model.info()["n_vocab"], [100] * 5000))
    short_job = engine.submit(random_texts(model.info()["n_vocab"], [5]))
    short_job.result()
    assert not long_job.wait(0)
    long_job.cancel()
    engine.close()


def test_results_are_writable_and_outlive_the_engine() -> None:
    model, engine = open_engine(tiny_models.bert_mean())
    vectors = engine.submit(random_texts(model.info()["n_vocab"], [5, 6])).result()
    engine.close()
    del engine, model
    vectors *= 2
    assert math.isfinite(float(vectors.sum()))
