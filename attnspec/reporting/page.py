"""The page: one file of HTML, to be read without scripts and without a network."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from attnspec.conformance.cells import families
from attnspec.conformance.markdown import CONVENTION_LEGEND, LEGEND
from attnspec.reporting.drawing import HUES, Figure
from attnspec.reporting.results import Results
from attnspec.reporting.speed import figures, speed
from attnspec.reporting.verdicts import failures, implementations, mutants
from attnspec.specs.contract import CONVENTIONS, DTYPES
from attnspec.units import digits, percent, ratio, seconds, size


def render(results: Results) -> tuple[str, list[Figure]]:
    """The text of the page, and the figures in it."""
    runs = [speed(run, number) for number, run in enumerate(results.benches, 1)]
    text = (
        _environment()
        .get_template("page.html")
        .render(
            families=families(),
            conventions=CONVENTIONS,
            dtypes=DTYPES,
            legend=LEGEND.replace("**", ""),
            convention_legend=CONVENTION_LEGEND.replace("**", ""),
            implementations=implementations(results.implementations),
            failures=failures(results.implementations),
            mutants=mutants(results.mutants),
            runs=runs,
            hues=list(HUES.items()),
        )
    )
    return text, [figure for run in runs for figure in figures(run)]


@cache
def _environment() -> Environment:
    """Everything is escaped but the figures, which are made of escaped parts."""
    found = Environment(
        loader=PackageLoader("attnspec.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {f.__name__: f for f in (digits, seconds, size, percent, ratio)}
    return found
