"""What the test modules share: the kill matrix, printed when all is done, and what one process must run together."""

import pytest


def pytest_itemcollected(item):
    """Spread over processes, a backend's invariants stay together, and so does a module whose tests share a run."""
    module = item.path.stem
    if module == "test_backends":
        item.add_marker(pytest.mark.xdist_group(item.name.partition("[")[2].partition("-")[0]))
    elif module not in ("test_controls", "test_mutants"):
        item.add_marker(pytest.mark.xdist_group(module))


@pytest.fixture
def kill_matrix(record_property):
    """Takes a row (mutant, reports, outcome) for the table at the end, or a line below it."""

    def add(row):
        if not isinstance(row, str):
            name, reports, outcome = row
            row = [name, " ".join(reports), outcome.invariant, outcome.status, outcome.seconds]
        record_property("kill matrix", row)

    return add


def pytest_terminal_summary(terminalreporter):
    reports = [report for group in terminalreporter.stats.values() for report in group]
    told = [
        value
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
        if name == "kill matrix"
    ]
    rows = [row for row in told if not isinstance(row, str)]
    if not told:
        return
    killed = sum(status == "failed" for *_, status, _ in rows)
    terminalreporter.section(f"kill matrix: {killed} of {len(rows)} mutants killed")
    line = "{:31} {:12} {:41} {:13} {:>5}".format
    terminalreporter.write_line(line("mutant", "family", "killed by", "reports", "s"))
    for name, planted, id, status, seconds in sorted(rows, key=lambda row: (row[2], row[0])):
        verdict = id if status == "failed" else f"{status.upper()} {id}"
        terminalreporter.write_line(line(name, id.split(".")[0], verdict, planted, f"{seconds:.2f}"))
    for text in (row for row in told if isinstance(row, str)):
        terminalreporter.write_line(text)
