from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import shutil
import socket
from dataclasses import replace

import pytest

from llamaint import hub
from llamaint.errors import (
    CapacityError,
    ConfigError,
    ModelLoadError,
    ModelNotFoundError,
    UnsupportedError,
)
from llamaint.hub import catalog
from llamaint.hub.cache import cached_file, model_folder


@pytest.fixture
def calls():
    return []


@pytest.fixture
def record(calls):
    return lambda what, fraction: calls.append((what, fraction))


def no_fetch(*args, **kwargs):
    raise AssertionError("a download was started")


def test_parts_of_several_wheels_become_one_file(tiny, tiny_bytes):
    path = hub.resolve("tiny")
    assert path.read_bytes() == tiny_bytes
    assert path.name == "tiny.gguf"


def test_licence_file_is_kept_beside_the_model(tiny):
    assert (hub.resolve("tiny").parent / "TERMS.txt").read_bytes() == b"be kind"


def test_nothing_but_the_result_is_left(tiny, cache):
    hub.resolve("tiny")
    names = {p.relative_to(cache).as_posix() for p in cache.rglob("*") if p.is_file()}
    folder = "models/tiny/1.0"
    assert names == {
        "models/tiny.lock",
        f"{folder}/tiny.gguf",
        f"{folder}/TERMS.txt",
        f"{folder}/manifest.json",
    }


def test_cached_model_is_not_fetched_again(fetched, monkeypatch):
    monkeypatch.setattr("llamaint.hub.aliases.download_wheels", no_fetch)
    assert hub.resolve("tiny") == fetched


def test_progress_starts_at_0_never_falls_within_a_step_and_ends_at_1(tiny, calls, record):
    hub.resolve("tiny", progress=record)
    for step in ("download tiny", "unpack tiny"):
        fractions = [fraction for what, fraction in calls if what == step]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
    assert ("download tiny", 0.0) in calls


def test_terms_are_shown_before_the_download(tiny, calls, record):
    hub.resolve("tiny", progress=record)
    assert "Tiny terms apply." in calls[0][0]


