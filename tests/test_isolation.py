"""A backend that raises, hangs, crashes or exits costs its own row in the report, nothing else."""

import json
import threading
import time

import pytest

from attnspec.child import Job
from attnspec.crumb import KEPT, Crumb, Note, history
from attnspec.culprit import shortest
from attnspec.isolate import Stopped, verify
from attnspec.specs.outcome import FAILED, KNOWN, NOT_CLAIMED, PASSED
from attnspec.specs.recipe import Recipe, Shape
from attnspec.verdict import CRASHED, HUNG, NOT_RUN

BODY = """
import os
import sys

import numpy as np
from attnspec.impls import numpy_naive

ARRAYS = "numpy"
LACKS = {{"gqa"}}
CONVENTIONS = {{"intermediate_dtype": "float32"}}
{constants}

def attention(query, key, value, *, mask=None, scale=None):
    if query.shape[-3:-2] != key.shape[-3:-2]:
        raise ValueError("no gqa")
    {fault}
    return numpy_naive.attention(query, key, value, mask=mask, scale=scale)
"""

FEW = ("contract", "definition", "shape.output")
"""Enough invariants to see that the others go on."""


@pytest.fixture
def run(tmp_path):
    """Verify a backend with a fault in it."""

    def verified(fault, patterns=FEW, timeout=60.0, constants="", name="faulty", **more):
        path = tmp_path / f"{name}.py"
        path.write_text(BODY.format(fault=fault, constants=constants))
        return verify(Job(str(path), "quick", patterns, timeout=timeout, **more))

    return verified


def statuses(verdict):
    return {row.invariant: row.status for row in verdict.rows}


def row(verdict, id):
    return next(row for row in verdict.rows if row.invariant == id)


LARGE = "if 1e6 < np.abs(value).max(initial=0) < 1e20: "
"""Only the invariants that send large values meet this; the survey does not."""


def test_no_fault_conforms(run):
    verdict = run("pass")
    assert verdict.exit_code == 0, verdict
    assert set(statuses(verdict).values()) <= {PASSED, NOT_CLAIMED}


def test_a_crash_is_told_once_with_the_feature_that_crashes(run):
    verdict = run("if query.shape[-1] != value.shape[-1]: os.abort()")
    assert verdict.exit_code == 1
    claims = row(verdict, "contract.claims")
    assert claims.status == FAILED
    assert claims.trouble.lacks == ("value_dim",)
    assert "value_dim: attention crashed: SIGABRT at faulty.py, line 16" in claims.trouble.message
    assert statuses(verdict)["definition.output"] == PASSED


def test_a_crash_past_the_survey_costs_the_row_of_its_invariant(run):
    verdict = run(f"{LARGE}os.kill(os.getpid(), 11)", (*FEW, "masking.hidden_is_unread", "purity.silent"))
    assert statuses(verdict)["masking.hidden_is_unread"] == CRASHED
    others = {id: status for id, status in statuses(verdict).items() if id != "masking.hidden_is_unread"}
    assert set(others.values()) <= {PASSED, NOT_CLAIMED}, others
    crash = row(verdict, "masking.hidden_is_unread").trouble
    assert "attention crashed: SIGSEGV at faulty.py, line 16" in crash.message
    assert crash.problem
    again = verify(Job(verdict.target, "quick", ("masking.hidden_is_unread",), problem=crash.case))
    assert statuses(again) == {"masking.hidden_is_unread": CRASHED}


SPOILS = """
armed = [0]

def spoil(large):
    armed[0] = 4 if large else max(armed[0] - 1, 0)
    if armed[0] == 1:
        os.kill(os.getpid(), 11)
"""


