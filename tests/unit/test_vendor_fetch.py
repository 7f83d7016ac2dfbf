"""vendor/llama.cpp/fetch.py with a small archive, a folder as package index and no network."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.fake_carrier import FETCH, FakeCarrier


@pytest.fixture
def carrier(tmp_path: Path) -> FakeCarrier:
    return FakeCarrier.create(tmp_path)


@pytest.fixture
def cached(carrier: FakeCarrier) -> FakeCarrier:
    """The archive lies in the cache; the index is empty, so a download would fail."""
    shutil.move(carrier.index / carrier.archive, carrier.cache / "sources")
    return carrier


def test_download_unpacks_root_and_prints_only_the_path(carrier: FakeCarrier) -> None:
    done = carrier.fetch()
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{carrier.pin.resolve().as_posix()}/src\n"
    assert (carrier.pin / "src/include/lib.h").read_text() == "int answer;\n"
    assert not (carrier.pin / "src/docs").exists()
    assert not (carrier.pin / "src/pyproject.toml").exists()
    assert carrier.leftovers() == []


def test_downloaded_archive_is_kept_and_used_without_the_index(carrier: FakeCarrier) -> None:
    carrier.fetch()
    (carrier.index / carrier.archive).unlink()
    shutil.rmtree(carrier.pin / "src")
    done = carrier.fetch()
    assert done.returncode == 0, done.stderr
    assert "using" in done.stderr


def test_second_run_touches_nothing(cached: FakeCarrier) -> None:
    cached.fetch()
    (cached.pin / "src/include/lib.h").write_text("edited by hand\n")
    shutil.rmtree(cached.cache)
    done = cached.fetch()
    assert (done.returncode, done.stderr) == (0, "")
    assert (cached.pin / "src/include/lib.h").read_text() == "edited by hand\n"


def test_moved_pin_replaces_the_tree(carrier: FakeCarrier) -> None:
    carrier.fetch()
    carrier.write_archive({"include/lib.h": "int other;\n"})
    done = carrier.fetch()
    assert done.returncode == 0, done.stderr
    assert "damaged" in done.stderr  # the cache still held the old archive under the same name
    assert (carrier.pin / "src/include/lib.h").read_text() == "int other;\n"
    assert carrier.leftovers() == []


def test_wrong_hash_fails_and_keeps_the_tree_of_before(carrier: FakeCarrier) -> None:
    carrier.fetch()
    carrier.write_pin("0" * 64)
    done = carrier.fetch()
    assert done.returncode == 1
    assert "0" * 64 in done.stderr
    assert "error:" in done.stderr
    assert done.stdout == ""
    assert (carrier.pin / "src/include/lib.h").is_file()
    assert carrier.leftovers() == []


def test_no_network_names_the_ways_out(carrier: FakeCarrier) -> None:
    (carrier.index / carrier.archive).unlink()
    done = carrier.fetch()
    assert done.returncode == 1
    error = done.stderr.strip().splitlines()[-1]
    for expected in ("could not download carrier 1.0", str(carrier.cache), "FAKE_LIB_DIR", "pip said:"):
        assert expected in error
    assert not (carrier.pin / "src").exists()
    assert carrier.leftovers() == []


def test_archive_without_the_probe_is_refused(tmp_path: Path) -> None:
    carrier = FakeCarrier.create(tmp_path, {"readme.txt": "wrong release\n"})
    done = carrier.fetch()
    assert done.returncode == 1
    assert "include/lib.h is not among them" in done.stderr
    assert not (carrier.pin / "src").exists()
    assert carrier.leftovers() == []


def test_member_pointing_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    carrier = FakeCarrier.create(tmp_path, {"include/lib.h": "", "../../escaped.txt": "gotcha"})
    # From the cache: pip refuses such an archive by itself.
    shutil.move(carrier.index / carrier.archive, carrier.cache / "sources")
    done = carrier.fetch()
    assert done.returncode == 1
    assert "points out of its folder" in done.stderr
    assert not list(tmp_path.rglob("escaped.txt"))
    assert not (carrier.pin / "src").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
def test_terminated_download_leaves_nothing(carrier: FakeCarrier, tmp_path: Path) -> None:
    waits = tmp_path / "waits"
    process = subprocess.Popen(
        [sys.executable, str(FETCH), str(carrier.pin)],
        env=carrier.environment(CARRIER_TEST_WAITS=str(waits)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not waits.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert not (carrier.pin / "src").exists()
    assert carrier.leftovers() == []


def test_leftover_of_a_killed_run_is_removed(cached: FakeCarrier) -> None:
    leftover = cached.pin / ".fetch-killed"
    (leftover / "src/include").mkdir(parents=True)
    assert cached.fetch().returncode == 0
    assert cached.leftovers() == []


def test_two_runs_at_once_both_get_the_whole_tree(cached: FakeCarrier) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, str(FETCH), str(cached.pin)],
            env=cached.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    outputs = [run.communicate(timeout=60) for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, outputs
    assert sum("unpacked" in stderr for _, stderr in outputs) == 1
    assert cached.leftovers() == []


def test_checkout_named_by_the_override_is_used(carrier: FakeCarrier, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "include").mkdir(parents=True)
    (checkout / "include/lib.h").touch()
    done = carrier.fetch(FAKE_LIB_DIR=str(checkout))
    assert (done.returncode, done.stdout) == (0, f"{checkout.resolve().as_posix()}\n")
    assert not (carrier.pin / "src").exists()


def test_override_that_is_no_checkout_is_refused(carrier: FakeCarrier, tmp_path: Path) -> None:
    done = carrier.fetch(FAKE_LIB_DIR=str(tmp_path))
    assert done.returncode == 1
    assert "include/lib.h is missing" in done.stderr


def test_patches_apply_in_order_and_a_new_one_rebuilds_the_tree(cached: FakeCarrier) -> None:
    # As in a checkout of llamaint: src/ is an ignored folder of a repository.
    subprocess.run(["git", "init", "--quiet", str(cached.pin.parent)], check=True)
    (cached.pin.parent / ".gitignore").write_text("src/\n")
    assert cached.fetch().returncode == 0
    patches = cached.pin / "patches"
    patches.mkdir()
    _write_patch(patches / "0001-first.patch", "int answer;", "int first;")
    _write_patch(patches / "0002-second.patch", "int first;", "int second;")
    done = cached.fetch()
    assert done.returncode == 0, done.stderr
    assert (cached.pin / "src/include/lib.h").read_text() == "int second;\n"


def test_patch_that_does_not_apply_is_named(cached: FakeCarrier) -> None:
    (cached.pin / "patches").mkdir()
    _write_patch(cached.pin / "patches/0001-stale.patch", "int gone;", "int back;")
    done = cached.fetch()
    assert done.returncode == 1
    assert "0001-stale.patch does not apply" in done.stderr
    assert not (cached.pin / "src").exists()


def test_unusable_cache_does_not_stop_a_download(carrier: FakeCarrier, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = carrier.fetch(LLAMAINT_CACHE=str(tmp_path / "file"))
    assert done.returncode == 0, done.stderr
    assert "not kept in the cache" in done.stderr
    assert (carrier.pin / "src/include/lib.h").is_file()


def _write_patch(path: Path, old: str, new: str) -> None:
    git_header = "diff --git a/include/lib.h b/include/lib.h\n"
    path.write_text(f"{git_header}--- a/include/lib.h\n+++ b/include/lib.h\n@@ -1 +1 @@\n-{old}\n+{new}\n")
