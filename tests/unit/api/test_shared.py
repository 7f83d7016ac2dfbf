"""`shared_llama` over the fake backend: one object per file and settings."""

from __future__ import annotations

import gc
import pickle

import pytest

import llamaint
from llamaint import ClosedError, ModelNotFoundError, shared_llama
from llamaint.api import llama as llama_module
from llamaint.backend import llama_cpp
from llamaint.testing.fake_backend import FakeBackend


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A file that the fake backend opens as if it were a model."""
    monkeypatch.setattr(llama_cpp, "BACKEND", FakeBackend("hi"))
    monkeypatch.setattr(llamaint.hub, "resolve", lambda name, progress=None: _existing(tmp_path / name))
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    return path


def _existing(path):
    if not path.exists():
        raise ModelNotFoundError(f"there is no file {str(path)!r}")
    return path


def test_same_file_and_settings_give_the_same_object(model):
    with shared_llama(str(model), n_ctx=64) as one:
        other = shared_llama(str(model), n_ctx=64)
        assert other is one
        other.close()
        assert one.complete("x").text == "hi"
    assert one.closed


def test_default_written_out_is_the_same_setting(model):
    one = shared_llama(str(model))
    assert shared_llama(str(model), n_parallel=4, tensor_split=[]) is one
    one.close()
    one.close()


def test_link_to_the_file_is_the_same_file(model, tmp_path):
    (tmp_path / "link.gguf").symlink_to(model)
    one = shared_llama(str(model))
    assert shared_llama("link.gguf") is one
    one.close()
    one.close()


def test_other_settings_give_another_object(model):
    with shared_llama(str(model)) as one, shared_llama(str(model), n_ctx=64) as other:
        assert one is not other


def test_replaced_file_is_another_model(model):
    with shared_llama(str(model)) as one:
        model.write_bytes(b"GGUF, but longer")
        with shared_llama(str(model)) as other:
            assert one is not other


def test_last_close_frees_and_the_next_call_loads_anew(model):
    one = shared_llama(str(model))
    one.close()
    with pytest.raises(ClosedError):
        one.complete("x")
    with shared_llama(str(model)) as other:
        assert other is not one
        assert other.complete("x").text == "hi"


def test_dropped_object_closes_its_engine(model):
    engine = shared_llama(str(model))._guard.engine
    gc.collect()
    assert engine.closed


def test_keep_alive_outlives_the_last_close(model):
    one = shared_llama(str(model), keep_alive=60)
    one.close()
    assert not one.closed
    assert shared_llama(str(model)) is one
    one._keep_alive = None
    one.close()
    assert one.closed


def test_unpickled_shared_object_is_the_same_object(model):
    with shared_llama(str(model)) as one:
        again = pickle.loads(pickle.dumps(one))
        assert again is one
        again.close()
        assert not one.closed


def test_llama_and_shared_llama_do_not_mix(model):
    with shared_llama(str(model)) as shared, llama_module.Llama(str(model)) as own:
        assert shared is not own


def test_unknown_keyword_raises_type_error(model):
    with pytest.raises(TypeError, match="n_contx"):
        shared_llama(str(model), n_contx=5)


def test_missing_file_is_reported_by_name(model):
    with pytest.raises(ModelNotFoundError, match=r"nothing\.gguf"):
        shared_llama("nothing.gguf")
