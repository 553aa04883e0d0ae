"""The figures: accuracy against speed, time and memory against n, share of the peak."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from attnspec.benchmarks.growth import Fit, Growth
from attnspec.benchmarks.run import Timing
from attnspec.reporting.drawing import FAINT, Figure, Styles, canvas, finished, label
from attnspec.reporting.frontier import Place
from attnspec.units import digits, percent

WIDTH = 8.2
LEGEND_ROW = 0.19
"""Inches: of a figure, and of three backends in its legend."""


def frontier(name: str, title: str, places: Sequence[Place], styles: Styles) -> Figure:
    """Error ÷ bound against time ÷ the fastest; those that none beats are joined and named."""
    backends = [place.backend for place in places]
    best = sorted((p for p in places if p.optimal), key=lambda place: place.ratio)
    with canvas(WIDTH, 4 + _legend(backends)) as figure:
        axes = figure.subplots()
        axes.plot([p.ratio for p in best], [_floor(p.error) for p in best], color=FAINT, lw=1, ls=":", zorder=1)
        for place in places:
            hollow = {} if place.optimal else {"markerfacecolor": "none"}
            axes.plot(place.ratio, _floor(place.error), ls="", ms=8, **hollow, **styles.of(place.backend))
        for place in best:
            point = (place.ratio, _floor(place.error))
            axes.annotate(label(place.backend), point, xytext=(7, 5), textcoords="offset points", fontsize=8)
        axes.set(xscale="log", yscale="log", xlabel="time ÷ the fastest", ylabel="largest error ÷ bound")
        plain_ticks(axes.xaxis)
        styles.legend(figure, backends)
        told = f"{title}: time ÷ the fastest against error ÷ bound. " + "; ".join(
            f"{p.backend} {p.ratio:.2f} times, {digits(p.error)}" for p in places
        )
        return finished(figure, name, title, told, styles)


SMALLEST = 1e-6
"""An error of 0 has no logarithm; it stands at the edge."""


def _floor(error: float) -> float:
    return max(error, SMALLEST)


def growth(name: str, title: str, growths: Sequence[Growth], styles: Styles) -> Figure:
    """Time and memory against n on logarithmic axes, with the fitted powers as lines."""
    backends = [each.backend for each in growths]
    with canvas(WIDTH, 3.6 + _legend(backends)) as figure:
        time, memory = figure.subplots(1, 2)
        for each in growths:
            _power(time, each.time, 1e3, each.backend, styles)
            _power(memory, each.memory, 2.0**-20, each.backend, styles)
        sizes = sorted({n for each in growths for n, _ in each.time.points})
        for axes, words in ((time, "time in ms"), (memory, "memory beyond inputs and outputs in MiB")):
            axes.set(xscale="log", yscale="log", xlabel="n", title=words)
            axes.set_xticks(sizes, [str(n) for n in sizes])
            axes.set_xticks([], minor=True)
            plain_ticks(axes.yaxis)
        styles.legend(figure, backends)
        told = f"{title}: time grows as " + ", ".join(f"n^{digits(g.time.exponent)} for {g.backend}" for g in growths)
        return finished(figure, name, title, told, styles)


def _power(axes: Any, found: Fit, factor: float, backend: str, styles: Styles) -> None:
    """The points, and the line of the power that was fitted to them."""
    if not found.points:
        return
    n, values = np.array(found.points).T
    axes.plot(n, values * factor, ls="", ms=5, **styles.of(backend))
    if found.exponent is not None and found.factor is not None:
        style = {**styles.of(backend), "marker": ""}
        axes.plot(n, found.factor * n**found.exponent * factor, ls=styles.dash(backend), lw=1, **style)


def peak(name: str, title: str, timings: Sequence[Timing], styles: Styles) -> Figure:
    """A row for each backend: the share of the matrix-product peak that each workload reached."""
    shares: dict[str, list[float]] = {}
    for timing in timings:
        shares.setdefault(timing.backend, []).append(timing.figures["peak_share"])
    order = sorted(shares, key=lambda backend: max(shares[backend]))
    with canvas(WIDTH, 1 + 0.26 * len(order)) as figure:
        axes = figure.subplots()
        for row, backend in enumerate(order):
            axes.plot(
                [100 * s for s in shares[backend]],
                [row] * len(shares[backend]),
                ls="",
                ms=6,
                alpha=0.75,
                **styles.of(backend),
            )
        axes.axvline(100, color=FAINT, lw=1, ls=":")
        axes.set_yticks(range(len(order)), [label(backend) for backend in order])
        axes.set(
            xlabel="% of the matrix-product peak measured in the same run",
            xlim=(0, None),
            ylim=(-0.7, len(order) - 0.3),
        )
        for text, backend in zip(axes.get_yticklabels(), order, strict=True):
            text.set_gid(styles.of(backend)["gid"])
        told = f"{title}: the largest share is " + ", ".join(f"{percent(max(shares[b]))} for {b}" for b in order[::-1])
        return finished(figure, name, title, told, styles)


def plain_ticks(axis: Any) -> None:
    """Numbers as 0.5 or 200 in place of powers of ten, a few of them between."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(LogLocator(subs=()))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _legend(backends: Iterable[str]) -> float:
    return LEGEND_ROW * -(-len(list(backends)) // 3)
