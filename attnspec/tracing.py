"""``attnspec trace``: the steps of self-attention over a small example, number by number."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from attnspec.impls import numpy_naive
from attnspec.specs.problem import Array, parse_object

TEXTBOOK: dict[str, Any] = {
    "x": [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]],
    "w_query": [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
    "w_key": [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]],
    "w_value": [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]],
    "scale": 1.0,
}
"""The example of the textbooks, which does not scale."""


def trace(file: str | None, scale: float | None) -> int:
    """Print every step for the example in ``file``, or for the textbooks'."""
    example = TEXTBOOK if file is None else read_example(file)
    x, w_query, w_key, w_value = (_matrix(example, name) for name in ("x", "w_query", "w_key", "w_value"))
    _check_shapes(x, w_query, w_key, w_value)
    steps = numpy_naive.trace(x, w_query, w_key, w_value, example.get("scale") if scale is None else scale)
    console = Console()
    for name, array in steps.items():
        console.print(Text(f"{name} ({', '.join(map(str, array.shape))})", style="bold"))
        console.print(Text(table(array)), soft_wrap=True)
    return 0


def read_example(file: str) -> dict[str, Any]:
    """The JSON object in the file. ValueError if there is none."""
    try:
        text = Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--json: wanted a file with JSON, came {file!r} ({error})") from error
    return parse_object(text, file)


def _matrix(example: dict[str, Any], name: str) -> Array:
    try:
        matrix = np.array(example[name], np.float64)
    except KeyError:
        raise ValueError(f"trace: wanted x, w_query, w_key and w_value, came only {sorted(example)}") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name}: wanted rows of numbers of one length, came {example[name]!r:.60}") from None
    if matrix.ndim != 2:
        raise ValueError(f"{name}: wanted a matrix, came {matrix.ndim} axes")
    return matrix


def _check_shapes(x: Array, w_query: Array, w_key: Array, w_value: Array) -> None:
    rows = {w_query.shape[0], w_key.shape[0], w_value.shape[0]}
    if rows != {x.shape[1]} or w_query.shape[1] != w_key.shape[1]:
        came = ", ".join(str(m.shape) for m in (x, w_query, w_key, w_value))
        raise ValueError(f"trace: wanted x (L, E), w_query and w_key (E, D), w_value (E, Dv), came {came}")


def table(array: Array) -> str:
    """The numbers in columns; more than two axes as blocks."""
    if array.ndim > 2:
        return "\n\n".join(table(block) for block in array)
    cells = [[f"{value:.9g}" for value in row] for row in array]
    width = max((len(cell) for row in cells for cell in row), default=0)
    return "\n".join("  " + "  ".join(cell.rjust(width) for cell in row) for row in cells)
