"""Writes docs/parity.md: how far ours is from what the packages that people use compute.

Run ``python tests/write_parity.py`` after a change to what is compared, or to the versions in constraints.txt.
"""

from pathlib import Path

from attnspec.parity.catalogue import ENTRIES
from attnspec.parity.table import ARRAYS, Row, cells, columns, measured

FILE = Path(__file__).parents[1] / "docs" / "parity.md"

HEAD = """# Parity with the packages that people use

Written by `python tests/write_parity.py`; `attnspec parity` prints the same table anew. Each row has a module of a
package, with random weights and padded inputs (MiniLM with its own), and our layers with the same weights. Compared are
its states after every layer, and the pooled output where there is one. The number is the largest error ÷ error bound.
The error is what ours differs from theirs, computed in float64 of numbers that float32 has too. The bound is
(u of the precision + u of float64) · Σ|∂state/∂step|·(rounding of the step) over all steps of their computation
(`attnspec/parity/condition.py`), so that 1 would be the most that rounding can explain. The smallest fault that the
tests plant, the approximate GELU for the exact one, comes out above 1000000000 in float64 and above 5 in float32.
"""


def document(rows: list[Row]) -> str:
    """The text of docs/parity.md."""
    table = ["| compared with | package | " + " | ".join(columns(ARRAYS)) + " |"]
    table.append("| --- | --- |" + " ---: |" * len(columns(ARRAYS)))
    table += [f"| {row.name} | {row.package} | " + " | ".join(cells(row, ARRAYS)) + " |" for row in rows]
    return "\n".join([HEAD, *table])


def main() -> None:
    """Write the file."""
    FILE.write_text(document(list(measured(ENTRIES, ARRAYS))) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