def test_a_crash_three_calls_later_is_blamed_on_the_call_that_spoiled_the_memory(run):
    large = f"spoil({LARGE[3:-2]})"
    patterns = (*FEW, "masking.hidden_is_unread", "purity.silent", "symmetry.batch_independence")
    verdict = run(large, patterns, constants=SPOILS)
    assert statuses(verdict)["masking.hidden_is_unread"] == CRASHED
    others = {id: status for id, status in statuses(verdict).items() if id != "masking.hidden_is_unread"}
    assert set(others.values()) <= {PASSED, NOT_CLAIMED}, others
    message = row(verdict, "masking.hidden_is_unread").trouble.message
    assert message.startswith("attention crashed: SIGSEGV at faulty.py, line ")
    assert "1 step of the run later: repeated, that crashes again, but not without this one" in message, message


@pytest.mark.parametrize("length", [1, 2, 7, 32])
@pytest.mark.parametrize("least", [1, 2, 3, 7, 31, 33])
def test_the_shortest_tail_is_found_in_few_tries(length, least):
    tried = []

    def crash(count):
        tried.append(count)
        return count >= least

    assert shortest(length, crash) == (least if least <= length else None)
    assert len(tried) <= 7


def test_the_last_notes_are_kept(tmp_path):
    path = str(tmp_path / "crumb")
    (tmp_path / "crumb").touch()
    assert history(path) == []
    notes = [Note("", problem, problem, "") for problem in (Recipe(seed=n).problem() for n in range(KEPT + 3))]
    crumb = Crumb(path)
    for note in notes:
        crumb.write(note)
    assert [note.key for note in history(path)] == [note.key for note in notes[3:]]


def test_a_crash_on_malformed_input_costs_the_row_of_its_invariant(run):
    verdict = run("if value.shape[-2] > key.shape[-2]: os.abort()", (*FEW, "rejection.lengths", "rejection.width"))
    assert statuses(verdict)["rejection.lengths"] == CRASHED
    others = {id: status for id, status in statuses(verdict).items() if id != "rejection.lengths"}
    assert set(others.values()) <= {PASSED, NOT_CLAIMED}, others
    crash = row(verdict, "rejection.lengths").trouble
    assert "attention crashed: SIGABRT at faulty.py, line 16" in crash.message
    again = verify(Job(verdict.target, "quick", ("rejection.lengths",), problem=crash.case))
    assert statuses(again) == {"rejection.lengths": CRASHED}


def test_a_crash_in_another_function_is_told_by_its_name(run):
    crashing = "def rotary_embedding(x):\n    import os; os.abort()"
    verdict = run("pass", ("positions.rotary_norm", "shape.dtype"), constants=crashing)
    assert statuses(verdict) == {"positions.rotary_norm": CRASHED, "shape.dtype": PASSED}
    crash = row(verdict, "positions.rotary_norm").trouble
    assert "rotary_embedding crashed: SIGABRT at faulty.py" in crash.message
    again = verify(Job(verdict.target, "quick", ("positions.rotary_norm",), problem=crash.case))
    assert statuses(again) == {"positions.rotary_norm": CRASHED}


CACHES = """
def make_cache(*sizes):
    return None

def attend_cached(query, key, value, cache):
    os.abort()
"""


def test_a_crash_of_another_function_is_told_with_its_name(run):
    verdict = run("pass", (*FEW, "caching.prefill"), constants=CACHES)
    assert statuses(verdict)["contract.claims"] == PASSED
    assert statuses(verdict)["caching.prefill"] == CRASHED
    assert "attend_cached crashed: SIGABRT at faulty.py" in row(verdict, "caching.prefill").trouble.message


def test_a_crash_that_is_a_known_issue(run):
    known = "KNOWN_ISSUES = {'masking.hidden_is_unread': 'example.org/1'}"
    verdict = run(f"{LARGE}os.abort()", (*FEW, "masking.hidden_is_unread"), constants=known)
    assert statuses(verdict)["masking.hidden_is_unread"] == KNOWN
    assert verdict.exit_code == 0


def test_a_hang_costs_the_row_of_its_invariant(run):
    verdict = run(f"while {LARGE[3:-2]}: pass", ("masking.hidden_is_unread", "shape.dtype"), timeout=30)
    assert statuses(verdict)["masking.hidden_is_unread"] == HUNG
    assert "hung: no answer in 3 s at faulty.py, line 16" in row(verdict, "masking.hidden_is_unread").trouble.message
    assert statuses(verdict)["shape.dtype"] == PASSED
    assert verdict.exit_code == 1