def test_alias_wins_over_a_file_of_that_name(fetched, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").write_bytes(b"GGUF")
    assert hub.resolve("tiny") == fetched
    assert hub.resolve("./tiny").read_bytes() == b"GGUF"


@pytest.mark.parametrize("damage", ["flipped", "shortened", "removed", "manifest"])
def test_damaged_cache_is_fetched_again(tiny, tiny_bytes, fetched, damage):
    path = fetched
    if damage == "flipped":
        path.write_bytes(b"X" + tiny_bytes[1:])
    elif damage == "shortened":
        path.write_bytes(tiny_bytes[:-1])
    elif damage == "removed":
        path.unlink()
    else:
        (path.parent / "manifest.json").write_text("{")
    assert cached_file(tiny) is None
    assert hub.resolve("tiny").read_bytes() == tiny_bytes


def test_touched_but_intact_file_is_kept(fetched, monkeypatch):
    os.utime(fetched, (1, 1))
    monkeypatch.setattr("llamaint.hub.aliases.download_wheels", no_fetch)
    assert hub.resolve("tiny") == fetched


def test_verify_finds_damage_that_kept_size_and_time(tiny, tiny_bytes, fetched):
    stat = fetched.stat()
    fetched.write_bytes(b"X" + tiny_bytes[1:])
    os.utime(fetched, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert cached_file(tiny) == fetched
    assert cached_file(tiny, verify=True) is None


def test_wheel_with_another_hash_is_refused_and_leaves_nothing(tiny, cache, monkeypatch):
    wrong = replace(tiny.wheels[1], sha256="0" * 64)
    monkeypatch.setitem(catalog.CATALOG, "tiny", replace(tiny, wheels=(tiny.wheels[0], wrong, tiny.wheels[2])))
    with pytest.raises(ModelLoadError, match=r"tiny-part1==1\.0"):
        hub.resolve("tiny")
    assert [p.name for p in cache.rglob("*") if p.is_file()] == ["tiny.lock"]


def test_result_with_another_hash_is_refused_and_leaves_nothing(tiny, cache, monkeypatch):
    monkeypatch.setitem(catalog.CATALOG, "tiny", replace(tiny, sha256="0" * 64))
    with pytest.raises(ModelLoadError, match=f"tiny.gguf has sha256 {tiny.sha256}"):
        hub.resolve("tiny")
    assert [p.name for p in cache.rglob("*") if p.is_file()] == ["tiny.lock"]


def test_wheel_without_the_member_is_refused(tiny, monkeypatch):
    wheels = (*tiny.wheels[:2], replace(tiny.wheels[2], members=("b/other",)))
    monkeypatch.setitem(catalog.CATALOG, "tiny", replace(tiny, wheels=wheels))
    with pytest.raises(ModelLoadError, match=r"not as expected.*b/other"):
        hub.resolve("tiny")


def test_package_the_index_lacks_is_named_with_pips_words(tiny, wheelhouse):
    next(wheelhouse.folder.glob("tiny_part2*")).unlink()
    with pytest.raises(ModelNotFoundError, match=r"tiny-part2==1\.0.*No matching distribution"):
        hub.resolve("tiny")


def test_index_that_cannot_be_reached_is_said_to_be_so(tiny, monkeypatch):
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{nobody_listens.getsockname()[1]}/simple")
        monkeypatch.setenv("PIP_RETRIES", "1")
        with pytest.raises(ModelNotFoundError, match="index cannot be reached"):
            hub.resolve("tiny")


def test_missing_pip_says_what_to_do(tiny, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "pip" else find_spec(name, *a))
    with pytest.raises(UnsupportedError, match=r"ensurepip.*tiny-part1==1\.0"):
        hub.resolve("tiny")


@pytest.mark.parametrize("how", ["argument", "environment"])
def test_offline_never_downloads_and_says_how_to_get_it(tiny, monkeypatch, how):
    monkeypatch.setattr("llamaint.hub.aliases.download_wheels", no_fetch)
    if how == "environment":
        monkeypatch.setenv("LLAMAINT_OFFLINE", "1")
    with pytest.raises(ModelNotFoundError, match="llamaint pull tiny"):
        hub.resolve("tiny", offline=how == "argument")


def test_offline_uses_the_cache(fetched):
    assert hub.resolve("tiny", offline=True) == fetched


def test_too_small_disk_is_noticed_before_the_download(tiny, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10))
    monkeypatch.setattr("llamaint.hub.aliases.download_wheels", no_fetch)
    with pytest.raises(CapacityError, match="LLAMAINT_CACHE") as caught:
        hub.resolve("tiny")
    assert caught.value.numbers["free_bytes"] == 10
    assert caught.value.numbers["needed_bytes"] > tiny.size_bytes


def test_disk_that_fills_up_while_unpacking_leaves_nothing(tiny, cache, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CapacityError):
        hub.resolve("tiny")
    assert [p.name for p in cache.rglob("*") if p.is_file()] == ["tiny.lock"]


def test_cache_that_is_a_file_is_a_config_error(tiny, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_bytes(b"")
    monkeypatch.setenv("LLAMAINT_CACHE", str(tmp_path / "occupied"))
    with pytest.raises(ConfigError, match="LLAMAINT_CACHE"):
        hub.resolve("tiny")


def test_exception_from_progress_stops_the_fetch_and_leaves_nothing(tiny, cache):
    def give_up(what, fraction):
        if what == "download tiny":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hub.resolve("tiny", progress=give_up)
    assert [p.name for p in cache.rglob("*") if p.is_file()] == ["tiny.lock"]
    assert hub.resolve("tiny").is_file()


def test_new_edition_replaces_the_old_one(tiny, fetched, monkeypatch):
    monkeypatch.setitem(catalog.CATALOG, "tiny", replace(tiny, edition="1.1"))
    new = hub.resolve("tiny")
    assert new.is_file()
    assert not fetched.exists()


def test_list_models_tells_what_is_cached(fetched):
    row = next(row for row in hub.list_models() if row.alias == "tiny")
    assert (row.path, row.size_bytes, row.licence) == (fetched, fetched.stat().st_size, "MIT")
    assert hub.forget("tiny") > 0
    assert next(row for row in hub.list_models() if row.alias == "tiny").path is None


def test_forget_frees_the_files_and_counts_them(tiny, fetched):
    assert hub.forget("tiny") > tiny.size_bytes
    assert not model_folder(tiny).exists()
    assert hub.forget("tiny") == 0


def test_forget_of_an_unknown_alias_raises():
    with pytest.raises(ModelNotFoundError, match="no alias 'huge'"):
        hub.forget("huge")


def test_shipped_catalog_is_well_formed():
    for alias in ("smollm2-135m", "gemma-3-270m", "minilm-l6"):
        model = catalog.CATALOG[alias]
        assert model.alias == alias
        assert all(len(bytes.fromhex(wheel.sha256)) == hashlib.sha256().digest_size for wheel in model.wheels)
        assert (model.sha256 is None) == (model.recipe == "bert")
    assert "ai.google.dev/gemma/terms" in (catalog.CATALOG["gemma-3-270m"].terms or "")
