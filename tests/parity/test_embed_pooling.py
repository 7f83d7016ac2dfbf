"""Our pooling of single rows against llama.cpp's own, asked from its server."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import tiny_models
from tests.support.embed_engines import EXACT, open_engine, random_texts
from tests.support.llama_server import LlamaServer

# Largest difference of a value; the values are of the order of 1. ggml's GELU rounds to half precision.
TOLERANCES = {
    "llama": 1e-5,
    "qwen3": 1e-5,
    "qwen3_embedding": 1e-5,
    "gemma3": 1e-4,
    "qwen35": 1e-4,
    "mamba": 1e-4,
    "bert_mean": 1e-3,
    "nomic_bert": 1e-4,
    "gemma_embedding": 1e-3,
}


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
@pytest.mark.parametrize(("name", "tolerance"), TOLERANCES.items())
def test_a_text_in_one_piece_has_llama_cpps_own_pooled_vector(name: str, tolerance: float, pooling: str) -> None:
    path = getattr(tiny_models, name)()
    model, engine = open_engine(path, pooling=pooling, n_ctx=128, **EXACT)
    texts = random_texts(model.info()["n_vocab"], [2, 40])
    ours = engine.submit(texts).result()
    engine.close()
    cache = ["--cache-type-k", "f32", "--cache-type-v", "f32"]
    extra = ["--embeddings", "--pooling", pooling, *cache]
    with LlamaServer(path, n_ctx=128, n_threads=1, flash_attn="off", extra=extra) as server:
        for text, vector in zip(texts, ours, strict=True):
            body = {"content": text, "embd_normalize": -1}
            theirs = np.array(server.post("/embedding", body)[0]["embedding"][0], np.float32)
            np.testing.assert_allclose(vector, theirs, atol=tolerance)
