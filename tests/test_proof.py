"""Proof of what ran: a kernel that is asked for and did not run is told, wherever a backend is verified."""

import json
import re

import pytest

import attnspec
from attnspec.child import Job
from attnspec.export import write_json
from attnspec.isolate import verify
from attnspec.specs.backend import BackendError
from attnspec.specs.outcome import KNOWN, PASSED
from attnspec.specs.plan import PLAINEST
from attnspec.specs.proof import ROWS, kernels_on, kernels_ran
from attnspec.testing import Check, Examination
from attnspec.wording import judgement, ran

BODY = '''"""Answers by its second kernel where a condition asks for it, and writes down which it was."""
import numpy as np
from attnspec.impls import numpy_naive

ARRAYS = "numpy"
DTYPES = ("float32",)
LACKS = {"gqa"}
CONVENTIONS = {"intermediate_dtype": "float32"}
RAN = []


def attention(query, key, value, *, mask=None, scale=None):
    if query.shape[-3:-2] != key.shape[-3:-2]:
        raise ValueError("no gqa")
    RAN.append("slow" if FALLS_BACK else "fast")
    return numpy_naive.attention(query, key, value, mask=mask, scale=scale)


def kernels(call):
    RAN.clear()
    call()
    return set(RAN)
'''
PLAINLY = json.dumps({**json.loads(PLAINEST.to_json()), "dtype": "float32"})


@pytest.fixture
def write(tmp_path):
    def written(falls_back="mask is not None", more="", kernel=""):
        text = BODY.replace("FALLS_BACK", falls_back) + (f'KERNEL = "{kernel}"\n' if kernel else "") + more
        path = tmp_path / "second_kernel.py"
        path.write_text(text)
        return str(path)

    return written


def run(path, **more):
    return verify(Job(path, "quick", ("contract", "definition"), timeout=60.0, **more))


def test_what_ran_is_counted_and_told(write):
    verdict = run(write())
    assert verdict.exit_code == 0, verdict
    counted = verdict.about["ran"]
    assert set(counted) == {"fast", "slow"}
    assert sum(counted.values()) == 1 + ROWS
    verdict.about["ran"] = {"fast": 1, "slow": 15}
    assert ran(verdict) == "slow ran on 15 problems, fast ran on 1 problem"


def test_the_kernel_asked_for_ran(write):
    verdict = run(write(falls_back="False", kernel="fast"))
    assert verdict.exit_code == 0, verdict
    assert verdict.about["kernel"] == "fast"
    assert verdict.about["ran"] == {"fast": 1 + ROWS}


def test_a_kernel_that_did_not_run_exits_2_in_one_line(write, tmp_path):
    path = write(kernel="fast")
    verdict = run(path)
    assert verdict.exit_code == 2
    told = judgement(verdict)
    wanted = r'could not be verified: KERNEL: wanted fast to run, came slow, on (\{.*"mask".*\})$'
    assert re.match(wanted, told), told
    with (tmp_path / "report.json").open("w+") as file:
        write_json(file, [verdict], [Job(path)])
        file.seek(0)
        target = json.load(file)["targets"][0]
    assert target["exit_code"] == 2
    assert target["backend"]["kernel"] == "fast"


def test_the_problem_that_is_named_shows_it_again(write):
    path = write(kernel="fast")
    case = judgement(run(path)).partition(", on ")[2]
    again = verify(Job(path, patterns=("definition.output",), problem=case))
    assert judgement(again) == judgement(run(path))
    assert verify(Job(path, patterns=("definition.output",), problem=PLAINLY)).about["ran"] == {"fast": 1}


def test_from_python_and_from_pytest_too(write):
    backend = attnspec.load(write(kernel="fast"))
    with pytest.raises(ValueError, match="KERNEL: wanted fast to run, came slow"):
        list(attnspec.verify(backend, only=["contract"]))
    with pytest.raises(ValueError, match="KERNEL: wanted fast to run, came slow"):
        Check(Examination(backend, attnspec.api.named_profile("quick"), Job("x")), "contract.claims")()


def test_none_ran(write):
    path = write(falls_back="False", kernel="fast", more="kernels = lambda call: call() and set()\n")
    assert "wanted fast to run, came none, on" in judgement(run(path))


def test_what_raises_is_left_to_the_survey(write):
    verdict = run(write(falls_back="mask is not None and [][1]", kernel="fast"))
    assert verdict.exit_code == 1
    assert verdict.about["ran"].keys() == {"fast"}
    rows = {row.invariant: row for row in verdict.rows}
    assert rows["contract.claims"].trouble.lacks == ("mask",)


def test_what_kills_the_process_is_left_to_the_survey(write):
    verdict = run(write(falls_back="mask is not None and __import__('os')._exit(7)", kernel="fast"))
    rows = {row.invariant: row for row in verdict.rows}
    assert rows["contract.claims"].trouble.lacks == ("mask",)
    assert rows["definition.output"].status in (PASSED, KNOWN)


WRONG = {
    "raises": ("def kernels(call):\n    [][1]\n", "kernels raised IndexError: list index out of range, on {"),
    "no set": ("def kernels(call):\n    return 'fast'\n", "kernels: wanted a set of names, came 'fast', on {"),
    "no names": ("def kernels(call):\n    return {3}\n", "kernels: wanted a set of names, came {3}, on {"),
}


@pytest.mark.parametrize("case", WRONG)
def test_kernels_that_cannot_tell(write, case):
    more, told = WRONG[case]
    verdict = run(write(more=more))
    assert verdict.exit_code == 2
    assert judgement(verdict).startswith(f"could not be verified: {told}")


def test_a_backend_that_does_not_tell(write):
    backend = attnspec.load("numpy_naive")
    assert backend.kernels is None
    assert kernels_ran(backend) == {}


def test_an_error_of_the_call_passes_through_the_function(write):
    backend = attnspec.load(write(falls_back="[][1]"))
    with pytest.raises(BackendError):
        backend.kernels(lambda: backend.solve(PLAINEST.problem()))
    assert kernels_on(backend, [PLAINEST.problem()]) == {}
