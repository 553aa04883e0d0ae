"""``attnspec parity``: the table of how far ours is from what the packages give, in units of the bound."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from attnspec.errors import Unavailable, one_line
from attnspec.parity.catalogue import Entry, chosen
from attnspec.text import copyable

DTYPES = ("float64", "float32")
ARRAYS = ("numpy", "torch", "jax")


@dataclass
class Row:
    """One comparison: the largest error ÷ bound by array library and precision, or why there is none."""

    name: str
    package: str = ""
    ratios: dict[str, float] = field(default_factory=dict)
    unavailable: str = ""

    @property
    def agrees(self) -> bool:
        """Whether every number that was computed is within its bound."""
        return all(ratio <= 1 for ratio in self.ratios.values())


def parity(names: tuple[str, ...], arrays: tuple[str, ...], as_json: bool) -> int:
    """Print the table. 0: all that ran agrees; 1: something does not; 2: nothing ran."""
    rows = []
    console = Console(file=sys.stderr if as_json else sys.stdout)
    with console.status("comparing") as status:
        for row in measured(chosen(names), arrays or ARRAYS):
            rows.append(row)
            status.update(f"compared {row.name}")
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        show(console, rows, arrays or ARRAYS)
    if not any(row.ratios for row in rows):
        return 2
    return 0 if all(row.agrees for row in rows) else 1


def measured(entries: dict[str, Entry], arrays: tuple[str, ...]) -> Iterator[Row]:
    """Each comparison with each array library that is installed."""
    for name, entry in entries.items():
        try:
            case = entry.build(name)
        except Unavailable as error:
            yield Row(name, entry.package, unavailable=str(error))
            continue
        row = Row(name, entry.version)
        for library in arrays:
            for dtype in DTYPES:
                try:
                    row.ratios[f"{library} {dtype}"] = case.ratio(library, dtype)
                except ModuleNotFoundError as error:
                    row.unavailable = f"{library}: {one_line(error)} (pip install 'attnspec[{library}]')"
        yield row


def show(console: Console, rows: list[Row], arrays: tuple[str, ...]) -> None:
    """A line for each comparison, a column for each array library and precision."""
    table = Table(title="largest error ÷ error bound", box=None, header_style="bold", title_style="")
    table.add_column("compared with")
    for column in columns(arrays):
        table.add_column(column.replace(" float", "\n"), justify="right", no_wrap=True, min_width=5)
    for row in rows:
        table.add_row(row.name, *cells(row, arrays))
    console.print(table)
    versions = dict.fromkeys(row.package for row in rows if row.ratios)
    if versions:
        console.print(f"with {', '.join(versions)}", highlight=False)
    for row in rows:
        if row.unavailable:
            copyable(console, f"{row.name}: unavailable: {row.unavailable}")


def columns(arrays: tuple[str, ...]) -> list[str]:
    """The names of the columns of numbers."""
    return [f"{library} {dtype}" for library in arrays for dtype in DTYPES]


def cells(row: Row, arrays: tuple[str, ...]) -> list[Any]:
    """The numbers of a row, – where there is none."""
    return [f"{row.ratios[column]:.1g}" if column in row.ratios else "–" for column in columns(arrays)]
