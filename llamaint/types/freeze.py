"""Settings as dictionary keys."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass


def freeze(value: object) -> Hashable:
    """A hashable stand-in for settings: dataclasses, mappings, sequences and plain values."""
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value), *(freeze(getattr(value, field.name)) for field in fields(value)))
    if isinstance(value, Mapping):
        return tuple(sorted((key, freeze(item)) for key, item in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item) for item in value)
    return value
