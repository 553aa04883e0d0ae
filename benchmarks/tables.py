"""A run as tables: the backends of each workload side by side, who is not ranked and why, and the exponents."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attnspec.benchmarks.growth import growths
from attnspec.benchmarks.ratios import by_workload, ratios
from attnspec.benchmarks.run import Run, Timing
from attnspec.units import ABSENT, digits, percent, ratio, seconds, size

WIDE = 120
"""Columns of the widest table."""

Ratios = Mapping[str, float]


def console() -> Console:
    """Standard output, wide enough for a row to be a line."""
    found = Console(markup=False, emoji=False)
    found.width = max(found.width, WIDE)
    return found


def table(title: str, words: Sequence[str], figures: Sequence[str] = ()) -> Table:
    """An empty one, with columns of words and then of figures."""
    found = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for head in words:
        found.add_column(head, overflow="fold")
    for head in figures:
        found.add_column(head, justify="right", no_wrap=True)
    return found


def show(run: Run, baseline: str | None = None, earlier: Run | None = None) -> None:
    """Print a table for each workload, with the change of the ratios since an earlier run, and one of exponents."""
    out, before = console(), by_workload(earlier.timings) if earlier else {}
    for workload, timings in by_workload(run.timings).items():
        ranked = [timing for timing in timings if timing.median is not None]
        base = baseline or (ranked[0].backend if ranked else None)
        old = ratios(before.get(workload, ()), base) if earlier else None
        out.print(_side_by_side(workload, ranked, ratios(ranked, base), old))
        for t in timings[len(ranked) :]:
            out.print(Text(f"{t.backend}  {t.status}: {t.reason}", style="dim"))
        out.print()
    _show_growths(out, run)


def _side_by_side(workload: str, timings: Sequence[Timing], found: Ratios, old: Ratios | None) -> Table:
    changes = ("before", "change") if old is not None else ()
    beside = ("GFLOP/s", "of peak", "memory", "err/bound", "compile")
    rows = table(workload, ("backend",), ("median", "spread", "ratio", *changes, *beside))
    for t in timings:
        spread = t.iqr / t.median if t.iqr is not None and t.median else None
        times = (seconds(t.median), percent(spread), ratio(found.get(t.backend)))
        rows.add_row(t.backend, *times, *_change(t.backend, found, old), *_beside(t))
    return rows


def _change(backend: str, found: Ratios, old: Ratios | None) -> tuple[str, ...]:
    if old is None:
        return ()
    now, before = found.get(backend), old.get(backend)
    return ratio(before), f"{100 * (now / before - 1):+.0f} %" if now and before else ABSENT


def _beside(timing: Timing) -> tuple[str, ...]:
    """What is said beside times."""
    found = timing.figures.get
    compiling = found("compile_seconds") if timing.compiled else None
    shares = (digits(found("gflops")), percent(found("peak_share")), size(found("peak_memory")))
    return *shares, digits(found("error_over_bound")), seconds(compiling)


def _show_growths(out: Console, run: Run) -> None:
    rows = table("exponent of the number of keys", ("family", "backend", "keys"), ("time", "memory"))
    for family, some in growths(run.timings).items():
        for each in some:
            keys = f"{each.time.points[0][0]}–{each.time.points[-1][0]}"
            rows.add_row(family, each.backend, keys, digits(each.time.exponent), digits(each.memory.exponent))
    if rows.row_count:
        out.print(rows)
