"""Names of GGUF files: parts of a split model, quantisation tags, projectors.

A split model is named ``NAME-00001-of-00003.gguf``; llama.cpp opens the first part and finds the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PART = re.compile(r"^(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE)


def is_model(name: str) -> bool:
    """Whether this GGUF holds a language model by its name; projectors (mmproj) belong to another file."""
    base = name.rpartition("/")[2].lower()
    return base.endswith(".gguf") and not base.startswith("mmproj") and "-mmproj" not in base


def group_parts(names: Iterable[str]) -> dict[str, list[str]]:
    """Groups names into models: name of the first part to the names of all parts, both sorted.

    A model in one file is a group of one. The group of a split model lists every part that its
    name promises, present or not; `missing_parts` compares.
    """
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        match = _PART.match(name)
        count = int(match["count"]) if match else 0
        if match is None or not 1 <= int(match["number"]) <= count:
            groups[name] = [name]
            continue
        parts = [f"{match['stem']}-{i:05}-of-{count:05}.gguf" for i in range(1, count + 1)]
        groups[parts[0]] = parts
    return groups


def missing_parts(parts: Iterable[str], present: Iterable[str]) -> list[str]:
    """Those of ``parts`` that are not present."""
    have = set(present)
    return [part for part in parts if part not in have]


def carries_tag(name: str, tag: str) -> bool:
    """Whether the file name holds ``tag`` (such as ``Q4_K_M``) as a whole word, in any case."""
    # An underscore may stand before a tag but is part of it afterwards: Q4_K is not Q4_K_M.
    pattern = rf"(?<![A-Za-z0-9]){re.escape(tag)}(?![A-Za-z0-9_])"
    return re.search(pattern, name, re.IGNORECASE) is not None
