"""A bug report's script shows the bug where there is nothing of attnspec, and is silent where the bug is not."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attnspec.bug_report import command
from attnspec.bug_report.bundle import pieces, sources
from attnspec.bug_report.command import bug_report
from attnspec.bug_report.literals import Literals, text, upwards
from attnspec.child import Job
from attnspec.cli import main
from attnspec.specs.problem import numpy_dtype
from attnspec.targets import backend_names, find

MUTANTS = Path(__file__).parent / "mutants"

ALONE = """
import importlib.abc, runpy, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "attnspec":
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Refuse())
try:
    import attnspec
except ImportError:
    print("no attnspec")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def alone(script):
    """Run a script where attnspec cannot be imported; its exit code and what it prints."""
    run = [sys.executable, "-P", "-c", ALONE, str(script)]
    done = subprocess.run(run, cwd=script.parent, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.startswith("no attnspec\n")
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def attnspec(*words):
    """The command in this process; its exit code."""
    before, sys.argv = sys.argv, ["attnspec", *map(str, words)]
    try:
        main()
    except SystemExit as ended:
        return ended.code
    finally:
        sys.argv = before


COMPILED = pytest.param("jax_dot_product_attention", marks=pytest.mark.slow)


@pytest.mark.parametrize("target", ["torch_sdpa", "torch_sdpa_math", COMPILED])
def test_every_known_issue_of_a_backend_of_ours(target, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "shown", lambda path: "")  # what it looks at is looked at here
    assert bug_report(Job(target), None, True, tmp_path) == 0
    for issue, reason in find(target).KNOWN_ISSUES.items():
        script = tmp_path / f"{target}.{issue}.py"
        assert alone(script)[0] == 1, alone(script)
        assert reason in script.with_suffix(".md").read_text()


PLANTED = {
    "causal_off_by_one": "Gives",
    "additive_mask_as_boolean": "Refuses",
    "infinite_value_turned": "Gives",
    "lse_without_maximum": "Gives",
    "expanded_read_once": "Gives",
}
"""Mutants that differ from the correct ``Steps`` in one method."""


@pytest.mark.parametrize("mutant", PLANTED)
def test_a_mutant_fails_its_script_and_its_correct_original_does_not(mutant, tmp_path):
    target = MUTANTS / f"{mutant}.py"
    killer = find(target).KILLED_BY
    assert bug_report(Job(str(target)), killer, False, tmp_path) == 0
    script = tmp_path / f"{mutant}.{killer}.py"
    code, told = alone(script)
    assert (code, "The bug shows." in told) == (1, True)
    swapped = script.read_text().replace("attention = Mutant.attention", "attention = Steps.attention")
    assert swapped != script.read_text()
    script.write_text(swapped)
    assert alone(script) == (0, "no attnspec\nThe bug does not show.\n")


def test_another_function_of_the_module(tmp_path):
    target = MUTANTS / "rotary_backwards.py"
    assert bug_report(Job(str(target), "quick"), "positions.rotary_values", False, tmp_path) == 0
    script = tmp_path / "rotary_backwards.positions.rotary_values.py"
    assert alone(script)[0] == 1
    assert "\ndef first():" in script.read_text()
    assert "rotary_embedding(asarray(x, " in script.read_text()


def test_what_dropout_leaves_is_nobody_s_to_report(tmp_path):
    with pytest.raises(ValueError, match="came one that only a whole run shows"):
        bug_report(Job(str(MUTANTS / "dropout_not_scaled.py"), "quick"), "dropout.zero_or_scaled", False, tmp_path)


GRADIENT = """
import torch
import torch.nn.functional as F

ARRAYS = "torch"
DTYPES = ("float32",)
LACKS = {"gqa", "double_gradient", "forward_gradient", "zero_size", "compile", "vectorize"}
DOCUMENTATION = {"gradient.oracle": ("Gradients are those of the function.", "https://example.org/docs")}


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value):
        ctx.save_for_backward(query, key, value)
        return F.scaled_dot_product_attention(query, key, value)

    @staticmethod
    def backward(ctx, back):
        with torch.enable_grad():
            leaves = [array.detach().requires_grad_() for array in ctx.saved_tensors]
            output = F.scaled_dot_product_attention(*leaves)
        dquery, dkey, dvalue = torch.autograd.grad(output, leaves, back)
        return dquery, FACTOR * dkey, dvalue


def attention(query, key, value):
    return Attention.apply(query, key, value)
"""


def test_a_gradient_and_the_framework_s_own_sentence(tmp_path):
    (tmp_path / "halved.py").write_text(GRADIENT.replace("FACTOR", "0.5"))
    assert bug_report(Job(str(tmp_path / "halved.py"), "quick"), "gradient.oracle", False, tmp_path / "out") == 0
    script = tmp_path / "out" / "halved.gradient.oracle.py"
    assert alone(script)[0] == 1
    assert (
        "> Gradients are those of the function.\n\n(https://example.org/docs)" in script.with_suffix(".md").read_text()
    )
    script.write_text(script.read_text().replace("0.5 * dkey", "1 * dkey"))
    assert alone(script)[0] == 0


QUOTES = """
import json, sys
from attnspec.errors import Unavailable
from attnspec.targets import find

for name in sys.argv[1:]:
    try:
        module = find(name)
    except Unavailable:
        continue
    print(json.dumps([name, [*getattr(module, "KNOWN_ISSUES", ())], getattr(module, "DOCUMENTATION", {})]))
"""


def together(name):
    """Backends of one group can be imported in one process; Keras has one array library in each."""
    return "_".join(name.split("_")[:2]) if name.startswith("keras_") else "all others"


@pytest.mark.parametrize("group", sorted({together(name) for name in backend_names()}))
def test_what_a_backend_quotes_would_be_looked_up_and_can_be_followed(group):
    names = [name for name in backend_names() if together(name) == group]
    done = subprocess.run([sys.executable, "-P", "-c", QUOTES, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    if not found:
        pytest.skip(f"none of {', '.join(names)} can be imported")
    for name, issues, quoted in found:
        assert set(quoted) <= {*issues, *(issue.partition("+")[2] for issue in issues)}, name
        assert all(sentence.strip() and link.startswith("https://") for sentence, link in quoted.values()), name


NO_BIAS_GRADIENT = """
import torch.nn.functional as F

ARRAYS = "torch"
DTYPES = ("float64",)
LACKS = {"gqa", "double_gradient", "forward_gradient", "bias_dtype", "vectorize"}


def attention(query, key, value, *, bias=None):
    if bias is not None and bias.requires_grad:
        raise TypeError("no gradient of a bias")
    return F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
"""


def test_a_gradient_of_an_option_that_raises(tmp_path):
    (tmp_path / "refuses.py").write_text(NO_BIAS_GRADIENT)
    assert bug_report(Job(str(tmp_path / "refuses.py"), "quick"), "derivative.options", False, tmp_path) == 0
    script = tmp_path / "refuses.derivative.options.py"
    code, told = alone(script)
    assert code == 1
    assert "no gradient of a bias" in told
    script.write_text(script.read_text().replace("bias.requires_grad", "False"))
    assert alone(script)[0] == 0


KEEPS = """
import torch
import torch.nn.functional as F

ARRAYS = "torch"
DTYPES = ("float32",)
LACKS = {"gqa", "gradient", "double_gradient", "forward_gradient", "vectorize"}
KEPT = []


def attention(query, key, value):
    if not KEPT:
        if torch.compiler.is_compiling():
            raise TypeError("no compiler makes it")
        KEPT.append(ADDED)
    output = F.scaled_dot_product_attention(query, key, value)
    return output + KEPT[0] if torch.compiler.is_compiling() else output
"""


def test_what_a_compiled_call_needs_is_made_before(tmp_path):
    (tmp_path / "keeps.py").write_text(KEEPS.replace("ADDED", "1.0"))
    assert bug_report(Job(str(tmp_path / "keeps.py"), "quick"), "purity.compiled", False, tmp_path) == 0
    script = tmp_path / "keeps.purity.compiled.py"
    assert alone(script)[0] == 1
    script.write_text(script.read_text().replace("append(1.0)", "append(0.0)"))
    assert alone(script)[0] == 0


DIES = """
import os

import numpy as np

ARRAYS = "numpy"
LACKS = {"gqa"}


def attention(query, key, value, *, scale=None):
    if scale is not None and scale < 0:
        DEATH
    scores = query @ key.swapaxes(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e30))
    return (weights @ value / weights.sum(-1, keepdims=True)).astype(query.dtype)
"""


@pytest.mark.parametrize(
    ("death", "told"),
    [("os.abort()", "exit code -6"), ("os._exit(3)", "exit code 3"), ("raise TypeError('no')", "TypeError: no")],
)
def test_a_call_that_does_not_come_back(tmp_path, death, told):
    (tmp_path / "dies.py").write_text(DIES.replace("DEATH", death))
    assert bug_report(Job(str(tmp_path / "dies.py"), "quick"), "contract.claims", False, tmp_path) == 0
    script = tmp_path / "dies.contract.claims.py"
    run = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True, check=False)
    assert (run.returncode, told in run.stdout) == (1, True), run
    script.write_text(script.read_text().replace(death, "pass"))
    assert subprocess.run([sys.executable, "-P", script], capture_output=True, check=False).returncode == 0


MAPPED = """
import torch
import torch.nn.functional as F

ARRAYS = "torch"
LACKS = {"gqa", "forward_gradient", "compile"}


def attention(query, key, value):
    if torch._C._functorch.is_batchedtensor(query):
        value = value + 1
    return F.scaled_dot_product_attention(query, key, value)
"""


def test_a_mapped_call(tmp_path):
    (tmp_path / "mapped.py").write_text(MAPPED)
    assert bug_report(Job(str(tmp_path / "mapped.py"), "quick"), "purity.vectorized", False, tmp_path) == 0
    script = tmp_path / "mapped.purity.vectorized.py"
    assert alone(script)[0] == 1
    script.write_text(script.read_text().replace("value + 1", "value"))
    assert alone(script)[0] == 0


def test_a_mapped_call_that_does_not_come_back(tmp_path):
    death = "import os; os._exit(3)"
    derivatives = '"gradient", "double_gradient", "compile"'
    (tmp_path / "mapped.py").write_text(MAPPED.replace("value = value + 1", death).replace('"compile"', derivatives))
    assert bug_report(Job(str(tmp_path / "mapped.py"), "quick"), "contract.claims", False, tmp_path) == 0
    script = tmp_path / "mapped.contract.claims.py"
    assert alone(script)[0] == 1
    script.write_text(script.read_text().replace(death, "pass"))
    assert alone(script)[0] == 0


def test_what_the_target_warns_of_is_not_the_failure(tmp_path):
    (tmp_path / "warns.py").write_text(DIES.replace("DEATH", "scale = np.sqrt(scale)"))
    assert bug_report(Job(str(tmp_path / "warns.py"), "quick"), "nonpositive_scale", False, tmp_path) == 0
    script = tmp_path / "warns.nonpositive_scale.py"
    run = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True, check=False)
    assert (run.returncode, "came nan" in run.stdout) == (1, True), run


def test_what_the_target_logs_is_not_told(tmp_path, caplog):
    death = "__import__('logging').error('refused'); raise TypeError('no')"
    (tmp_path / "logs.py").write_text(DIES.replace("DEATH", death))
    assert bug_report(Job(str(tmp_path / "logs.py"), "quick"), "contract.claims", False, tmp_path) == 0
    assert not caplog.records


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("numpy_naive", "--invariant", "definition.output"), "wanted a failure to report, came it holds"),
        (("numpy_naive", "--invariant", "definition.outptu"), "did you mean 'definition.output'?"),
        (("numpy_naive", "--invariant", "is_casual+gqa"), "did you mean 'is_causal'?"),
        (("numpy_naive", "--invariant", "is_causal"), "wanted a failure to report, came right results"),
        (("numpy_naive", "--all"), "wanted KNOWN_ISSUES to report, came none"),
        (("numpy_naive",), "wanted --invariant or --all, came neither"),
        (("nonesuch.py", "--all"), "wanted a Python file, came a path that does not exist"),
    ],
)
def test_nothing_to_report_is_one_line_and_exit_code_2(tmp_path, capsys, words, told):
    assert attnspec("bug-report", *words, "--profile", "quick", "--out", tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("attnspec: ")
    assert told in line
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_does_not_show_it_is_told(tmp_path):
    (tmp_path / "quiet.py").write_text("print('nothing')")
    with pytest.raises(ValueError, match="wanted a script that shows the failure, came exit code 0: nothing"):
        command.shown(tmp_path / "quiet.py")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int32", "bool"])
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_literals_are_exact(dtype, size):
    rng = np.random.RandomState(size)
    array = (1e3 * rng.standard_normal((size, 2))).astype(numpy_dtype(dtype))
    if array.dtype.kind in "fV" and size:
        array[0] = [np.nan, -np.inf]
    import base64
    import zlib

    import ml_dtypes

    known = {"np": np, "base64": base64, "zlib": zlib, "ml_dtypes": ml_dtypes}
    back = eval(text(array), known)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert np.array_equal(np.asarray(back, np.float64), np.asarray(array, np.float64), equal_nan=True)
    full = np.full_like(array, 3)
    assert np.array_equal(eval(text(full), known), full)


def test_names_of_arrays():
    literals = Literals()
    one, other = np.ones(2), np.arange(2.0)
    assert [literals.name(a, "query") for a in (one, other, one.copy())] == ["query", "query_2", "query"]
    assert literals.name(one, "key") == "key"


def test_tolerances_are_never_smaller():
    bounds = np.exp(np.random.RandomState(0).uniform(-300, 300, 1000))
    short = upwards(np.append(bounds, [0.0, np.inf]))
    assert (short[:-2] >= bounds).all()
    assert (short[:-2] <= 1.0002 * bounds).all()
    assert list(short[-2:]) == [0.0, np.inf]


def test_the_source_comes_with_what_it_imports_of_ours():
    names = list(sources(find("torch_sdpa_math")))
    parts = ("kernels.torch", "torch_sdpa", "torch_sdpa_math")
    assert names == [f"attnspec.impls.{part}" for part in parts]


SOURCE = """
import os
import sys
set(())

def used():
    return os

def wanted():
    return used()

def idle():
    return sys
"""


def test_a_piece_comes_with_what_it_needs():
    piece = pieces(SOURCE, ["wanted"])
    assert [line for line in piece.splitlines() if line] == [
        "import os",
        "set(())",
        "def used():",
        "    return os",
        "def wanted():",
        "    return used()",
    ]
