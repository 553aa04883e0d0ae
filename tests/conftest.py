"""What the test modules share: the kill matrix, printed when all is done."""

import pytest

MATRIX = pytest.StashKey[list]()


@pytest.fixture(scope="session")
def kill_matrix(pytestconfig):
    """Rows (mutant, reports, outcome) for the table at the end, or lines below it."""
    return pytestconfig.stash.setdefault(MATRIX, [])


def pytest_terminal_summary(terminalreporter, config):
    told = config.stash.get(MATRIX, [])
    rows = [row for row in told if not isinstance(row, str)]
    if not told:
        return
    killed = sum(outcome.status == "failed" for _, _, outcome in rows)
    terminalreporter.section(f"kill matrix: {killed} of {len(rows)} mutants killed")
    line = "{:31} {:12} {:41} {:13} {:>5}".format
    terminalreporter.write_line(line("mutant", "family", "killed by", "reports", "s"))
    for name, reports, outcome in sorted(rows, key=lambda row: (row[2].invariant, row[0])):
        id, seconds = outcome.invariant, f"{outcome.seconds:.2f}"
        verdict = id if outcome.status == "failed" else f"{outcome.status.upper()} {id}"
        terminalreporter.write_line(line(name, id.split(".")[0], verdict, " ".join(reports), seconds))
    for text in (row for row in told if isinstance(row, str)):
        terminalreporter.write_line(text)
