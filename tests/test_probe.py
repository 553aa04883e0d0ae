"""Probing gives back what in-tree backends and controls declare, and what it writes holds."""

import subprocess
import sys
from pathlib import Path

import pytest
from probing import CONTROLS, agree, declared, probed, timed

from attnspec.cli import main
from attnspec.loading import load
from attnspec.probing.experiments.conventions import APART, BEFORE, apart, problems
from attnspec.probing.source import module_source
from attnspec.probing.wrapper import REFUSED
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import CONVENTIONS, FUNCTIONS, OPTIONS, SHAPE_FEATURES, VALUE_FEATURES, claimed_options
from attnspec.specs.synonyms import SYNONYMS
from attnspec.targets import find, own_names

ELSEWHERE = {name for name in CONVENTIONS if catalogue()[f"convention.{name}"].claims & set(FUNCTIONS)}
"""Conventions of other functions than attention."""


@pytest.mark.parametrize("target", timed((name,) for name in own_names()))
def test_backend_gives_back_what_it_declares(target):
    found, said = probed(target), declared(target)
    other = {name: (said.conventions[name], value) for name, value in found.conventions.items()}
    assert {name: pair for name, pair in other.items() if not agree(name, *pair)} == {}
    assert [finding.note for finding in found.findings.values() if not finding.told] == []
    assert found.adapter.arrays == said.arrays
    assert found.adapter.dtypes == said.dtypes
    of_attention = {lack for lack in said.lacks if not lack & set(FUNCTIONS)}  # which alone is probed
    assert found.adapter.lacks == {lack - {"cpu"} for lack in of_attention}
    assert set(found.adapter.claimed) == set(claimed_options(find(target).attention))


@pytest.mark.parametrize("name", [name for name in CONTROLS if getattr(find(CONTROLS[name]), "CONVENTIONS", {})])
def test_control_gives_back_the_conventions_that_it_declares(name):
    target = str(CONTROLS[name])
    found, said = probed(target).conventions, declared(target).conventions
    wrong = {name: (said[name], value) for name, value in found.items() if not agree(name, said[name], value)}
    granted = {"intermediate_dtype": ("input", "float32")}  # the default, which many do better than
    assert {name: pair for name, pair in wrong.items() if granted.get(name) != pair} == {}
    asked = set(find(CONTROLS[name]).CONVENTIONS) - ELSEWHERE
    assert asked <= found.keys()


def test_what_is_lenient_shows_in_torch():
    assert probed("torch_sdpa").conventions["value_range"] == "sum"


@pytest.mark.slow
def test_every_value_of_every_convention_is_told_of_some_function():
    targets = [str(path) for path in CONTROLS.values() if getattr(find(path), "CONVENTIONS", {})]
    told = {pair for target in (*targets, *own_names()) for pair in probed(target).conventions.items()}
    every = {(name, value) for name, values in CONVENTIONS.items() if name not in ELSEWHERE for value in values}
    assert every - told == set()


@pytest.mark.parametrize("name", CONVENTIONS)
def test_convention_has_an_experiment(name):
    assert name in APART or name in BEFORE or catalogue()[f"convention.{name}"].probes


def test_names_are_of_the_contract():
    assert SYNONYMS.keys() == set(OPTIONS)
    assert set(REFUSED) <= {*SHAPE_FEATURES, *VALUE_FEATURES, "mask_dtype"}


