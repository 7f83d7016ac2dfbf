"""What `import llamaint` gives, and what it must not cost."""

from __future__ import annotations

import subprocess
import sys

import pytest

import llamaint
from llamaint import errors, types


def test_all_is_sorted_and_every_name_exists():
    assert sorted(llamaint.__all__) == llamaint.__all__
    for name in llamaint.__all__:
        assert getattr(llamaint, name) is not None


def test_every_public_class_of_the_package_is_exported():
    found = {name for name, value in vars(llamaint).items() if isinstance(value, type) and not name.startswith("_")}
    assert found <= set(llamaint.__all__)


def test_every_error_is_exported():
    names = {n for n, c in vars(errors).items() if isinstance(c, type) and issubclass(c, errors.LlamaintError)}
    assert names <= set(llamaint.__all__)


def test_values_that_results_are_made_of_are_exported():
    assert set(types.__all__) - {"Content", "FinishReason", "KvOverride", "Role"} <= set(llamaint.__all__)


def test_unknown_attribute_raises_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Lama'"):
        _ = llamaint.Lama


def test_import_loads_neither_numpy_nor_the_native_module():
    code = "import llamaint, sys; print([m for m in ('numpy', 'llamaint._native') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_import_writes_nothing():
    out = subprocess.run([sys.executable, "-c", "import llamaint"], capture_output=True, text=True, check=True)
    assert (out.stdout, out.stderr) == ("", "")
