"""Model.load: every parameter acts or is refused, and no file ends the process."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest

from llamaint import _native
from tests.support import tiny_models


def load(path: Path, **fields: object) -> _native.Model:
    return _native.Model.load(str(path), _native.ModelParams(**fields))


def refused(path: Path, **fields: object) -> _native.NativeError:
    with pytest.raises(_native.NativeError) as caught:
        load(path, **fields)
    return caught.value


def test_a_loaded_model_knows_its_numbers(tiny_llama: Path) -> None:
    info = load(tiny_llama).info()
    assert (info["arch"], info["n_layer"], info["n_vocab"]) == ("llama", 4, 384)
    assert info["tokens"]["eos"] in info["eog_tokens"]
    assert info["chat_template"]


def test_metadata_is_text_by_key(tiny_llama: Path) -> None:
    metadata = load(tiny_llama).metadata()
    assert metadata["general.architecture"] == "llama"
    assert "tokenizer.ggml.tokens" in metadata or all(isinstance(value, str) for value in metadata.values())


@pytest.mark.parametrize("name", sorted(tiny_models.text_models() | tiny_models.embedding_models()))
def test_every_architecture_of_the_zoo_loads(name: str) -> None:
    path = (tiny_models.text_models() | tiny_models.embedding_models())[name]
    assert load(path).info()["n_params"] > 0


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.gguf").code == "model_not_found"


def test_a_directory_is_not_found(tmp_path: Path) -> None:
    assert refused(tmp_path).code == "model_not_found"


def test_an_empty_file_is_a_load_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.gguf"
    path.touch()
    assert refused(path).code == "model_load"


def test_another_format_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00{}" + b" " * 64)
    assert "not a GGUF file" in str(refused(path))


def test_a_truncated_file_says_where_it_should_end(tiny_llama: Path, tmp_path: Path) -> None:
    whole = tiny_llama.read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[:-100])
    error = refused(path)
    assert error.code == "model_load"
    assert str(len(whole) - 100) in str(error)
    assert error.numbers["file_bytes"] == len(whole) - 100


def test_an_unknown_architecture_is_unsupported(tiny_llama: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(tiny_llama.read_bytes().replace(b"llama", b"lluma"))
    error = refused(path)
    assert error.code == "unsupported"
    assert "lluma" in str(error)


# ---- parameters -----------------------------------------------------------------------------
def test_an_unknown_field_is_a_type_error_that_lists_the_fields() -> None:
    with pytest.raises(TypeError, match=r"no field n_gpu_layer;.*n_gpu_layers"):
        _native.ModelParams(n_gpu_layer=1)


def test_a_field_of_the_wrong_type_is_a_type_error_that_names_it() -> None:
    with pytest.raises(TypeError, match=r"ModelParams\.n_gpu_layers"):
        _native.ModelParams(n_gpu_layers="many")


def test_fields_can_be_read_and_set() -> None:
    params = _native.ModelParams(devices=["CPU"], kv_overrides={"a": True, "b": 1, "c": 0.5, "d": "text"})
    params.main_gpu = 3
    assert params.main_gpu == 3
    assert params.devices == ["CPU"]
    assert params.kv_overrides == {"a": True, "b": 1, "c": 0.5, "d": "text"}


@pytest.mark.parametrize("mode", ["auto", "none", "mmap", "mlock", "mmap_mlock", "direct_io"])
def test_every_load_mode_gives_the_same_model(tiny_llama: Path, mode: str) -> None:
    assert load(tiny_llama, load_mode=mode).info()["n_params"] == load(tiny_llama).info()["n_params"]


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"load_mode": "fast"}, "load_mode"),
        ({"split_mode": "diagonal"}, "split_mode"),
        ({"devices": ["CUDA9"]}, "CUDA9"),
        ({"main_gpu": 7}, "main_gpu=7"),
        ({"main_gpu": -1}, "main_gpu=-1"),
        ({"n_gpu_layers": -3}, "n_gpu_layers=-3"),
        ({"n_cpu_moe": -1}, "n_cpu_moe=-1"),
        ({"tensor_split": [1.0] * 100}, "tensor_split"),
        ({"tensor_split": [-1.0]}, "tensor_split"),
        ({"tensor_split": [0.0, 0.0]}, "tensor_split"),
        ({"tensor_split": [float("nan")]}, "tensor_split"),
        ({"tensor_buft_overrides": [("ffn", "CUDA9")]}, "CUDA9"),
        ({"tensor_buft_overrides": [("(", "CPU")]}, "regular expression"),
        ({"tensor_buft_overrides": [("a" * 2000, "CPU")]}, "1024"),
        ({"tensor_buft_overrides": [(f"t{i}", "CPU") for i in range(5000)]}, "4095"),
        ({"kv_overrides": {"k" * 128: 1}}, "127"),
        ({"kv_overrides": {"general.name": "x" * 128}}, "127"),
    ],
)
def test_a_setting_that_cannot_work_is_a_config_error(tiny_llama: Path, fields: dict[str, object], part: str) -> None:
    error = refused(tiny_llama, **fields)
    assert error.code == "config"
    assert part in str(error)


def test_the_cpu_may_be_named_as_a_device(tiny_llama: Path) -> None:
    assert load(tiny_llama, devices=["CPU"]).info()["n_layer"] == 4


def test_vocab_only_has_tokens_and_no_weights(tiny_llama: Path) -> None:
    model = load(tiny_llama, vocab_only=True)
    assert model.tokenize("abc", False, False) == load(tiny_llama).tokenize("abc", False, False)
    with pytest.raises(_native.NativeError):
        _native.Engine(model, _native.EngineParams())


def test_a_kv_override_acts(tiny_llama: Path) -> None:
    assert load(tiny_llama, kv_overrides={"llama.context_length": 77}).info()["n_ctx_train"] == 77


def test_a_kv_override_of_the_wrong_type_is_refused(tiny_llama: Path) -> None:
    error = refused(tiny_llama, kv_overrides={"llama.context_length": 77.0})
    assert error.code == "config"
    assert "an int" in str(error)


def test_a_kv_override_that_nobody_reads_is_refused(tiny_llama: Path) -> None:
    error = refused(tiny_llama, kv_overrides={"llama.no_such_key": 1})
    assert error.code == "config"
    assert "llama.no_such_key" in str(error)


@pytest.mark.parametrize(
    "overrides",
    [
        {"llama.block_count": 0},
        {"llama.block_count": 2**31 - 1},
        {"llama.attention.head_count": 0},
        {"llama.attention.head_count_kv": 3},
        {"llama.embedding_length": 0},
        {"llama.expert_count": 1_000_000},
        {"llama.expert_used_count": 5},
        {"llama.nextn_predict_layers": 5},
        {"llama.attention.layer_norm_rms_epsilon": -1.0},
        {"llama.attention.layer_norm_rms_epsilon": float("nan")},
        {"llama.rope.scaling.type": "sideways"},
        {"general.alignment": 3},
    ],
)
def test_numbers_that_abort_llama_cpp_are_refused(tiny_llama: Path, overrides: dict[str, object]) -> None:
    error = refused(tiny_llama, kv_overrides=overrides)
    assert error.code in ("model_load", "config")


def test_check_tensors_finds_damaged_weights(tmp_path: Path) -> None:
    content = bytearray(tiny_models.llama_q8_0().read_bytes())
    content[-4096:] = b"\xff" * 4096  # NaN scales
    path = tmp_path / "nan.gguf"
    path.write_bytes(content)
    load(path)
    error = refused(path, check_tensors=True)
    assert error.code == "model_load"
    assert "invalid data" in str(error)


# ---- progress -------------------------------------------------------------------------------
def test_progress_rises_to_one(tiny_llama: Path) -> None:
    seen: list[float] = []

    def progress(fraction: float) -> bool:
        seen.append(fraction)
        return True

    _native.Model.load(str(tiny_llama), _native.ModelParams(), progress)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_progress_function_without_result_lets_the_load_go_on(tiny_llama: Path) -> None:
    seen: list[float] = []
    _native.Model.load(str(tiny_llama), _native.ModelParams(), seen.append)  # type: ignore[arg-type]
    assert seen


def test_progress_false_cancels(tiny_llama: Path) -> None:
    with pytest.raises(_native.NativeError) as caught:
        _native.Model.load(str(tiny_llama), _native.ModelParams(), lambda _: False)
    assert caught.value.code == "cancelled"


def test_an_exception_in_progress_comes_out_of_load(tiny_llama: Path) -> None:
    def progress(_: float) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.Model.load(str(tiny_llama), _native.ModelParams(), progress)


def test_other_threads_run_while_a_model_loads(smollm2: Path) -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.wait(0.002):
            ticks += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    before = ticks
    load(smollm2)
    during = ticks - before
    stop.set()
    ticker.join()
    assert during > 3


# ---- vocabulary -----------------------------------------------------------------------------
def test_tokens_give_the_text_back(tiny_llama: Path) -> None:
    model = load(tiny_llama)
    text = "Grüße, 世界! \U0001f600"
    assert model.detokenize(model.tokenize(text, False, False), False, False).decode() == text


def test_special_text_is_parsed_only_when_asked(tiny_llama: Path) -> None:
    model = load(tiny_llama)
    assert len(model.tokenize("<|im_end|>", False, True)) == 1
    assert len(model.tokenize("<|im_end|>", False, False)) > 1


def test_a_piece_of_a_special_token_is_empty_unless_asked_for(tiny_llama: Path) -> None:
    model = load(tiny_llama)
    (token,) = model.tokenize("<|im_end|>", False, True)
    assert model.token_to_piece(token, True) == b"<|im_end|>"
    assert model.token_to_piece(token, False) == b""


@pytest.mark.parametrize("token", [-1, 384, 2**31 - 1])
def test_token_ids_outside_the_vocabulary_are_refused(tiny_llama: Path, token: int) -> None:
    model = load(tiny_llama)
    for call in (lambda: model.token_to_piece(token, True), lambda: model.detokenize([1, token], False, False)):
        with pytest.raises(_native.NativeError) as caught:
            call()
        assert caught.value.code == "invalid_batch"
        assert caught.value.numbers["token"] == token


def test_bytes_that_are_not_utf8_are_tokenized(tiny_llama: Path) -> None:
    assert load(tiny_llama).tokenize(b"\xff\xfe ab", False, False)  # type: ignore[arg-type]


def test_a_megabyte_is_tokenized_whole(tiny_llama: Path) -> None:
    model = load(tiny_llama)
    text = "lorem ipsum dolor sit amet " * 40_000
    assert model.detokenize(model.tokenize(text, False, False), False, False).decode() == text


@pytest.mark.parametrize("name", ["llama_spm", "bert_mean", "qwen35"])
@pytest.mark.parametrize("character", ["a", " ", "\n", "1", "!"])
def test_long_runs_of_one_character_are_tokenized(name: str, character: str) -> None:
    model = load((tiny_models.text_models() | tiny_models.embedding_models())[name])
    assert len(model.tokenize(character * 100_000, False, False)) <= 100_000


# These split with std::regex, which recurses for each character of a match.
@pytest.mark.parametrize("pre", ["deepseek-v3", "gpt-4o", "tekken", "llama4", "minimax-m2", "exaone-moe"])
@pytest.mark.parametrize("text", ["a", " ", "!", "a b "])
def test_long_matches_of_a_pre_tokenizer_do_not_overflow_the_stack(tiny_llama: Path, pre: str, text: str) -> None:
    model = load(tiny_llama, vocab_only=True, kv_overrides={"tokenizer.ggml.pre": pre})
    long = text * (100_000 // len(text))
    assert model.detokenize(model.tokenize(long, False, False), False, False).decode() == long


def test_a_match_too_long_for_any_stack_is_refused_with_its_length(tiny_llama: Path) -> None:
    model = load(tiny_llama, vocab_only=True, kv_overrides={"tokenizer.ggml.pre": "deepseek-v3"})
    with pytest.raises(_native.NativeError, match="without a space") as caught:
        model.tokenize("a" * 600_000, False, False)
    assert caught.value.code == "request"
    assert caught.value.numbers == {"n_bytes": 600_000, "max_bytes": 512 * 1024}


def test_a_vocabulary_that_llama_cpp_aborts_on_is_an_error(tiny_llama: Path) -> None:
    model = load(tiny_llama, vocab_only=True, kv_overrides={"tokenizer.ggml.pre": "whitespace"})
    with pytest.raises(_native.NativeError) as caught:
        model.tokenize("a b  c", False, False)
    assert caught.value.code == "unsupported"


def test_a_dropped_model_stays_alive_for_what_was_made_of_it(tiny_llama: Path) -> None:
    sampler = _native.Sampler(load(tiny_llama), _native.SamplingParams())
    gc.collect()
    assert sampler.seed >= 0