def test_one_that_always_hangs_is_told_at_the_plainest_problem(run):
    verdict = run("while True: pass", ("softmax.hull", "shape.output"), timeout=10)
    assert "the plainest problem: attention hung" in row(verdict, "contract.claims").trouble.message
    assert statuses(verdict)["softmax.hull"] == NOT_RUN
    assert verdict.exit_code == 1


def test_out_of_time_cannot_be_verified(run):
    verdict = run("import time; time.sleep(0.1)", timeout=3)
    assert NOT_RUN in statuses(verdict).values()
    assert any("out of time: 3 s are over" in row.reason for row in verdict.rows)
    assert verdict.exit_code == 2


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("sys.exit(0)", "attention raised SystemExit: 0"),
        ("os._exit(0)", "attention crashed: exit code 0"),
        ("raise KeyboardInterrupt", "attention crashed: SIGINT"),
        ("raise RuntimeError('[bold]no[/bold]')", "attention raised RuntimeError: [bold]no[/bold]"),
    ],
)
def test_leaving_is_an_error_like_others(run, fault, told):
    verdict = run(fault, ("shape.output",))
    assert told in row(verdict, "contract.claims").trouble.message
    assert statuses(verdict)["shape.output"] == NOT_RUN
    assert verdict.exit_code == 1


def test_prints_at_every_level_leave_the_protocol_alone(run):
    fault = "print('{}'); os.write(1, b'{\"event\": \"done\"}\\n'); os.system('echo hello'); sys.stderr.write('x')"
    verdict = run(fault, ("shape.output", "purity.silent"))
    assert statuses(verdict) == {"shape.output": PASSED, "purity.silent": FAILED}
    assert "standard output: wanted nothing, came '{}" in row(verdict, "purity.silent").trouble.message


def test_it_finds_an_empty_standard_input(run):
    assert statuses(run("assert sys.stdin.read() == ''", ("shape.output",))) == {"shape.output": PASSED}


@pytest.mark.parametrize(
    ("line", "told"), [("os._exit(3)", "crashed: exit code 3"), ("os.abort()", "crashed: SIGABRT")]
)
def test_a_crash_on_import_cannot_be_verified(run, line, told):
    verdict = run("pass", constants=line)
    assert told in verdict.error
    assert verdict.exit_code == 2
    assert verdict.rows == []


def test_a_hang_on_import_cannot_be_verified(run):
    verdict = run("pass", constants="while True: pass", timeout=1.5)
    assert "hung: no answer in 1.5 s at faulty.py" in verdict.error
    assert verdict.exit_code == 2


def test_an_interrupt_ends_the_process(run):
    stopped = threading.Event()
    threading.Timer(1.0, stopped.set).start()
    start = time.monotonic()
    with pytest.raises(Stopped):
        verify(Job("numpy_naive", "thorough"), stopped=stopped)
    assert time.monotonic() - start < 10


def test_the_case_of_a_crash_is_as_short_as_its_recipe():
    recipe = Recipe(Shape(1, 2, 2, 3, 5, 4, 4), "float16", "uniform", 7).with_settings(mask="keys", is_causal="on")
    assert recipe.problem().case == recipe.to_json()
    other = recipe.problem().with_options(scale=0.123)
    assert "data" in json.loads(other.case)["query"]


def test_an_error_outside_of_attention_cannot_be_verified(run, tmp_path):
    binding = "from attnspec.impls.arrays.numpy import *\n\ndef to_numpy(array):\n    raise TypeError('[odd]')\n"
    (tmp_path / "odd_binding.py").write_text(binding)
    verdict = run("pass", ("shape.output",), constants="ARRAYS = 'odd_binding'")
    assert verdict.error.endswith("internal error: TypeError: [odd]")
    assert statuses(verdict) == {"shape.output": NOT_RUN}
    assert verdict.exit_code == 2
