"""An outsider's test suite, in a project of its own, gets a test for each backend–invariant pair."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import attnspec
from attnspec.specs.catalogue import catalogue
from attnspec.testing import Check

OUTSIDER = Path(__file__).parent / "outsider"


@pytest.fixture
def project(tmp_path):
    """A copy of the outsider's project, far from this repository."""
    ignored = shutil.ignore_patterns("conftest.py", "__pycache__")
    return Path(shutil.copytree(OUTSIDER, tmp_path / "project", ignore=ignored))


def run_pytest(project, *words):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)


def test_the_outsider_conforms(project):
    ran = run_pytest(project, "-vv")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"attnspec: {attnspec.__version__}" in ran.stdout
    ids = [line.split()[0] for line in ran.stdout.splitlines() if line.startswith("test_conformance.py::")]
    assert ids == [f"test_conformance.py::test_attention[attention-{id}]" for id in catalogue()]
    assert "test_attention[attention-definition.output] PASSED" in ran.stdout
    assert "test_attention[attention-softmax.rows_sum_to_one] SKIPPED" in ran.stdout


FAULTY = """
import attnspec

@attnspec.parametrize("faulty.py", profile="quick", only=["contract.claims", "definition.output", "shape.dtype"])
def test_faulty(check):
    check()
"""


def test_a_fault_is_a_readable_failure(project):
    text = (project / "outsider" / "attention.py").read_text()
    text = text.replace("np.sqrt(query.shape[-1] or 1)", "1.01").replace('LACKS = {"gqa"}', "")
    (project / "faulty.py").write_text(text)
    (project / "test_faulty.py").write_text(FAULTY)
    ran = run_pytest(project, "test_faulty.py")
    assert ran.returncode == 1
    assert "2 failed, 1 passed" in ran.stdout
    assert "E       AssertionError: The output is softmax(scale · query · keyᵀ) · value" in ran.stdout
    assert "smallest problem: float32, rank 4: B 1, Hq 1, Hkv 1, L 1, S 2, Dk 1, Dv 1" in ran.stdout
    assert "attnspec verify faulty.py --only definition.output --problem" in ran.stdout
    assert 'if that is meant, declare LACKS = {"gqa"}' in ran.stdout
    assert "specs/verify.py" not in ran.stdout, "the traceback ends at the outsider's own line"


def parameters(decorator):
    name, values = decorator.mark.args
    assert name == "check"
    return values


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


BROKEN = 'ARRAYS = "numpy"\n\ndef attention(query, key, value):\n    raise RuntimeError("[bold]no[/bold]")\n'


def test_several_backends_of_every_kind(write):
    from attnspec.impls import numpy_naive

    targets = ["numpy_blockwise", numpy_naive, write("broken.py", BROKEN), attnspec.load("numpy_naive")]
    values = parameters(attnspec.parametrize(targets, only=["shape.dtype"]))
    names = ["numpy_blockwise", "numpy_naive", "broken", "numpy_naive"]
    assert [value.id for value in values] == [f"{name}-shape.dtype" for name in names]
    assert all(isinstance(value.values[0], Check) for value in values)


def check_of(target, id, profile="quick", **options):
    (value,) = parameters(attnspec.parametrize(target, only=[id], profile=profile, **options))
    return value.values[0]


def test_what_fails_on_the_plainest_problem_fails_once(write):
    path = write("broken.py", BROKEN)
    with pytest.raises(AssertionError, match=r"the plainest problem: attention raised RuntimeError: \[bold\]no"):
        check_of(path, "contract.claims")()
    with pytest.raises(pytest.skip.Exception, match="not even the plainest problem works"):
        check_of(path, "shape.dtype")()


def test_a_known_issue_is_expected_to_fail(write):
    text = (OUTSIDER / "outsider" / "attention.py").read_text()
    text = text.replace("from outsider.numerics", "from numerics").replace("np.sqrt(query.shape[-1] or 1)", "1.01")
    write("numerics.py", (OUTSIDER / "outsider" / "numerics.py").read_text())
    known = {"definition.output": "scale: example.org/1", "shape.dtype": "none: example.org/2"}
    path = write("known.py", f"{text}\nKNOWN_ISSUES = {known}\n")
    with pytest.raises(pytest.xfail.Exception, match=r"scale: example\.org/1"):
        check_of(path, "definition.output")()
    with pytest.raises(AssertionError, match="declared a known issue, but it holds"):
        check_of(path, "shape.dtype", profile="default")()
    check_of(path, "shape.dtype")()


def test_a_framework_that_is_not_installed_is_skipped(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (value,) = parameters(attnspec.parametrize(write("framework.py", "import torch\n" + BROKEN)))
    (mark,) = value.marks
    assert mark.name == "skip"
    assert "pip install 'attnspec[torch]'" in mark.kwargs["reason"]


@pytest.mark.parametrize(
    ("target", "options", "told"),
    [
        ("nowhere.py", {}, "nowhere.py: wanted a Python file, came a path that does not exist"),
        ("numpy_naive", {"profile": "qick"}, "did you mean 'quick'"),
        ("numpy_naive", {"only": ["nothing.*"]}, "came 'nothing"),
    ],
)
def test_a_mistake_is_told_when_the_tests_are_collected(target, options, told):
    with pytest.raises(ValueError, match=told):
        attnspec.parametrize(target, **options)


def test_the_plugin_imports_nothing_heavy():
    code = "import sys, attnspec.pytest_plugin; print([m for m in ('numpy', 'hypothesis', 'rich') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_verify_from_python(write):
    outcomes = list(attnspec.verify(write("broken.py", BROKEN), profile="quick", only=["contract.claims"]))
    assert [(outcome.invariant, outcome.status) for outcome in outcomes] == [("contract.claims", "failed")]
