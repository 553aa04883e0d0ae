"""``attnspec table``: what runs found, as a page or as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from attnspec.conformance.cells import table
from attnspec.conformance.markdown import markdown
from attnspec.conformance.runs import entries


def conformance(files: Sequence[Path], as_json: bool, out: Path | None) -> int:
    """Print the table of the runs, or write it. ValueError for a file that is none of a run."""
    items = table(entries(files))
    text = json.dumps(items, indent=1, ensure_ascii=False) + "\n" if as_json else markdown(items)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8", errors="replace")  # JSON has halves of characters
    return 0
