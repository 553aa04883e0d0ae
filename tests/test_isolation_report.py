"""Five adapters that each do their worst are five rows of one report."""

import json
import subprocess
import sys

import pytest

ADAPTER = """
import ctypes, os, time

import numpy as np

ARRAYS = "numpy"
LACKS = {{"gqa"}}

def attention(query, key, value):
    {fault}
    scores = query @ np.swapaxes(key, -1, -2) / max(query.shape[-1], 1) ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e30))
    return (weights / weights.sum(-1, keepdims=True) @ value).astype(query.dtype)
"""

WORST = {
    "segfaults": "ctypes.string_at(0)",
    "sleeps": "time.sleep(1e6)",
    "hoards": "hoard = []\n    while True: hoard.append(np.ones(2**21))",
    "exits": "os._exit(0)",
    "writes": 'print(\'{"event": "done"}\')',
}

TOLD = {
    "segfaults": ("contract.claims", "attention crashed: SIGSEGV at segfaults.py, line 10"),
    "sleeps": ("contract.claims", "attention hung: no answer in 3 s at sleeps.py, line 10"),
    "hoards": ("contract.claims", "attention took more than 0.75 GiB at hoards.py, line 11"),
    "exits": ("contract.claims", "attention crashed: exit code 0"),
    "writes": ("purity.silent", 'standard output: wanted nothing, came \'{"event": "done"}'),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The command on all five, and the targets' part of its JSON by name."""
    folder = tmp_path_factory.mktemp("worst")
    for name, fault in WORST.items():
        (folder / f"{name}.py").write_text(ADAPTER.format(fault=fault))
    command = [
        sys.executable,
        "-P",
        "-m",
        "attnspec",
        "verify",
        *(f"{name}.py" for name in WORST),
        "--json",
        "run.json",
    ]
    command += ["--profile", "quick", "--only", "purity.silent", "--only", "shape.output"]
    command += ["-j", "2", "--timeout", "30", "--memory", "0.75"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    told = json.loads((folder / "run.json").read_text())["targets"]
    return done, {target["backend"]["name"]: target for target in told}


def test_one_report_and_exit_code_1(run):
    done, _ = run
    assert (done.returncode, done.stderr) == (1, "")
    for name in WORST:
        assert f"✗ {TOLD[name][0]} · {name}" in done.stdout
        assert f"\n{name}: violates 1 invariant\n" in done.stdout


@pytest.mark.parametrize("name", WORST)
def test_each_is_a_row_with_the_problem_that_caused_it(run, name):
    invariant, message = TOLD[name]
    (row,) = (row for row in run[1][name]["outcomes"] if row["trouble"])
    assert row["invariant"] == invariant
    assert message in row["trouble"]["message"]
    assert row["trouble"]["problem"][1].startswith("query (")
