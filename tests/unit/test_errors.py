"""The error tree, its codes, and the table that native codes go through."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from llamaint import errors
from llamaint.backend.errors import CLASS_OF_CODE, error_of

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.LlamaintError)]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_error_survives_pickling_with_message_and_numbers(cls):
    back = pickle.loads(pickle.dumps(cls("the prompt is long", n_prompt=7, n_ctx=4)))
    assert type(back) is cls
    assert str(back) == "the prompt is long"
    assert back.numbers == {"n_prompt": 7, "n_ctx": 4}


def test_every_class_has_a_code_of_its_own_in_the_table():
    assert {cls.code: cls for cls in CLASSES} == CLASS_OF_CODE
    assert len(CLASS_OF_CODE) == len(CLASSES)


def test_every_native_code_has_a_class():
    source = Path(__file__).parents[2] / "native/core/error.cpp"
    codes = re.findall(r'return "(\w+)";', source.read_text())
    assert len(codes) >= 18
    assert set(codes) <= set(CLASS_OF_CODE)


def test_error_of_builds_the_class_with_its_numbers():
    error = error_of("prompt_too_long", "too long", {"n_prompt": 9.0, "n_ctx": 8.0})
    assert type(error) is errors.PromptTooLongError
    assert error.numbers == {"n_prompt": 9.0, "n_ctx": 8.0}


def test_unknown_code_is_an_engine_error_that_names_it():
    error = error_of("novel", "what happened", {})
    assert type(error) is errors.EngineError
    assert str(error) == "what happened (unknown error code 'novel')"


def test_subclass_of_an_adapter_does_not_take_over_a_code():
    class AdapterError(errors.CapacityError):
        pass

    assert CLASS_OF_CODE[AdapterError.code] is errors.CapacityError
