"""The same as one page of HTML: nothing to load, every token, layer and head to choose."""

import base64
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 65535
"""Weights travel as 16-bit fractions of 1: a fiftieth of the size of the same as decimals, and exact to 0.00001."""


def write(
    path: Path,
    tokens: Sequence[str],
    weights: NDArray[Any],
    sentence: str,
    chosen: Sequence[int],
    layer: int | None = None,
    head: int | None = None,
) -> None:
    """Write the page for ``weights`` (layers, heads, tokens, tokens).

    It opens with the tokens ``chosen``, which are the pieces of one word, and with a layer and head, from 1, or the
    mean of all. ValueError if the file cannot be written.
    """
    try:
        path.write_text(page(tokens, weights, sentence, chosen, layer, head), encoding="utf-8")
    except OSError as error:
        raise ValueError(f"visualize: wanted a file to write, came {str(path)!r} ({error.strerror})") from error


def page(
    tokens: Sequence[str],
    weights: NDArray[Any],
    sentence: str,
    chosen: Sequence[int],
    layer: int | None = None,
    head: int | None = None,
) -> str:
    """The text of the page."""
    layers, heads = weights.shape[:2]
    steps = np.round(np.clip(weights, 0, 1) * STEPS).astype("<u2")
    data: dict[str, Any] = {"tokens": list(tokens), "layers": layers, "heads": heads, "chosen": list(chosen)}
    data |= {"layer": (layer or 0) - 1, "head": (head or 0) - 1}  # -1: the mean of all
    data["weights"] = base64.b64encode(steps.tobytes()).decode("ascii")
    template = files("attnspec.visualizing").joinpath("page.html").read_text(encoding="utf-8")
    before, between, after = template.split("@@")  # cut once: the sentence itself may hold the mark
    return before + escape(sentence) + between + _in_script(data) + after


def _in_script(data: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(data).replace("<", "\\u003c")
