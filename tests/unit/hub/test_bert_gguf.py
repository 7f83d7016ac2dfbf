"""BERT checkpoints become GGUFs: the right bytes, the same each time, and clear errors."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader

from llamaint import ModelLoadError, ModelNotFoundError, UnsupportedError
from llamaint.hub._safetensors_gguf import write_bert_gguf

CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 12,
    "type_vocab_size": 2,
    "vocab_size": 10,
    "layer_norm_eps": 1e-12,
}
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##s", "\u2028"]


def tensors(config: dict[str, object] = CONFIG) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    e, f = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], e),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], e),
        "embeddings.token_type_embeddings.weight": (2, e),
        "embeddings.LayerNorm.weight": (e,),
        "embeddings.LayerNorm.bias": (e,),
        "pooler.dense.weight": (e, e),
    }
    for layer in range(config["num_hidden_layers"]):
        for name, rows, columns in (
            ("attention.self.query", e, e),
            ("attention.self.key", e, e),
            ("attention.self.value", e, e),
            ("attention.output.dense", e, e),
            ("intermediate.dense", f, e),
            ("output.dense", e, f),
        ):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (rows, columns)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (rows,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (e,)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (e,)
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def safetensors(arrays: dict[str, np.ndarray], dtype: str = "F32") -> bytes:
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        data = {
            "F32": lambda a: a.astype("<f4").tobytes(),
            "F16": lambda a: a.astype("<f2").tobytes(),
            "BF16": lambda a: (a.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes(),
        }[dtype](array)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    ids = np.arange(12, dtype="<i8").tobytes()
    header["embeddings.position_ids"] = {
        "dtype": "I64",
        "shape": [1, 12],
        "data_offsets": [len(body), len(body) + len(ids)],
    }
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body + ids


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(safetensors(tensors()))
    (folder / "vocab.txt").write_text("\n".join(VOCAB) + "\n", encoding="utf-8", newline="")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    modules = [{"path": "", "type": "x.Transformer"}, {"path": "1_Pooling", "type": "x.Pooling"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    pooling = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


def write(source: Path, **options: object) -> Path:
    return write_bert_gguf(source, source.parent / "out.gguf", name="test", **options)


def field(path: Path, key: str) -> object:
    return GGUFReader(path).fields[key].contents()


def change(source: Path, name: str, **values: object) -> None:
    path = source / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_metadata_is_that_of_llama_cpps_converter(source: Path) -> None:
    path = write(source, license_id="mit")
    expected = {
        "general.architecture": "bert",
        "general.name": "test",
        "general.license": "mit",
        "general.file_type": 1,
        "bert.block_count": 2,
        "bert.context_length": 12,
        "bert.embedding_length": 8,
        "bert.feed_forward_length": 16,
        "bert.attention.head_count": 2,
        "bert.attention.causal": False,
        "bert.pooling_type": 1,
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.tokens": [*VOCAB[:5], "\u2581the", "s", "\u2581\u2028", "[PAD8]", "[PAD9]"],
        "tokenizer.ggml.token_type": [3] * 5 + [1] * 3 + [5] * 2,
        "tokenizer.ggml.bos_token_id": 2,
        "tokenizer.ggml.seperator_token_id": 3,
        "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.ggml.mask_token_id": 4,
        "tokenizer.ggml.normalizer.lowercase": True,
        "tokenizer.ggml.normalizer.strip_accents": True,
    }
    assert {key: field(path, key) for key in expected} == expected


@pytest.mark.parametrize(("file_type", "tolerance"), [("f32", 0), ("f16", 1e-2)])
def test_tensors_keep_their_values(source: Path, file_type: str, tolerance: float) -> None:
    written = {tensor.name: tensor.data for tensor in GGUFReader(write(source, file_type=file_type)).tensors}
    given = tensors()
    assert len(written) == 5 + 2 * 16
    assert "pooler" not in " ".join(written)
    for ours, theirs in (
        ("token_embd.weight", "embeddings.word_embeddings.weight"),
        ("blk.1.ffn_up.weight", "encoder.layer.1.intermediate.dense.weight"),
        ("blk.0.attn_output_norm.bias", "encoder.layer.0.attention.output.LayerNorm.bias"),
        ("blk.1.layer_output_norm.weight", "encoder.layer.1.output.LayerNorm.weight"),
    ):
        np.testing.assert_allclose(written[ours], given[theirs], atol=tolerance)
    wide = {name for name, data in written.items() if data.dtype == np.float32}
    assert {"position_embd.weight", "token_types.weight", "blk.0.attn_q.bias"} <= wide
    assert ("blk.0.attn_q.weight" in wide) == (file_type == "f32")


def test_the_same_input_gives_the_same_bytes_from_a_folder_and_from_a_wheel(source: Path) -> None:
    first = write(source).read_bytes()
    wheel = source.parent / "model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in source.rglob("*"):
            archive.write(file, f"package/model/{file.relative_to(source)}")
    assert write(wheel).read_bytes() == first
    assert write(source).read_bytes() == first


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_half_precision_checkpoints_are_read(source: Path, dtype: str) -> None:
    (source / "model.safetensors").write_bytes(safetensors(tensors(), dtype))
    (tensor,) = [t for t in GGUFReader(write(source, file_type="f32")).tensors if t.name == "token_embd.weight"]
    np.testing.assert_allclose(tensor.data, tensors()["embeddings.word_embeddings.weight"], rtol=1e-2)


def test_names_of_early_checkpoints_are_understood(source: Path) -> None:
    renamed = {
        "bert." + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): data
        for name, data in tensors().items()
    }
    expected = write(source).read_bytes()
    (source / "model.safetensors").write_bytes(safetensors(renamed))
    assert write(source).read_bytes() == expected


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("config.json", {"model_type": "roberta"}, "roberta"),
        ("config.json", {"hidden_act": "relu"}, "relu"),
        ("config.json", {"position_embedding_type": "relative_key"}, "relative_key"),
        ("tokenizer_config.json", {"tokenize_chinese_chars": False}, "tokenize_chinese_chars"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "max_tokens"),
    ],
)
def test_what_llama_cpp_does_not_have_is_refused(
    source: Path, name: str, values: dict[str, object], words: str
) -> None:
    change(source, name, **values)
    with pytest.raises(UnsupportedError, match=words):
        write(source)
    assert not (source.parent / "out.gguf").exists()


@pytest.mark.parametrize("values", [{"hidden_size": 16}, {"vocab_size": 4}, {"num_hidden_layers": 0}])
def test_a_config_that_contradicts_the_weights_is_refused(source: Path, values: dict[str, object]) -> None:
    change(source, "config.json", **values)
    with pytest.raises(ModelLoadError):
        write(source)


def test_a_missing_tensor_is_named(source: Path) -> None:
    arrays = tensors()
    del arrays["encoder.layer.1.output.dense.bias"]
    (source / "model.safetensors").write_bytes(safetensors(arrays))
    with pytest.raises(ModelLoadError, match=r"blk\.1\.ffn_down\.bias"):
        write(source)


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt", "config.json"])
def test_a_missing_file_is_named(source: Path, name: str) -> None:
    (source / name).unlink()
    with pytest.raises(ModelLoadError, match=name):
        write(source)


def test_a_source_that_is_not_there_or_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError):
        write_bert_gguf(tmp_path / "nothing", tmp_path / "out.gguf", name="x")
    (tmp_path / "text").write_text("no zip")
    with pytest.raises(ModelLoadError, match="neither a directory nor a zip"):
        write_bert_gguf(tmp_path / "text", tmp_path / "out.gguf", name="x")


def _damaged(kind: str, good: bytes) -> bytes:
    length = struct.unpack("<Q", good[:8])[0]
    header = json.loads(good[8 : 8 + length])
    first = next(name for name in header if name != "__metadata__")
    if kind == "offsets":
        header[first]["data_offsets"] = [0, 10**9]
    elif kind == "shape":
        header[first]["shape"] = [1, 2, 3]
    elif kind == "negative":
        header[first]["shape"] = [-1]
    elif kind == "dtype":
        header[first]["dtype"] = "F8_E4M3"
    elif kind == "entry":
        header[first] = 5
    text = json.dumps(header).encode()
    return {
        "empty": b"",
        "short": good[:5],
        "length": struct.pack("<Q", 2**60) + good[8:],
        "json": good[:8] + b"{" * length + good[8 + length :],
        "truncated": good[: len(good) // 2],
    }.get(kind, struct.pack("<Q", len(text)) + text + good[8 + length :])


@pytest.mark.parametrize(
    "kind",
    ["empty", "short", "length", "json", "truncated", "offsets", "shape", "negative", "dtype", "entry"],
)
def test_damaged_safetensors_are_refused(source: Path, kind: str) -> None:
    path = source / "model.safetensors"
    path.write_bytes(_damaged(kind, path.read_bytes()))
    with pytest.raises(ModelLoadError, match="safetensors"):
        write(source)


def test_nothing_is_left_behind_after_a_failure(source: Path) -> None:
    (source / "vocab.txt").unlink()
    with pytest.raises(ModelLoadError):
        write(source)
    assert sorted(file.name for file in source.parent.iterdir()) == ["model"]
