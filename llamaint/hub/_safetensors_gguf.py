"""Writes a BERT encoder (safetensors, vocab.txt, config.json) as a GGUF.

Metadata and tensor names are those of llama.cpp's own converter (conversion/bert.py).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from llamaint.errors import ModelLoadError, UnsupportedError
from llamaint.hub._bert_vocab import add_bert_vocabulary
from llamaint.hub._checkpoint import WEIGHTS, Checkpoint
from llamaint.hub._safetensors import read_safetensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from gguf import GGUFWriter

_TOP_NAMES = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
_LAYER_NAMES = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)\.(weight|bias)")
_OLD_SUFFIXES = {".gamma": ".weight", ".beta": ".bias"}  # layer norms of the first BERT checkpoints
_UNUSED_PREFIXES = ("pooler.", "cls.")  # heads of pre-training; embeddings do not pass through them

# Small, and added to every row: 16 bits would cost accuracy and save nothing.
_ALWAYS_F32 = ("position_embd.weight", "token_types.weight")

_SIZES = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "vocab_size",
)
_POOLING = {"mean_tokens": 1, "cls_token": 2, "lasttoken": 3}  # llama_pooling_type
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh")
_F32, _MOSTLY_F16 = 0, 1  # general.file_type


def write_bert_gguf(
    source: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    *,
    name: str,
    file_type: Literal["f32", "f16"] = "f16",
    license_id: str | None = None,
) -> Path:
    """Write the BERT encoder in ``source`` to ``out_path``; the same input gives the same bytes.

    Args:
        source: a folder with model.safetensors, vocab.txt and config.json, or a zip (wheel) that holds
            exactly one such folder. modules.json and the pooling config it names are used when present.
        out_path: written under a temporary name first, so it is complete or absent.
        name: ``general.name`` of the GGUF.
        file_type: type of the matrices; norms, biases, positions and token types are always F32. F16 takes
            0.7 of the time of F32 on a CPU with AVX2 and is as close to the original (MiniLM: cosine 0.99999).
        license_id: ``general.license``, an SPDX identifier.

    Raises:
        ModelNotFoundError: no such source.
        ModelLoadError: a file is missing or damaged, or shapes contradict config.json.
        UnsupportedError: not a BERT encoder, or an activation, position embedding, pooling or tokenizer
            setting that llama.cpp does not have.
    """
    from gguf import GGUFWriter

    if file_type not in ("f32", "f16"):
        raise ValueError(f"file_type must be 'f32' or 'f16', not {file_type!r}")
    out_path = Path(out_path)
    checkpoint = Checkpoint(Path(source))
    try:
        config = checkpoint.json("config.json")
        _check_config(config)
        tensors = _named_tensors(read_safetensors(checkpoint.read(WEIGHTS)), config)
        partial = out_path.with_name(f"{out_path.name}.{os.getpid()}.partial")
        writer = GGUFWriter(partial, "bert")
        try:
            _add_general(writer, name, file_type, license_id)
            _add_hyperparameters(writer, config, _pooling_type(checkpoint))
            add_bert_vocabulary(writer, checkpoint, config["vocab_size"])
            for tensor_name, tensor in tensors.items():
                writer.add_tensor(tensor_name, _stored(tensor_name, tensor, file_type))
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            partial.replace(out_path)
        finally:
            writer.close()
            partial.unlink(missing_ok=True)
    finally:
        checkpoint.close()
    return out_path


def _check_config(config: Mapping[str, Any]) -> None:
    if config.get("model_type") != "bert":
        raise UnsupportedError(f"model_type is {config.get('model_type')!r}; this writer knows 'bert'")
    if config.get("hidden_act") not in _ACTIVATIONS:
        raise UnsupportedError(f"hidden_act is {config.get('hidden_act')!r}; llama.cpp's BERT has GELU only")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise UnsupportedError(f"position_embedding_type {config['position_embedding_type']!r} is not supported")
    for key in _SIZES:
        if not isinstance(config.get(key), int) or config[key] <= 0:
            raise ModelLoadError(f"config.json: {key} is {config.get(key)!r}, expected a positive integer")


def _named_tensors(
    tensors: Mapping[str, npt.NDArray[np.float32]], config: Mapping[str, Any]
) -> dict[str, npt.NDArray[np.float32]]:
    """Rename to GGUF names in the order of the layers, and check that all are there with their shapes."""
    n_embd, n_ff = config["hidden_size"], config["intermediate_size"]
    expected: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (config["vocab_size"], n_embd),
        "token_types.weight": (config.get("type_vocab_size", 1), n_embd),
        "position_embd.weight": (config["max_position_embeddings"], n_embd),
        "token_embd_norm.weight": (n_embd,),
        "token_embd_norm.bias": (n_embd,),
    }
    for layer in range(config["num_hidden_layers"]):
        for gguf_name in _LAYER_NAMES.values():
            rows = n_ff if gguf_name == "ffn_up" else n_embd
            columns = n_ff if gguf_name == "ffn_down" else n_embd
            expected[f"blk.{layer}.{gguf_name}.weight"] = (rows,) if gguf_name.endswith("norm") else (rows, columns)
            expected[f"blk.{layer}.{gguf_name}.bias"] = (rows,)

    found = {}
    for original, tensor in tensors.items():
        short = original.removeprefix("bert.")
        if not short.startswith(_UNUSED_PREFIXES):
            found[_gguf_name(short)] = tensor
    for wanted, shape in expected.items():
        if wanted not in found:
            raise ModelLoadError(f"the weights hold no tensor for {wanted}")
        if found[wanted].shape != shape:
            raise ModelLoadError(f"{wanted} has shape {list(found[wanted].shape)}; config.json asks for {list(shape)}")
    if len(found) > len(expected):
        raise UnsupportedError(f"unexpected tensors: {', '.join(sorted(set(found) - set(expected))[:5])}")
    return {wanted: found[wanted] for wanted in expected}


def _gguf_name(name: str) -> str:
    for old, new in _OLD_SUFFIXES.items():
        if name.endswith(old):
            name = name.removesuffix(old) + new
    if name in _TOP_NAMES:
        return _TOP_NAMES[name]
    match = _LAYER.fullmatch(name)
    if match is None or match[2] not in _LAYER_NAMES:
        return name
    return f"blk.{match[1]}.{_LAYER_NAMES[match[2]]}.{match[3]}"


def _stored(name: str, tensor: npt.NDArray[np.float32], file_type: str) -> npt.NDArray[Any]:
    if file_type == "f32" or tensor.ndim < 2 or name in _ALWAYS_F32:
        return np.ascontiguousarray(tensor)
    if np.abs(tensor).max(initial=0) > np.finfo(np.float16).max:
        raise UnsupportedError(f"{name} has values beyond the range of F16; write it as f32")
    return tensor.astype(np.float16)


def _pooling_type(checkpoint: Checkpoint) -> int | None:
    """llama_pooling_type named by the sentence-transformers files, None when there are none."""
    modules = checkpoint.json_or("modules.json", list[dict[str, str]]())
    folders = [module["path"] for module in modules if module["type"].endswith("Pooling")]
    config = checkpoint.json_or(f"{folders[0] if folders else '1_Pooling'}/config.json", dict[str, Any]())
    prefix = "pooling_mode_"
    modes = [key.removeprefix(prefix) for key, on in config.items() if key.startswith(prefix) and on is True]
    if not modes:
        return None
    if len(modes) > 1 or modes[0] not in _POOLING:
        raise UnsupportedError(f"pooling {', '.join(modes)}; supported is one of {', '.join(_POOLING)}")
    return _POOLING[modes[0]]


def _add_general(writer: GGUFWriter, name: str, file_type: str, license_id: str | None) -> None:
    writer.add_type("model")
    writer.add_name(name)
    if license_id is not None:
        writer.add_license(license_id)
    writer.add_file_type(_MOSTLY_F16 if file_type == "f16" else _F32)
    writer.add_quantization_version(2)


def _add_hyperparameters(writer: GGUFWriter, config: Mapping[str, Any], pooling_type: int | None) -> None:
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config.get("layer_norm_eps", 1e-12))
    writer.add_causal_attention(False)
    writer.add_token_type_count(config.get("type_vocab_size", 1))
    if pooling_type is not None:
        writer.add_uint32("bert.pooling_type", pooling_type)
