"""Two sides measured in turn, so that a change of the machine's mood hits both."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Row:
    """One comparison: medians of both sides and the median of their paired ratios.

    Attributes:
        ours, theirs: in `unit`.
        ratio: ours / theirs, as a median over pairs; above 1 means llamaint is ahead unless `unit` is a size.
        target: what the project asks for, and whether more or less is better.
    """

    name: str
    unit: str
    other: str
    ours: float
    theirs: float
    ratio: float
    target: str


def compare(
    name: str, unit: str, other: str, ours: Callable[[], float], theirs: Callable[[], float], repeats: int, target: str
) -> Row:
    """Measures both sides `repeats` times in turn; the first pair warms up and is dropped."""
    pairs = []
    for turn in range(repeats + 1):
        # Who goes first changes with every pair.
        if turn % 2:
            their_value = theirs()
            our_value = ours()
        else:
            our_value = ours()
            their_value = theirs()
        pairs.append((our_value, their_value))
    pairs = pairs[1:]
    return Row(
        name=name,
        unit=unit,
        other=other,
        ours=statistics.median(a for a, _ in pairs),
        theirs=statistics.median(b for _, b in pairs),
        ratio=statistics.median(a / b for a, b in pairs),
        target=target,
    )


def machine() -> dict[str, object]:
    """What a reader needs to judge the figures."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else ""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {"cpu": model or platform.processor(), "cores": os.cpu_count(), "load_before": round(load, 2)}


def print_table(rows: list[Row]) -> None:
    """A Markdown table on stdout."""
    print("| what | unit | llamaint | other | value | ratio | target |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(
            f"| {row.name} | {row.unit} | {row.ours:.1f} | {row.other} | {row.theirs:.1f} "
            f"| {row.ratio:.2f} | {row.target} |"
        )


def write_json(path: Path, facts: dict[str, object], rows: list[Row]) -> None:
    """The same as data."""
    path.write_text(json.dumps({"machine": facts, "rows": [asdict(row) for row in rows]}, indent=2) + "\n")
