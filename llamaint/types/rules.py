"""Building blocks of the checks: a rule says what a value must be, or nothing when it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import get_args

# Returns what the value must be, or None when it is.
Rule = Callable[[object], "str | None"]

INT32_MAX = 2**31 - 1
_MAX_OVERRIDE_BYTES = 127


def is_integer(value: object, low: int, high: int) -> bool:
    """Whether ``value`` is a whole number of any integer type within the bounds, and not a bool."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return low <= int(value) <= high


def is_number(value: object, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether ``value`` is a finite number of any real type within the bounds, and not a bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    number = float(value)
    return math.isfinite(number) and low <= number <= high


def integer(low: int = -INT32_MAX, high: int = INT32_MAX, *, names: Sequence[str] = ()) -> Rule:
    """A whole number within the bounds, or one of ``names``."""
    must = " or ".join([*map(repr, names), f"an integer from {low} to {high}"])
    return lambda value: None if value in names or is_integer(value, low, high) else must


def number(low: float = -math.inf, high: float = math.inf) -> Rule:
    """A finite number within the bounds."""
    bounds = [f"at least {low:g}"] * (low > -math.inf) + [f"at most {high:g}"] * (high < math.inf)
    must = " and ".join(["a finite number", *bounds])
    return lambda value: None if is_number(value, low, high) else must


def choice(literal: object) -> Rule:
    """One of the names of a ``Literal``."""
    names = get_args(literal)
    must = "one of " + ", ".join(map(repr, names))
    return lambda value: None if isinstance(value, str) and value in names else must


def flag(value: object) -> str | None:
    """A bool."""
    return None if isinstance(value, bool) else "True or False"


def optional(rule: Rule) -> Rule:
    """None, or what ``rule`` says."""

    def none_or(value: object) -> str | None:
        must = None if value is None else rule(value)
        return f"None or {must}" if must is not None else None

    return none_or


def each(rule: Rule, what: str) -> Rule:
    """A sequence whose items satisfy ``rule``."""

    def every(value: object) -> str | None:
        good = (
            isinstance(value, Iterable)
            and not isinstance(value, (str, bytes, Mapping))
            and all(rule(item) is None for item in value)
        )
        return None if good else f"a sequence of {what}"

    return every


def text(value: object) -> str | None:
    """A text that is not empty."""
    return None if isinstance(value, str) and value else "a text that is not empty"


def text_map(value: object) -> str | None:
    """A mapping of text to text."""
    good = isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(item, str) for key, item in value.items()
    )
    return None if good else "a mapping of text to text"


def kv_overrides(value: object) -> str | None:
    """Metadata keys to values, short enough for llama.cpp's fixed buffers."""
    good = isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(item, (bool, int, float, str)) for key, item in value.items()
    )
    if not isinstance(value, Mapping) or not good:
        return "a mapping of metadata keys to bool, int, float or str"
    texts = [item for pair in value.items() for item in pair if isinstance(item, str)]
    if any(len(item.encode()) > _MAX_OVERRIDE_BYTES for item in texts):
        return f"made of keys and texts of at most {_MAX_OVERRIDE_BYTES} bytes"
    return None


def logit_bias(value: object) -> str | None:
    """Token ids to biases."""
    good = isinstance(value, Mapping) and all(
        is_integer(token, 0, INT32_MAX) and (is_number(bias) or bias == -math.inf) for token, bias in value.items()
    )
    return None if good else "a mapping of token ids to finite numbers or -inf"


def schema(value: object) -> str | None:
    """A JSON schema."""
    return None if isinstance(value, (str, Mapping)) else "a JSON schema as mapping or text"
