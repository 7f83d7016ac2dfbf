from __future__ import annotations

from llamaint.types import ModelParams
from llamaint.types.freeze import freeze


def test_equal_settings_freeze_to_equal_keys():
    one = ModelParams(kv_overrides={"a": 1, "b": "x"}, tensor_split=[1, 2])
    other = ModelParams(kv_overrides={"b": "x", "a": 1}, tensor_split=(1, 2))
    assert freeze(one) == freeze(other)
    assert hash(freeze(one)) == hash(freeze(other))


def test_different_settings_freeze_to_different_keys():
    assert freeze(ModelParams(kv_overrides={"a": 1})) != freeze(ModelParams(kv_overrides={"a": 2}))
    assert freeze({"a": {"b": [1]}}) != freeze({"a": {"b": [2]}})
