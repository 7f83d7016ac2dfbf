"""Loading: what is refused, what is reported, what each setting does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from llamaint import (
    ConfigError,
    Llama,
    LlamaintError,
    ModelLoadError,
    ModelNotFoundError,
    PromptTooLongError,
    TemplateError,
)


def test_missing_file_is_reported_by_name():
    with pytest.raises(ModelNotFoundError, match="nowhere"):
        Llama("/nowhere/model.gguf")


@pytest.mark.parametrize("content", [b"", b"GGUF", b"not a model at all" * 100])
def test_file_that_is_no_model_is_a_load_error(tmp_path, content):
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelLoadError):
        Llama(path)


def test_truncated_file_is_a_load_error(tmp_path, cycle_llama):
    path = tmp_path / "cut.gguf"
    data = cycle_llama.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelLoadError):
        Llama(path)


@pytest.mark.parametrize(
    "settings",
    [{"n_ctx": -1}, {"n_parallel": 0}, {"type_k": "q3"}, {"load_mode": "disk"}, {"devices": ["no-such-gpu"]}],
)
def test_setting_that_cannot_work_is_a_config_error(cycle_llama, settings):
    with pytest.raises(ConfigError):
        Llama(cycle_llama, **settings)


def test_progress_rises_to_one(cycle_llama):
    seen = []
    Llama(
        cycle_llama, n_ctx=512, check_tensors=True, progress=lambda what, fraction: seen.append((what, fraction))
    ).close()
    fractions = [fraction for what, fraction in seen if what == "load"]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_exception_in_progress_stops_the_load(cycle_llama):
    def stop(what, fraction):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        Llama(cycle_llama, check_tensors=True, n_ctx=512, kv_overrides={"general.name": "x"}, progress=stop)


def test_settings_show_in_info(cycle_llama):
    with Llama(
        cycle_llama, n_ctx=1024, n_parallel=3, n_cache_slots=1, n_threads=1, type_k="q8_0", flash_attn="on"
    ) as llm:
        info = llm.info
        assert (info["n_ctx"], info["n_parallel"], info["n_slots"], info["n_threads"]) == (1024, 3, 4, 1)
        assert (info["type_k"], info["flash_attn"]) == ("q8_0", "on")
        assert info["arch"] == "llama"


def test_without_a_shared_cache_every_sequence_has_its_own_window(cycle_llama):
    prompts = ["abc" + "defghijklmnopabc" * n for n in range(5)]
    with (
        Llama(cycle_llama, n_ctx=512, n_parallel=3, n_threads=1, kv_unified=False) as own,
        Llama(cycle_llama, n_ctx=1536, n_parallel=3, n_threads=1) as shared,
    ):
        assert (own.info["n_ctx_seq"], shared.info["n_ctx_seq"]) == (512, 1536)
        for llm in (own, shared):
            with ThreadPoolExecutor(5) as pool:
                results = list(pool.map(lambda prompt: llm.complete(prompt, max_tokens=20, temperature=0), prompts))  # noqa: B023
            assert {result.text for result in results} == {"defghijklmnopabcdefg"}
        with pytest.raises(PromptTooLongError):
            own.complete("a" * 600, max_tokens=1)


@pytest.mark.parametrize("mode", ["none", "mmap", "mlock", "direct_io", "auto"])
def test_every_load_mode_gives_the_same_answer(cycle_llama, mode):
    with Llama(cycle_llama, load_mode=mode, n_ctx=512, n_threads=1) as llm:
        assert llm.complete("abc", max_tokens=5, temperature=0).text == "defgh"


def test_bad_template_of_the_caller_is_found_at_load(cycle_llama):
    with pytest.raises(TemplateError):
        Llama(cycle_llama, n_ctx=512, chat_template="{% for x in %}")


def test_every_load_error_is_a_llamaint_error_and_the_next_load_works(tmp_path, cycle_llama):
    for _ in range(5):
        with pytest.raises(LlamaintError):
            Llama(tmp_path / "none.gguf")
    with Llama(cycle_llama, n_ctx=512, n_threads=1) as llm:
        assert llm.complete("abc", max_tokens=1, temperature=0).text == "d"
