"""The floor plan: what import-linter cannot see. Its own contracts run with `make layering`."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def _check_includes():
    spec = importlib.util.spec_from_file_location("check_includes", REPOSITORY / "tools" / "check_includes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def native(tmp_path: Path) -> Path:
    """A native/ that keeps the rules."""
    files = {
        "core/model.h": "#pragma once\n#include <vector>\n",
        "core/compat_ext.cpp": '#include "llama-ext.h"\n',
        "engine/loop.h": '#include "core/model.h"\n',
        "engine/loop.cpp": '#include "loop.h"\n#include "model.h"\n',
        "bind/common.h": "#include <pybind11/pybind11.h>\n",
        "bind/engine.cpp": '#include "common.h"\n#include "loop.h"\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_native_folders_include_only_downwards() -> None:
    assert list(_check_includes().violations(REPOSITORY / "native")) == []


def test_clean_tree_has_no_violation(native: Path) -> None:
    assert list(_check_includes().violations(native)) == []


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("core/model.h", '#include "engine/loop.h"', "engine/loop.h is of engine/, which core/ must not know"),
        ("core/model.h", '#include "loop.h"', "loop.h is of engine/, which core/ must not know"),
        ("engine/loop.cpp", '#include "bind/common.h"', "bind/common.h is of bind/, which engine/ must not know"),
        ("engine/loop.cpp", "  #  include <pybind11/numpy.h>", "pybind11/numpy.h may be included by bind/* only"),
        ("core/model.h", '#include "llama-ext.h"', "llama-ext.h may be included by core/compat_ext.* only"),
        ("extra/new.h", "#include <vector>", "the folder extra has no floor"),
    ],
)
def test_upward_include_is_reported(native: Path, file: str, line: str, complaint: str) -> None:
    (native / file).parent.mkdir(exist_ok=True)
    (native / file).write_text(f"{line}\n")
    assert [found for found in _check_includes().violations(native) if complaint in found]


def _imported_names(path: Path) -> set[str]:
    """Modules and attributes that a Python file imports, dotted."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


def test_only_the_backend_imports_the_extension_module() -> None:
    packages = ("llamaint", "llamaint_langchain", "llamaint_llamaindex")
    offenders = [
        path.relative_to(REPOSITORY).as_posix()
        for package in packages
        for path in (REPOSITORY / package).rglob("*.py")
        if "llamaint._native" in _imported_names(path)
    ]
    assert all(path.startswith("llamaint/backend/") for path in offenders), offenders
    assert offenders, "nobody imports llamaint._native: this test looks in the wrong place"


def test_importing_llamaint_loads_no_framework_and_no_extension() -> None:
    heavy = ["fastapi", "pydantic", "langchain_core", "llama_index", "huggingface_hub", "typer", "rich", "gguf"]
    script = f"import sys, llamaint; print([name for name in {[*heavy, 'llamaint._native']} if name in sys.modules])"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
