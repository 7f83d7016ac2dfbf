"""`LlamaEmbedding` over deterministic vectors: inputs, shapes, truncation, OpenAI's shape, lifecycle."""

from __future__ import annotations

import asyncio
import base64
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

from llamaint import ClosedError, ConfigError, PromptTooLongError, RequestError
from llamaint.testing import FakeEmbedding

TEXTS = ["the cat sat", "a dog", "", "the cat sat"]


@pytest.fixture
def model() -> Iterator[FakeEmbedding]:
    with FakeEmbedding(n_ctx=8) as fake:
        yield fake


def test_one_text_gives_one_dimension_and_a_list_two(model: FakeEmbedding) -> None:
    assert model.embed("the cat sat").shape == (64,)
    assert model.embed(["the cat sat"]).shape == (1, 64)
    assert model.embed([]).shape == (0, 64)


def test_vectors_come_in_the_order_of_the_texts(model: FakeEmbedding) -> None:
    vectors = model.embed(TEXTS)
    for index, text in enumerate(TEXTS):
        np.testing.assert_array_equal(vectors[index], model.embed(text))


def test_generators_tuples_and_numpy_strings_are_texts(model: FakeEmbedding) -> None:
    expected = model.embed(TEXTS)
    for texts in ((text for text in TEXTS), tuple(TEXTS), np.array(TEXTS)):
        np.testing.assert_array_equal(model.embed(texts), expected)


@pytest.mark.parametrize("texts", [None, 5, b"bytes", {"a": 1}])
def test_what_is_no_text_is_a_type_error(model: FakeEmbedding, texts: object) -> None:
    with pytest.raises(TypeError, match="texts must be"):
        model.embed(texts)


@pytest.mark.parametrize("item", [None, 5, b"bytes", ["nested"]])
def test_an_item_that_is_no_text_is_a_type_error_with_its_index(model: FakeEmbedding, item: object) -> None:
    with pytest.raises(TypeError, match=r"texts\[1\] must be a str"):
        model.embed(["fine", item])


def test_a_lone_surrogate_is_refused(model: FakeEmbedding) -> None:
    with pytest.raises(RequestError, match=r"texts\[1\] holds a lone surrogate"):
        model.embed(["fine", "\ud800"])


def test_a_text_too_long_is_refused_with_its_numbers(model: FakeEmbedding) -> None:
    long = "one two three four five six seven eight nine"
    with pytest.raises(PromptTooLongError) as caught:
        model.embed(["short", long])
    assert caught.value.numbers == {"index": 1, "n_prompt": model.count_tokens(long), "n_ctx": 8}


def test_truncation_cuts_the_end_and_says_which(model: FakeEmbedding) -> None:
    long = "one two three four five six seven eight nine"
    result = model.embed_full(["short", long, long], truncate=True)
    assert result.truncated == (1, 2)
    assert result.n_tokens == (model.count_tokens("short"), 8, 8)
    np.testing.assert_array_equal(result.vectors[1], result.vectors[2])


def test_nothing_is_truncated_that_fits(model: FakeEmbedding) -> None:
    assert model.embed_full(TEXTS, truncate=True).truncated == ()


def test_normalisation_is_as_asked(model: FakeEmbedding) -> None:
    assert np.linalg.norm(model.embed("the cat")) == pytest.approx(1, abs=1e-6)
    raw = model.embed("the cat", normalize=False)
    assert np.linalg.norm(raw) > 1.5
    np.testing.assert_allclose(model.embed("the cat", normalize=1), raw / np.abs(raw).sum(), rtol=1e-6)
    with pytest.raises(RequestError, match="normalize"):
        model.embed("the cat", normalize=0.5)


def test_async_gives_the_same(model: FakeEmbedding) -> None:
    async def main() -> None:
        np.testing.assert_array_equal(await model.aembed(TEXTS), model.embed(TEXTS))
        np.testing.assert_array_equal(await model.aembed("a dog"), model.embed("a dog"))
        many = ["the cat sat"] * 3000
        np.testing.assert_array_equal(await model.aembed(many), model.embed(many))
        assert (await model.aembed_full(TEXTS)).n_tokens == model.embed_full(TEXTS).n_tokens

    asyncio.run(main())


def test_pooling_none_gives_one_array_per_text() -> None:
    with FakeEmbedding(pooling="none") as model:
        rows = model.embed(["the cat", "the"])
        assert isinstance(rows, tuple)
        assert [row.shape for row in rows] == [(model.count_tokens("the cat"), 64), (1, 64)]
        np.testing.assert_array_equal(model.embed("the cat"), rows[0])
        assert len(model.create_embedding("the cat")["data"][0]["embedding"]) == len(rows[0])


def test_openai_shape(model: FakeEmbedding) -> None:
    answer = model.create_embedding(["the cat", "a dog"], model="asked")
    assert answer["object"] == "list"
    assert answer["model"] == "asked"
    assert [item["index"] for item in answer["data"]] == [0, 1]
    np.testing.assert_allclose([item["embedding"] for item in answer["data"]], model.embed(["the cat", "a dog"]))
    n_tokens = model.count_tokens("the cat") + model.count_tokens("a dog")
    assert answer["usage"] == {"prompt_tokens": n_tokens, "total_tokens": n_tokens}


def test_openai_base64_is_little_endian_float32(model: FakeEmbedding) -> None:
    (item,) = model.create_embedding("the cat", encoding_format="base64")["data"]
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(item["embedding"]), "<f4"), model.embed("the cat"))
    with pytest.raises(RequestError, match="encoding_format"):
        model.create_embedding("the cat", encoding_format="hex")


def test_a_closed_model_refuses(model: FakeEmbedding) -> None:
    model.close()
    model.close()
    assert model.closed
    for call in (lambda: model.embed("x"), lambda: model.count_tokens("x"), lambda: model.info):
        with pytest.raises(ClosedError):
            call()
    with pytest.raises(ClosedError):
        asyncio.run(model.aembed("x"))


def test_with_blocks_close() -> None:
    async def main() -> FakeEmbedding:
        async with FakeEmbedding() as model:
            await model.aembed("x")
        return model

    assert asyncio.run(main()).closed


def test_pickling_makes_another_from_the_same_arguments(model: FakeEmbedding) -> None:
    other = pickle.loads(pickle.dumps(model))
    assert other.max_tokens == 8
    np.testing.assert_array_equal(other.embed(TEXTS), model.embed(TEXTS))


@pytest.mark.parametrize("settings", [{"pooling": "max"}, {"n_ctx": -1}, {"pack_tokens": 0}, {"n_threads": 0}])
def test_a_setting_that_cannot_work_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        FakeEmbedding(**settings)


def test_an_unknown_setting_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="pooling_type"):
        FakeEmbedding(pooling_type="mean")