FACTS = {
    ("numpy_naive", "memory"): "O(L·S)",
    ("numpy_blockwise", "memory"): "O(L+S)",
    ("torch_naive", "memory"): "O(L·S)",
    ("torch_sdpa", "memory"): "O(L+S)",
    ("jax_naive", "memory"): "O(L·S)",
    ("numpy_naive", "gradient_orders"): ("0",),
    ("torch_sdpa", "gradient_orders"): ("0", "1"),
    ("torch_naive", "gradient_orders"): ("0", "1", "2", "forward"),
    ("numpy_naive", "keyword dropout_rate"): "dropout_rate, with seed",
    ("numpy_naive", "mask_of_int64"): "raises",
    ("torch.nn.functional:scaled_dot_product_attention", "gqa_flag"): "enable_gqa, where key has fewer heads",
    ("torch.nn.functional:scaled_dot_product_attention", "mask_of_float32"): "added",
    ("torch.nn.functional:scaled_dot_product_attention", "keyword dropout_rate"): (
        "dropout_p, without a seed: left out of the adapter"
    ),
    ("jax.nn:dot_product_attention", "rank2"): "wrong",
    ("jax.nn:dot_product_attention", "value_dim"): "raises",
    ("jax.nn:dot_product_attention", "left alone"): ("query_seq_lengths", "implementation"),
}


@pytest.mark.parametrize(("target", "name"), timed(FACTS))
def test_fact_of_a_backend(target, name):
    assert probed(target).findings[name].value == FACTS[target, name]


@pytest.mark.parametrize("name", [name for name in CONVENTIONS if name not in {*APART, *ELSEWHERE}])
def test_one_problem_or_another_tells_every_two_values_apart(name):
    adapter = probed("numpy_naive").adapter
    pairs = [(first, second) for first in CONVENTIONS[name] for second in CONVENTIONS[name] if first != second]
    alike = [pair for pair in pairs if not any(apart(adapter, name, p, *pair) for p in problems(name, adapter))]
    nested = [("-inf", "lowest")]  # what gives −inf is within "lowest", which reads as −inf
    assert alike == (nested if name == "empty_row_lse" else [])


def test_written_adapter_declares_what_was_found(tmp_path):
    found = probed("torch.nn.functional:scaled_dot_product_attention").adapter
    file = tmp_path / "written.py"
    file.write_text(module_source(found, tmp_path))
    written = declared(file)
    assert (written.arrays, written.dtypes, written.lacks) == (found.arrays, found.dtypes, found.lacks)
    assert written.conventions == found.conventions


STEPS = """
import numpy as np
from attnspec.mutants.correct.numpy_steps import Steps

def weights_of(q, k, v, **options):
    return Steps.attention(q, k, v, return_weights=True, **options)

"""

FUNCTIONS_BY_FACT = {
    "order": ("def f(a, b, c): return Steps.attention(c, a, b)", "inputs", "a = key, b = value, c = query"),
    "misleading": (
        "def f(query, key, value): return Steps.attention(key, query, value)",
        "inputs",
        "query = key, key = query, value = value",
    ),
    "unscaled": ("def f(q, k, v): return Steps.attention(q, k, v, scale=1.0)", "default_scale", "none"),
    "layout": (
        "def f(q, k, v): return Steps.attention(*(a.swapaxes(-2, -3) for a in (q, k, v))).swapaxes(-2, -3)",
        "layout",
        "BLHD",
    ),
    "always a tuple": ("def f(q, k, v): return weights_of(q, k, v)[::-1]", "keyword return_weights", "number 0"),
    "divisor": (
        "def f(q, k, v, temperature=None): return Steps.attention(q, k, v, scale=temperature and 1 / temperature)",
        "keyword scale",
        "temperature, divisor of the scores",
    ),
    "open window": (
        "def f(q, k, v, window_size=(-1, -1)):\n"
        "    return Steps.attention(q, k, v, window=tuple(None if n < 0 else n for n in window_size))",
        "keyword window",
        "window_size, (left, right), -1 for open",
    ),
    "additive": (
        "def f(q, k, v, attn_mask=None): return Steps.attention(q, k, v, bias=attn_mask)",
        "keyword mask",
        "not attn_mask",
    ),
    "numbers as bias": (
        "def f(q, k, v, mask=None):\n"
        "    name = 'mask' if mask is not None and mask.dtype == bool else 'bias'\n"
        "    return Steps.attention(q, k, v, **{name: mask})",
        "mask_of_float32",
        "added",
    ),
    "no ranks": (
        "def f(q, k, v):\n    if q.ndim < 4: return q\n    return Steps.attention(q, k, v)",
        "rank2",
        "wrong",
    ),
}


