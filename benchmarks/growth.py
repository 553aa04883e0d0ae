"""How time and memory grow with the number of keys: the exponent, by least squares on logarithms of both."""

from collections import defaultdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

SIZES = 3
"""An exponent takes so many sizes at least."""

FAINT = 2**20
"""Bytes below which a process's memory says nothing."""


def growth(run: dict[str, Any]) -> list[dict[str, Any]]:
    """For each backend and family: the numbers of keys, and the exponents of time and of memory beyond in- and outputs.

    None for memory where fewer than three sizes take a measurable amount.
    """
    found: defaultdict[tuple[str, str], list[tuple[int, float, float]]] = defaultdict(list)
    for case in run["benchmarks"]:
        info = case["extra_info"]
        point = int(info["shape"]["S"]), float(case["stats"]["median"]), float(info.get("peak_memory", 0))
        found[info["family"], info["backend"]].append(point)
    rows = []
    for (family, backend), points in found.items():
        keys, seconds, memory = map(list, zip(*sorted(points), strict=True))
        if len(set(keys)) >= SIZES:
            exponents = {"time": exponent(keys, seconds), "memory": exponent(keys, memory, FAINT)}
            rows.append({"family": family, "backend": backend, "keys": keys, **exponents})
    return rows


def exponent(sizes: list[int], values: list[float], least: float = 0.0) -> float | None:
    """p of value ≈ c·sizeᵖ over those values that are above ``least``; None for fewer than three."""
    points = [(size, value) for size, value in zip(sizes, values, strict=True) if value > least]
    if len(points) < SIZES:
        return None
    logs = np.log(np.array(points, np.float64))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def show(console: Console, run: dict[str, Any]) -> None:
    """Print the exponents, if there are any."""
    rows = growth(run)
    if not rows:
        return
    table = Table(title="exponent of the number of keys", title_justify="left", box=None, pad_edge=False)
    for head in ("family", "backend", "keys", "time", "memory"):
        table.add_column(head, justify="right" if head in ("time", "memory") else "left", overflow="fold")
    for row in rows:
        cells = ("–" if row[what] is None else f"{row[what]:.2f}" for what in ("time", "memory"))
        table.add_row(row["family"], row["backend"], f"{row['keys'][0]}–{row['keys'][-1]}", *cells)
    console.print(table)
