"""A run's verdicts for other programs: JSON and JUnit XML."""

import json
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TextIO
from xml.etree import ElementTree

from attnspec.child import Job
from attnspec.specs.outcome import KNOWN, NEVER_RAN, NOT_CLAIMED
from attnspec.verdict import NOT_RUN, Row, Verdict, plain
from attnspec.wording import failure_lines, judgement


def write_json(file: TextIO, verdicts: Sequence[Verdict], jobs: Sequence[Job]) -> None:
    """One object: the version, when and where, and for each target its verdict with every row."""
    from importlib.metadata import version

    targets = []
    for verdict, job in zip(verdicts, jobs, strict=True):
        head = {"target": verdict.target, "exit_code": verdict.exit_code, "verdict": judgement(verdict)}
        ran = {
            "profile": job.profile,
            "seed": job.seed,
            "seconds": verdict.seconds,
            "error": verdict.error,
            "backend": verdict.about,
        }
        targets.append({**head, **ran, "outcomes": plain(verdict.rows)})
    where = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    run = {"attnspec": version("attnspec"), "date": datetime.now(UTC).isoformat(timespec="seconds"), **where}
    json.dump({**run, "targets": targets}, file, indent=1, ensure_ascii=False)
    file.write("\n")


def write_junit(file: TextIO, verdicts: Sequence[Verdict], jobs: Sequence[Job]) -> None:
    """One test suite for each target, one test case for each invariant."""
    root = ElementTree.Element("testsuites", name="attnspec")
    for verdict, job in zip(verdicts, jobs, strict=True):
        root.append(_suite(verdict, job))
    file.write('<?xml version="1.0" encoding="utf-8"?>\n')
    file.write(ElementTree.tostring(root, encoding="unicode") + "\n")


def _suite(verdict: Verdict, job: Job) -> ElementTree.Element:
    cases = [_case(verdict, row, job) for row in verdict.rows]
    if verdict.error:
        case = ElementTree.Element("testcase", classname=verdict.name, name="verify")
        ElementTree.SubElement(case, "error", message=_clean(verdict.error))
        cases.append(case)
    suite = ElementTree.Element("testsuite", name=verdict.name, tests=str(len(cases)), time=f"{verdict.seconds:.3f}")
    for kind, attribute in COUNTED.items():
        suite.set(attribute, str(sum(case.find(kind) is not None for case in cases)))
    suite.extend(cases)
    return suite


COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def _case(verdict: Verdict, row: Row, job: Job) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=verdict.name, name=row.invariant, time=f"{row.seconds:.3f}")
    if row.broken:
        message = row.trouble.message if row.trouble else row.reason
        element = ElementTree.SubElement(case, "failure", message=_clean(message), type=row.status)
        element.text = _clean("\n".join(failure_lines(row, job)))
    elif row.status in (NEVER_RAN, NOT_RUN):
        ElementTree.SubElement(case, "error", message=_clean(row.reason or row.status), type=row.status)
    elif row.status in (NOT_CLAIMED, KNOWN):
        ElementTree.SubElement(case, "skipped", message=_clean(": ".join(filter(None, (row.status, row.reason)))))
    return case


def _clean(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return re.sub(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "�", text)
