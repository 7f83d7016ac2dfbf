"""What the built module shows to other libraries of the process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from llamaint import _native


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("nm") is None, reason="needs nm and ELF")
def test_module_exports_its_init_function_and_nothing_of_llama_cpp() -> None:
    # A second llama.cpp in the process (llama-cpp-python) would otherwise bind to our symbols, or we to its.
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", _native.__file__]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {line.split()[0] for line in lines}
    strangers = {name for name in exported if any(part in name for part in ("llama", "ggml", "gguf", "common", "mtmd"))}
    assert "PyInit__native" in exported
    assert strangers == set()


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("ldd") is None, reason="needs ldd and ELF")
def test_module_needs_no_library_of_llama_cpp() -> None:
    needed = subprocess.run(["ldd", _native.__file__], capture_output=True, text=True, check=True).stdout
    assert [line for line in needed.splitlines() if "llama" in line.split("=>")[0] or "ggml" in line] == []


def test_stub_lies_beside_the_package() -> None:
    import llamaint

    assert (Path(llamaint.__file__).parent / "_native.pyi").is_file()
    assert (Path(llamaint.__file__).parent / "py.typed").is_file()
