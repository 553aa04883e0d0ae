"""What the figures share: a style for each backend, and colours that follow the page from light to dark."""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from attnspec.visualizing.picture import drawable

INK, FAINT, LINE = "#1c1c22", "#6a6a74", "#d5d5da"
HUES = {
    "#0072b2": "#56b4e9",
    "#c14f00": "#f08a3c",
    "#00785a": "#2fc39a",
    "#a8457f": "#e68fbf",
    "#7a6a00": "#e5d04a",
    "#4b3fa8": "#9f93f0",
    "#5b5b66": "#b8b8c4",
}
"""Colours after Okabe and Ito, on light and on dark ground; never the only signal: a marker and a dash go with each."""

MARKERS = "osD^vPX<>"
DASHES = ("-", "--", "-.", (0, (1, 1.2)))

LONGEST = 36
"""So many characters of a name are drawn."""

COLOURS = {INK: "currentColor", FAINT: "var(--faint)", LINE: "var(--line)"} | {
    hue: f"var(--hue-{number})" for number, hue in enumerate(HUES)
}
"""What stands in the page for each colour of a figure."""

STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "figure.facecolor": "none",
    "font.size": 9,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "svg.fonttype": "none",  # text stays text: the page's own, to be found and copied
    "text.color": INK,
    "xtick.color": LINE,
    "xtick.labelcolor": FAINT,
    "ytick.color": LINE,
    "ytick.labelcolor": FAINT,
}


@dataclass(frozen=True)
class Figure:
    """A finished figure: what it is called in file names, its title, how it stands in the page, and as it was drawn."""

    name: str
    title: str
    svg: str
    canvas: Any


class Styles:
    """The same colour, marker and dash for a backend in every figure."""

    def __init__(self, backends: Sequence[str]) -> None:
        self.backends = sorted(set(backends))

    def of(self, backend: str) -> dict[str, Any]:
        """Keywords for ``plot`` of points."""
        index = self.backends.index(backend)
        hue, marker = list(HUES)[index % len(HUES)], MARKERS[index % len(MARKERS)]
        return {"color": hue, "marker": marker, "gid": f"series-{index}"}

    def dash(self, backend: str) -> Any:
        """The line style."""
        return DASHES[self.backends.index(backend) % len(DASHES)]

    def legend(self, figure: Any, backends: Sequence[str]) -> None:
        """Every one of ``backends`` below the figure."""
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], ls=self.dash(b), lw=1, label=label(b), **self.of(b)) for b in backends]
        legend = figure.legend(handles=handles, loc="outside lower left", ncols=3)
        for handle, text, backend in zip(legend.legend_handles, legend.get_texts(), backends, strict=True):
            handle.set_gid(self.of(backend)["gid"])
            text.set_gid(self.of(backend)["gid"])


def label(name: str) -> str:
    """A name as figures have it: without formulas, and no longer than there is room for."""
    return drawable(name if len(name) <= LONGEST else name[: LONGEST - 1] + "…")


@contextmanager
def canvas(width: float, height: float) -> Iterator[Any]:
    """An empty figure in inches, drawn in the page's style."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas  # not pyplot: no window, no state

    with matplotlib.rc_context(STYLE):
        yield Canvas(figsize=(width, height), layout="constrained")


def finished(figure: Any, name: str, title: str, told: str, styles: Styles) -> Figure:
    """The figure as SVG for the page, with what is ``told`` to who cannot see it; the same text each time."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return Figure(name, title, _inline(text.getvalue(), told, styles), figure)


def _inline(svg: str, told: str, styles: Styles) -> str:
    """What stands in HTML: no prologue, colours of the page, the series by their backends, no other ids twice."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="series-(\d+)">', lambda m: f'<g data-backend="{escape(styles.backends[int(m[1])])}">', svg)
    svg = re.sub(r'<g id="[^"]*_\d+">', "<g>", svg)
    svg = re.sub(r"(?<=[ \"])(#[0-9a-f]{6})(?=[;\"])", lambda m: COLOURS.get(m[1], m[1]), svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(told)}" ', 1)


def write_png(folder: Path, figures: Sequence[Figure]) -> None:
    """A file for each figure. ValueError if one cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for figure in figures:
            figure.canvas.savefig(folder / f"{figure.name}.png", dpi=150, facecolor="white")
    except OSError as error:
        raise ValueError(f"report: wanted a folder for PNGs, came {str(folder)!r} ({error.strerror})") from error
