"""``attnspec verify --layers``: a row for each array library, exit codes, JSON, and modules of a stranger's own."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from attnspec.cli import main
from attnspec.specs.layers.catalogue import layer_catalogue

STRANGER = '''"""A stranger's LayerNorm, in PyTorch's own words."""
import torch.nn.functional as F

ARRAYS = "torch"


class LayerNorm:
    def __init__(self, width, epsilon=1e-5):
        self.width, self.epsilon = width, epsilon

    def shapes(self):
        return {"weight": (self.width,), "bias": (self.width,)}

    def __call__(self, p, x):
        return F.layer_norm(x, (self.width,), p["weight"], p["bias"], EPSILON)
'''


@pytest.fixture
def attnspec(tmp_path, monkeypatch):
    """Run the command in a folder of its own, in this process: (exit code, standard output, standard error)."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)

    def run(*words):
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["attnspec", *words])
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as exited:
            main()
        return exited.value.code, out.getvalue(), err.getvalue()

    return run


def test_each_array_library_has_a_row(attnspec, tmp_path):
    code, out, err = attnspec("verify", "--layers", "numpy", "torch", "--only", "layers.*_*", "--json", "layers.json")
    assert (code, err) == (0, "")
    head, first, *_ = out.splitlines()
    assert head.split() == ["invariant", "numpy", "torch"]
    assert first.split() == ["layers.self_attention", "✓", "✓"]
    assert "numpy: conforms" in out
    targets = json.loads((tmp_path / "layers.json").read_text())["targets"]
    for target in targets:
        assert target["exit_code"] == 0
        assert target["seconds"] < 60
        assert [row["invariant"] for row in target["outcomes"]] == [id for id in layer_catalogue() if "_" in id]
        assert sum(row["problems"] for row in target["outcomes"]) > len(target["outcomes"])


def test_a_stranger_has_only_what_it_offers(attnspec, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "theirs.py").write_text(STRANGER.replace("EPSILON", "self.epsilon"))
    code, out, _ = attnspec("verify", "--layers", "theirs.py")
    assert code == 0
    assert "theirs: conforms" in out
    assert "4 of 4 invariants hold" in out


def test_what_offers_nothing_to_verify_does_not_conform(attnspec, tmp_path):
    (tmp_path / "theirs.py").write_text('ARRAYS = "numpy"\nLinear = None\n')
    code, out, _ = attnspec("verify", "--layers", "theirs.py")
    assert code == 2
    assert "theirs: could not be verified: it has nothing that the invariants asked for are about" in out


def test_a_fault_is_a_violation(attnspec, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "theirs.py").write_text(STRANGER.replace("EPSILON", "1e-12"))
    code, out, _ = attnspec("verify", "--layers", "theirs.py", "--only", "layers.norm_definition", "--seed", "3")
    assert code == 1
    assert "float64, B 2, n 5, S 7, width 12, 3 heads, post-norm, seed 3: LayerNorm at" in out
    assert "attnspec verify theirs.py --only layers.norm_definition --layers --seed 3" in out
    assert "theirs: violates 1 invariant" in out


@pytest.mark.parametrize("result", ["None", "[1, 2]", "x.to(torch.float16)"])
def test_whatever_a_layer_gives_is_a_violation(attnspec, tmp_path, result):
    pytest.importorskip("torch")
    odd = STRANGER.replace("import torch.nn", "import torch\nimport torch.nn").replace(
        "F.layer_norm(x", f"{result}; (x"
    )
    (tmp_path / "theirs.py").write_text(odd.replace("EPSILON", "0"))
    code, out, _ = attnspec("verify", "--layers", "theirs.py")
    assert code == 1
    assert "theirs: violates 4 invariants" in out


def test_a_crash_costs_its_own_row(attnspec, tmp_path):
    pytest.importorskip("torch")
    dying = STRANGER.replace("import torch", "import os\nimport torch").replace("EPSILON", "os._exit(7)")
    (tmp_path / "theirs.py").write_text(dying)
    code, out, _ = attnspec("verify", "--layers", "theirs.py", "--only", "layers.norm_affine")
    assert code == 1
    assert "a layer crashed: exit code 7" in out


def with_known_issues(tmp_path, issues, epsilon="1e-12"):
    (tmp_path / "theirs.py").write_text(f"{STRANGER.replace('EPSILON', epsilon)}\n\nKNOWN_ISSUES = {issues}\n")


