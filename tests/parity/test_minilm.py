"""all-MiniLM-L6-v2 against transformers: stored vectors, made by tools/parity/minilm_reference.py."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from llamaint import LlamaEmbedding, _native
from tests.support.embed_engines import cosines

REFERENCE = Path(__file__).parent / "data" / "minilm_reference.npz"
LEAST_COSINE = 0.9999


@dataclass(frozen=True)
class Reference:
    names: list[str]
    texts: list[str]
    ids: list[list[int]]
    vectors: npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def reference() -> Reference:
    with np.load(REFERENCE) as stored:
        ends = np.cumsum(stored["n_tokens"])[:-1]
        return Reference(
            names=stored["names"].tolist(),
            texts=stored["texts_utf8"].tobytes().decode().split("\x1e"),
            ids=[ids.tolist() for ids in np.split(stored["ids"], ends)],
            vectors=stored["vectors"],
        )


@pytest.fixture(scope="module")
def model(minilm: Path) -> Iterator[LlamaEmbedding]:
    with LlamaEmbedding(minilm) as opened:
        yield opened


def worst(reference: Reference, order: list[int], vectors: npt.NDArray[np.float32]) -> tuple[float, str]:
    found = cosines(vectors, reference.vectors[order])
    at = int(found.argmin())
    return float(found[at]), reference.names[order[at]]


def test_the_reference_covers_2_to_512_tokens_and_more_than_ascii(reference: Reference) -> None:
    lengths = {len(ids) for ids in reference.ids}
    assert {2, 3, 512} <= lengths
    assert len(lengths) >= 24
    assert sum(not text.isascii() for text in reference.texts) >= 9


def test_every_text_alone_has_the_reference_vector(model: LlamaEmbedding, reference: Reference) -> None:
    vectors = np.stack([model.embed(text) for text in reference.texts])
    cosine, name = worst(reference, list(range(len(reference.texts))), vectors)
    assert cosine >= LEAST_COSINE, name


@pytest.mark.parametrize("seed", range(3))
def test_all_texts_in_one_batch_in_any_order_have_the_reference_vectors(
    model: LlamaEmbedding, reference: Reference, seed: int
) -> None:
    order = random.Random(seed).sample(range(len(reference.texts)), len(reference.texts))
    cosine, name = worst(reference, order, model.embed([reference.texts[index] for index in order]))
    assert cosine >= LEAST_COSINE, name


@pytest.mark.parametrize("pack_tokens", [1, 64, 2048])
def test_the_packing_does_not_change_the_vectors(minilm: Path, reference: Reference, pack_tokens: int) -> None:
    with LlamaEmbedding(minilm, pack_tokens=pack_tokens, n_ubatch=2048) as model:
        cosine, name = worst(reference, list(range(len(reference.texts))), model.embed(reference.texts))
    assert cosine >= LEAST_COSINE, name


@pytest.mark.parametrize("flash_attn", ["on", "off"])
def test_both_kinds_of_attention_agree_with_the_reference(minilm: Path, reference: Reference, flash_attn: str) -> None:
    with LlamaEmbedding(minilm, flash_attn=flash_attn) as model:
        cosine, name = worst(reference, list(range(len(reference.texts))), model.embed(reference.texts))
    assert cosine >= LEAST_COSINE, name


def test_the_tokens_are_those_of_transformers(model: LlamaEmbedding, reference: Reference) -> None:
    different = [
        name
        for name, text, ids in zip(reference.names, reference.texts, reference.ids, strict=True)
        if model.tokenize(text) != ids
    ]
    assert different == []


def test_token_ids_of_transformers_give_its_vectors_without_our_tokenizer(minilm: Path, reference: Reference) -> None:
    native = _native.Model.load(str(minilm), _native.ModelParams())
    engine = _native.EmbedEngine(native, _native.EmbedParams())
    cosine, name = worst(reference, list(range(len(reference.ids))), engine.submit(reference.ids).result())
    engine.close()
    assert cosine >= LEAST_COSINE, name
