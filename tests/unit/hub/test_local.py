from __future__ import annotations

from pathlib import Path

import pytest

from llamaint.errors import ModelNotFoundError
from llamaint.hub import resolve


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"GGUF")


def test_existing_file_is_returned_as_given(tmp_path):
    touch(tmp_path, "m.gguf")
    assert resolve(tmp_path / "m.gguf") == tmp_path / "m.gguf"
    assert resolve(str(tmp_path / "m.gguf")) == tmp_path / "m.gguf"


def test_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    touch(tmp_path, "m.gguf")
    assert resolve("~/m.gguf") == tmp_path / "m.gguf"


def test_missing_file_error_names_it():
    with pytest.raises(ModelNotFoundError, match=r"no file 'nowhere/m\.gguf'"):
        resolve("nowhere/m.gguf")


def test_missing_path_object_is_never_taken_for_an_alias():
    with pytest.raises(ModelNotFoundError, match="no file 'smollm2-135m'"):
        resolve(Path("smollm2-135m"))


def test_unknown_word_error_lists_aliases_and_the_closest():
    with pytest.raises(ModelNotFoundError, match=r"minilm-l6.*did you mean 'smollm2-135m'"):
        resolve("smollm-135m")


def test_empty_name_is_not_the_current_folder(tmp_path, monkeypatch):
    touch(tmp_path, "m.gguf")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelNotFoundError):
        resolve("")


def test_folder_with_one_model_gives_it_and_ignores_its_projector(tmp_path):
    touch(tmp_path, "m.gguf", "mmproj-m.gguf", "README.md")
    assert resolve(tmp_path) == tmp_path / "m.gguf"


def test_folder_with_a_split_model_gives_the_first_part(tmp_path):
    touch(tmp_path, *(f"m-0000{i}-of-00003.gguf" for i in (3, 1, 2)))
    assert resolve(tmp_path) == tmp_path / "m-00001-of-00003.gguf"


def test_folder_with_an_incomplete_split_model_names_the_missing_part(tmp_path):
    touch(tmp_path, "m-00001-of-00003.gguf", "m-00003-of-00003.gguf")
    with pytest.raises(ModelNotFoundError, match=r"m-00002-of-00003\.gguf") as caught:
        resolve(tmp_path)
    assert caught.value.numbers == {"n_parts": 3, "n_missing": 1}


def test_folder_with_several_models_lists_them(tmp_path):
    touch(tmp_path, "a.gguf", "b.gguf", "c-00001-of-00001.gguf")
    with pytest.raises(ModelNotFoundError, match=r"3 models.*a\.gguf, b\.gguf, c-00001-of-00001\.gguf"):
        resolve(tmp_path)


def test_folder_without_a_model_says_so(tmp_path):
    touch(tmp_path, "notes.txt")
    with pytest.raises(ModelNotFoundError, match="holds no GGUF"):
        resolve(tmp_path)
