"""Lines for a terminal: wrapped under their own indent, and never read as markup."""

import textwrap

from rich.console import Console
from rich.text import Text


def say(console: Console, line: str, style: str = "", hang: int = 2) -> None:
    """Print the line, what does not fit on further lines that are indented by ``hang`` more."""
    console.print(Text(wrapped(line, console.width, hang), style=style), soft_wrap=True)


def copyable(console: Console, line: str, style: str = "") -> None:
    """Print the line as one, however long it is."""
    console.print(Text(line, style=style), soft_wrap=True)


def wrapped(line: str, width: int, hang: int = 2) -> str:
    """The line broken at spaces; words that are longer than the width stay whole."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + " " * hang,
        break_on_hyphens=False,
        break_long_words=False,
    )
