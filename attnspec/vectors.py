"""Golden vectors in a run and its report: a row each, named by the case; the table has a line for each option."""

from collections.abc import Iterator, Sequence

from attnspec.specs import golden
from attnspec.specs.contract import OPTIONS
from attnspec.specs.outcome import NOT_CLAIMED, PASSED, Outcome
from attnspec.verdict import NOT_RUN, Row, Verdict
from attnspec.watch import Watched

PLAIN = "no option"


def expected(patterns: Sequence[str]) -> list[str]:
    """The names of the cases that the patterns choose. ValueError for a pattern that matches nothing."""
    return [case.name for case in golden.chosen(patterns)]


def outcomes(backend: Watched, patterns: Sequence[str]) -> Iterator[Outcome]:
    """One for each case, each noted before it is tried."""
    for case in golden.chosen(patterns):
        backend.watch.invariant, backend.watch.case = case.name, case.problem
        yield golden.hold(backend, case)


def grouped(verdict: Verdict) -> dict[str, list[Row]]:
    """The rows of the cases that set an option, for each option; those that set none stand first."""
    groups: dict[str, list[Row]] = {PLAIN: [], **{option: [] for option in OPTIONS}}
    for row in verdict.rows:
        for group in golden.cases()[row.invariant].problem.options or (PLAIN,):
            groups[group].append(row)
    return {group: rows for group, rows in groups.items() if rows}


def standing(rows: Sequence[Row]) -> tuple[str, str]:
    """The gravest status among a group's cases, and how many have it, of how many that are claimed."""
    claimed = [row for row in rows if row.status != NOT_CLAIMED]
    if not claimed:
        return NOT_CLAIMED, str(len(rows))
    for grave in ([row for row in claimed if row.broken], [row for row in claimed if row.status == NOT_RUN]):
        if grave:
            return grave[0].status, f"{len(grave)} of {len(claimed)}"
    return PASSED if any(row.status == PASSED for row in claimed) else claimed[0].status, str(len(claimed))
