"""``attnspec report``: one page out of the results of verification and benchmarks."""

from collections.abc import Sequence
from pathlib import Path

import click

from attnspec.reporting.results import read_results


def report(files: Sequence[Path], out: Path, png: Path | None) -> int:
    """Write the page, and its figures as PNGs. ValueError for a file that is damaged, or cannot be written."""
    results = read_results(files)
    from attnspec.reporting.drawing import write_png
    from attnspec.reporting.page import render

    text, figures = render(results)
    try:
        out.write_text(text, encoding="utf-8", errors="replace")  # JSON has halves of characters
    except OSError as error:
        raise ValueError(f"report: wanted a file to write, came {str(out)!r} ({error.strerror})") from error
    click.echo(f"page: {out}")
    if png is not None:
        write_png(png, figures)
        click.echo(f"figures: {len(figures)} in {png}")
    return 0