@pytest.mark.parametrize("case", FUNCTIONS_BY_FACT)
def test_fact_is_found(case, tmp_path):
    text, name, value = FUNCTIONS_BY_FACT[case]
    (tmp_path / "small.py").write_text(STEPS + text)
    found = probed(f"{tmp_path / 'small.py'}:f", ("numpy",))
    assert found.findings[name].value == value
    file = tmp_path / "written.py"
    file.write_text(module_source(found.adapter, tmp_path))
    assert load(file).conventions == found.adapter.conventions


def run(capsys, *arguments):
    sys.argv = ["attnspec", "probe", *map(str, arguments)]
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr()


FLAT = """
import numpy as np

def f(q, k, v):
    terms = np.exp(q @ k.T / q.shape[-1] ** 0.5)
    return terms / terms.sum(1)[:, None] @ v
"""

ERRORS = {
    "wanted a Python file": ("missing.py", ""),
    "came none of these": ("no_such_module:f", ""),
    "wanted a function 'g', came none": ("small.py:g", "def f(q, k, v): return v"),
    "came a int": ("small.py:f", "f = 1"),
    "came a class": ("small.py:f", "class f: pass"),
    "bind with --set-arg block_size=VALUE": ("small.py:f", "def f(q, k, v, block_size): return v"),
    "came one with f, g: say which": ("small.py", "def f(q, k, v): return v\ndef g(q, k, v): return v"),
    "wanted parameters for query, key and value": ("small.py:f", "def f(x): return x"),
    "came one that is right with 2 axes alone": ("small.py:f", FLAT),
    "wanted attention over arrays of one library": ("small.py:f", "def f(q, k, v): return v"),
}


@pytest.mark.parametrize("message", ERRORS)
def test_error_is_one_line_and_exit_code_2(message, tmp_path, monkeypatch, capsys):
    target, text = ERRORS[message]
    monkeypatch.chdir(tmp_path)
    if text:
        Path("small.py").write_text(text)
    code, said = run(capsys, target, "--arrays", "numpy")
    assert code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize("setting", ["--set=layout=HBLD", "--set=colour=1", "--set=layout", "--set-arg=x=1"])
def test_bad_setting_is_told(setting, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("small.py").write_text("def f(q, k, v): return v")
    code, said = run(capsys, "small.py", setting, "--arrays", "numpy")
    assert code == 2
    assert said.err.startswith(("attnspec: --set", "attnspec: small.py:f: --set-arg"))


DEADLY = """
import os, time
from attnspec.mutants.correct.numpy_steps import Steps

def attention(query, key, value, mask=None, is_causal=False, scale=None):
    if mask is not None and mask.dtype == bool:
        DIES
    return Steps.attention(query, key, value, is_causal=is_causal, scale=scale)
"""


@pytest.mark.parametrize(("dies", "told"), [("os._exit(3)", "crashed: exit code 3"), ("time.sleep(60)", "hung")])
def test_function_that_kills_or_hangs_costs_its_option_alone(dies, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("deadly.py").write_text(DEADLY.replace("DIES", dies))
    code, said = run(capsys, "deadly.py", "--arrays", "numpy", "--out", "written.py", "--timeout", 40, "--explain")
    assert code == 1
    assert "could not tell: keyword mask" in said.out
    assert told in " ".join(said.out.split())
    assert "causal_alignment top-left" in " ".join(said.out.split())
    assert "is_causal" in Path("written.py").read_text()


def test_written_file_is_verified(tmp_path):
    command = [sys.executable, "-P", "-m", "attnspec"]
    target = "torch.nn.functional:scaled_dot_product_attention"
    subprocess.run([*command, "probe", target, "--out", "written.py"], cwd=tmp_path, check=True, capture_output=True)
    only = ["--only", "contract.*", "--only", "convention.*", "--only", "shape.*", "--profile", "quick"]
    verified = subprocess.run([*command, "verify", "written.py", *only], cwd=tmp_path, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout
