"""Result files, held to what they should say: whatever is damaged is told in a line with the file's name."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attnspec.specs.contract import shown
from attnspec.specs.problem import parse_object


@contextmanager
def opened(file: Path, writer: str) -> Iterator[dict[str, Any]]:
    """The JSON object that ``writer`` left in a file. A ValueError, of the file or raised inside, names the file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: wanted the JSON of {writer}, came {error}") from None
    data = parse_object(text, str(file))
    try:
        yield data
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def check(what: str, data: Any, wanted: Mapping[str, Any]) -> None:
    """ValueError in a line unless ``data`` is an object with the names that are ``wanted``, of those types."""
    if not isinstance(data, dict):
        raise ValueError(f"wanted {what} as an object, came {type(data).__name__}")
    for name, kind in wanted.items():
        if not isinstance(data.get(name), kind):
            came = f"{type(data[name]).__name__}" if name in data else "none: damaged, or of an older attnspec"
            raise ValueError(f"wanted {what} with {name!r}, came {came}")


def numbers(what: str, data: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """The numbers of ``data`` that have these names and are there. ValueError for what is none.

    Infinity and NaN may come as text, for JSON has none.
    """
    found = {}
    for name in names:
        try:
            if data.get(name) is not None:
                found[name] = float(data[name])
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"wanted {what} with {name!r} as a number, came {shown(data[name])}") from None
    return found
