"""``attnspec compare``: the ratios of a run, and how they have changed since an earlier one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from attnspec.benchmarks import tables
from attnspec.benchmarks.run import Run, read
from attnspec.errors import one_of


def compare(files: Sequence[Path], baseline: str | None) -> int:
    """Print the tables of the last of one or two runs. ValueError for a file that is none, or a baseline not in it."""
    if len(files) > 2:
        raise ValueError(f"compare: wanted one result file or two, came {len(files)}")
    earlier, run = (read(files[0]) if len(files) == 2 else None), read(files[-1])
    if not run.timings:
        raise ValueError(f"{files[-1]}: wanted timings of backends, came none, in compare")
    if earlier and not {t.workload for t in earlier.timings} & {t.workload for t in run.timings}:
        raise ValueError(f"compare: wanted runs with a workload in common, came {files[0]} and {files[1]} without")
    if baseline is not None:
        one_of("--baseline", baseline, dict.fromkeys(timing.backend for timing in run.timings))
    tables.show(run, baseline, earlier)
    for line in _remarks(earlier, run) if earlier else ():
        click.echo(line)
    return 0


def _remarks(earlier: Run, run: Run) -> Iterator[str]:
    """What to know before two runs are compared: ratios of one machine need not be those of another."""
    before, now = (each.machine["cpu"].get("brand_raw", "an unknown processor") for each in (earlier, run))
    if before != now:
        yield f"The earlier run is of another machine: {before}, not {now}."
    if alone := sorted({t.workload for t in earlier.timings} - {t.workload for t in run.timings}):
        yield f"In the earlier run alone, not shown: {', '.join(alone)}."
