"""The picture of one token: for every layer and head, how much it attends to each token, as a PNG."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

COLUMN, ROW, MARGIN = 0.3, 0.18, 1.6
"""Inches: of a token, of a head, and around a panel."""

MOST_ACROSS = 3
"""Panels side by side, fewer where there are many tokens."""


def draw(
    path: Path,
    tokens: Sequence[str],
    weights: NDArray[Any],
    token: str,
    layers: Sequence[int],
    heads: Sequence[int],
) -> None:
    """Write a panel for each of ``layers``: its ``weights`` (layers, heads, tokens) from dark to bright.

    ``layers`` and ``heads`` are the numbers to show, from 1. ValueError if the file cannot be written.
    """
    from matplotlib.figure import Figure  # not pyplot: no window, no state

    across = max(1, min(MOST_ACROSS, len(layers), 60 // len(tokens)))
    down = -(-len(layers) // across)
    size = (across * (COLUMN * len(tokens) + MARGIN), down * (ROW * weights.shape[1] + MARGIN) + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).flat
    for panel, layer, rows in zip(axes, layers, weights, strict=False):
        image = _panel(panel, tokens, rows, f"layer {layer}", heads)
    for panel in list(axes)[len(layers) :]:
        panel.remove()
    figure.colorbar(image, ax=figure.axes, shrink=0.6, label="attention weight")
    figure.suptitle(f"where “{drawable(token)}” attends, head by head")
    save(figure, path)


def _panel(panel: Any, tokens: Sequence[str], rows: NDArray[Any], title: str, heads: Sequence[int]) -> Any:
    image = panel.imshow(rows, cmap="magma", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    panel.set_title(title, fontsize=10)
    panel.set_xticks(range(len(tokens)), [drawable(token) for token in tokens], rotation=90, fontsize=8)
    panel.set_yticks(range(len(heads)), [str(head) for head in heads], fontsize=7)
    panel.set_ylabel("head", fontsize=8)
    return image


def save(figure: Any, path: Path) -> None:
    """Write the figure. ValueError if that fails."""
    try:
        figure.savefig(path, dpi=120, format="png")
    except OSError as error:
        raise ValueError(f"visualize: wanted a file to write, came {str(path)!r} ({error.strerror})") from error


def drawable(text: str) -> str:
    """``text`` with the characters that the font lacks as their code points, 中 as <4E2D>; $ begins no formula."""
    known = _characters()
    return "".join(c if ord(c) in known else f"<{ord(c):X}>" for c in text).replace("$", r"\$")


@lru_cache
def _characters() -> frozenset[int]:
    """The code points of the font that matplotlib brings along."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())
