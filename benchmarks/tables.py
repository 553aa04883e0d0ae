"""A run as tables: the backends of each workload side by side, and what became of those that are not ranked."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attnspec.benchmarks.results import Run

Case = dict[str, Any]

WIDE = 110
"""Columns of the widest table."""


def console() -> Console:
    """Standard output, wide enough for a row to be a line."""
    found = Console()
    return found if found.width >= WIDE else Console(width=WIDE)


def backends(run: Run) -> tuple[str, ...]:
    """The names of all backends in a run."""
    return tuple(dict.fromkeys(c["extra_info"]["backend"] for c in (*run["benchmarks"], *run["unranked"])))


def by_workload(run: Run) -> dict[str, list[Case]]:
    """The ranked cases of each workload, the fastest first; also workloads without one."""
    found: dict[str, list[Case]] = {c["group"]: [] for c in (*run["benchmarks"], *run["unranked"])}
    for case in sorted(run["benchmarks"], key=lambda case: float(case["stats"]["median"])):
        found[case["group"]].append(case)
    return found


def ratios(cases: list[Case], baseline: str | None) -> dict[str, float]:
    """How many times as long as the baseline, or as the fastest, by backend; empty if the baseline is not ranked."""
    medians = {case["extra_info"]["backend"]: float(case["stats"]["median"]) for case in cases}
    base = min(medians.values(), default=None) if baseline is None else medians.get(baseline)
    return {name: median / base for name, median in medians.items()} if base else {}


def show(console: Console, run: Run, baseline: str | None = None, earlier: Run | None = None) -> None:
    """Print a table for each workload, with the change of the ratios since an earlier run."""
    before = {} if earlier is None else by_workload(earlier)
    for workload, cases in by_workload(run).items():
        base = baseline or (cases[0]["extra_info"]["backend"] if cases else None)
        old = None if earlier is None else ratios(before.get(workload, []), base)
        console.print(_table(workload, cases, ratios(cases, base), old))
        for line in _unranked(run, workload):
            console.print(line)
        console.print()


def _table(workload: str, cases: list[Case], found: dict[str, float], old: dict[str, float] | None) -> Table:
    table = Table(title=workload, title_justify="left", box=None, pad_edge=False)
    table.add_column("backend", no_wrap=True)
    heads = ("median", "spread", "ratio", *(("before", "change") if old is not None else ()))
    for head in (*heads, "GFLOP/s", "of peak", "memory", "err/bound", "compile"):
        table.add_column(head, justify="right")
    for case in cases:
        info, name = case["extra_info"], case["extra_info"]["backend"]
        cells = (*_times(case), _number(found.get(name)), *_change(found.get(name), old, name))
        table.add_row(name, *cells, *_beside(info))
    return table


def _times(case: Case) -> tuple[str, str]:
    """Median, and the distance of the quartiles as a share of it."""
    median, iqr = float(case["stats"]["median"]), float(case["stats"]["iqr"])
    return time(median), f"{100 * iqr / median:.0f} %"


def _change(ratio: float | None, old: dict[str, float] | None, name: str) -> tuple[str, ...]:
    if old is None:
        return ()
    before = old.get(name)
    change = f"{100 * (ratio / before - 1):+.0f} %" if ratio and before else "–"
    return _number(before), change


def _beside(info: dict[str, Any]) -> tuple[str, ...]:
    """What is said beside times."""
    share, gflops, held = info.get("peak_share"), info.get("gflops"), info.get("peak_memory")
    percent = "–" if share is None else f"{100 * share:.0f} %"
    memory = "–" if held is None else f"{held / 2**20:.0f} MiB"
    error = info.get("error_over_bound")
    compiling = time(info.get("compile_seconds", 0.0)) if info.get("compiled") else "–"
    return _number(gflops, 1), percent, memory, "–" if error is None else f"{error:.2g}", compiling


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def time(seconds: float) -> str:
    """In the unit that suits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _unranked(run: Run, workload: str) -> Iterator[Text]:
    for case in run["unranked"]:
        info = case["extra_info"]
        if case["group"] == workload:
            yield Text(f"{info['backend']}  {info['status']}: {info.get('reason', '')}", style="dim")