@pytest.mark.parametrize("device", ["", "cpu+"])
def test_a_known_issue_is_no_violation(attnspec, tmp_path, device):
    pytest.importorskip("torch")
    issue = "layers.norm_definition"
    with_known_issues(tmp_path, {f"{device}{issue}": "https://example.org/1"})
    code, out, _ = attnspec("verify", "--layers", "theirs.py", "--only", issue, "--device", "cpu")
    assert code == 0
    assert f"k known issue: {issue} · theirs: https://example.org/1" in out


def test_a_known_issue_of_another_device_is_none(attnspec, tmp_path):
    pytest.importorskip("torch")
    with_known_issues(tmp_path, {"cuda+layers.norm_definition": "https://example.org/1"})
    code, out, _ = attnspec("verify", "--layers", "theirs.py", "--only", "layers.norm_definition", "--device", "cpu")
    assert code == 1
    assert "theirs: violates 1 invariant" in out


def test_a_known_issue_is_strict(attnspec, tmp_path):
    pytest.importorskip("torch")
    with_known_issues(tmp_path, {"layers.norm_affine": "https://example.org/1"}, "self.epsilon")
    code, out, _ = attnspec("verify", "--layers", "theirs.py", "--only", "layers.norm_affine")
    assert code == 1
    assert "declared a known issue, but it holds: https://example.org/1" in out


@pytest.mark.parametrize("id", ["layers.norm_affin", "softmax.hull", "is_causal+mask", "linear"])
def test_a_known_issue_of_no_invariant_of_layers_is_an_error(attnspec, tmp_path, id):
    pytest.importorskip("torch")
    with_known_issues(tmp_path, {id: "https://example.org/1"})
    code, out, _ = attnspec("verify", "--layers", "theirs.py")
    assert code == 2
    assert "KNOWN_ISSUES: wanted" in out


def test_a_crash_may_be_known(attnspec, tmp_path):
    pytest.importorskip("torch")
    with_known_issues(tmp_path, {"layers.norm_affine": "https://example.org/1"}, "__import__('os')._exit(7)")
    code, out, _ = attnspec("verify", "--layers", "theirs.py", "--only", "layers.norm_affine")
    assert code == 0
    assert "https://example.org/1" in out


def test_a_module_of_mutants_is_a_target(attnspec):
    code, out, _ = attnspec("verify", "--layers", "attnspec.mutants.layers.norm_unbiased", "--only", "layers.norm*")
    assert code == 1
    assert "norm_unbiased: violates" in out


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("nump", "wanted an array library (jax, mlx, numpy, "),
        ("mlx", "wanted one that our layers run on (numpy, torch, jax), came another"),
        ("gone.py", "wanted a Python file, came a path that does not exist"),
        ("json", "ARRAYS: wanted the name of an array library, came a module without"),
        ("attnspec.impls.torch_sdpa", "layers: wanted a module with one at least of Linear, LayerNorm"),
    ],
)
def test_what_cannot_be_verified_says_why(attnspec, target, told):
    code, out, _ = attnspec("verify", "--layers", target)
    assert code == 2
    assert f"could not be verified: {told}" in out


def test_a_library_that_is_not_installed_says_so(attnspec, tmp_path):
    (tmp_path / "theirs.py").write_text(STRANGER.replace("import torch.nn.functional as F", "import attnspec_nowhere"))
    code, out, _ = attnspec("verify", "--layers", "theirs.py")
    assert code == 2
    assert "came ModuleNotFoundError: No module named 'attnspec_nowhere', at line 2" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--vectors"], "--layers: wanted it without --vectors"),
        (["--problem", "{}", "--only", "layers.linear"], "--layers: wanted it without --problem"),
        (["--only", "layers.lineal"], "did you mean 'layers.linear'?"),
        (["--only", "softmax.*"], "invariant of layers: wanted one such as"),
        (["--dtype", "float16"], "dtype of layers: wanted one of float64, float32, came 'float16'"),
    ],
)
def test_options_that_do_not_fit_are_refused(attnspec, words, told):
    code, out, err = attnspec("verify", "--layers", "numpy", *words)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert told in line


def test_what_begins_an_id_is_hinted_at(attnspec):
    code, out, err = attnspec("explain", "layers.norm")
    assert (code, out) == (2, "")
    assert "did you mean 'layers.norm_" in err


def test_explain_tells_the_reports_and_mutants(attnspec):
    code, out, _ = attnspec("explain", "layers.norm_moments")
    assert code == 0
    assert "https://github.com/allenai/allennlp/issues/953" in out
    assert "norm_unbiased" in out
