"""The table of conformance says what the runs' JSON says, and nothing else."""

import json
import sys
from collections import Counter

import pytest

from attnspec.cli import main
from attnspec.conformance.cells import families, table
from attnspec.conformance.markdown import convention_mark, family_mark, markdown
from attnspec.conformance.runs import entries

FLAWED = """
import numpy as np

ARRAYS = "numpy"
LACKS = {"gqa"}
CONVENTIONS = {"causal_alignment": "bottom-right"}
KNOWN_ISSUES = {"shape.dtype": "always double: https://example.org/1"}


def attention(query, key, value, *, is_causal=False):
    query, key, value = (array.astype(float) for array in (query, key, value))
    scores = query @ key.swapaxes(-1, -2) / max(query.shape[-1], 1) ** 0.5
    behind = np.arange(query.shape[-2])[:, None] - np.arange(key.shape[-2])
    scores = np.where(behind >= 0, scores, -np.inf) if is_causal else scores
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e30))
    return (1.01 if query.shape[-2] == 1 else 1) * (weights @ value) / np.maximum(weights.sum(-1, keepdims=True), 1e-30)
"""

PATTERNS = ("convention.causal_alignment", "definition", "shape", "softmax")


def attnspec(*words):
    """The command in this process; its exit code."""
    before, sys.argv = sys.argv, ["attnspec", *map(str, words)]
    try:
        main()
    except SystemExit as ended:
        return ended.code
    finally:
        sys.argv = before


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two files: one backend that is right and one that is not; one that is not there."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "flawed.py").write_text(FLAWED)
    only = [word for pattern in PATTERNS for word in ("--only", pattern)]
    first = ("verify", "numpy_naive", folder / "flawed.py", "--profile", "quick", *only, "--json", folder / "1.json")
    assert attnspec(*first) == 1
    assert attnspec("verify", "nonesuch.py", "--json", folder / "2.json") == 2
    return folder


@pytest.fixture(scope="module")
def items(runs):
    return {item["name"]: item for item in table(entries([runs / "1.json", runs / "2.json"]))}


def test_the_cells_are_the_rows_counted(runs, items):
    for target in json.loads((runs / "1.json").read_text())["targets"]:
        item = items[target["backend"]["name"]]
        wanted = Counter((row["invariant"].split(".")[0], row["status"]) for row in target["outcomes"])
        assert {(f, s): n for f, counts in item["families"].items() for s, n in counts.items()} == wanted
        for dtype, worst in item["accuracy"].items():
            assert worst == max(float(row["worst"].get(dtype, 0)) for row in target["outcomes"])


def test_what_is_wrong_shows(items):
    flawed, right = items["flawed"], items["numpy_naive"]
    assert flawed["violations"].keys() >= {"definition.output", "convention.causal_alignment"}
    assert (right["violations"], right["exit_code"]) == ({}, 0)
    assert flawed["families"]["shape"]["known issue"] == 1
    assert flawed["conventions"]["causal_alignment"]["found"] == "contradicted"
    assert right["conventions"]["causal_alignment"]["found"] == "verified"
    assert right["conventions"]["layout"]["found"] == "not seen"
    assert items["nonesuch.py"]["verdict"].startswith("could not be verified")


@pytest.mark.parametrize(
    ("counts", "mark"),
    [
        ({"passed": 3, "not claimed": 1}, "✓"),
        ({"passed": 3, "failed": 2}, "**✗2**"),
        ({"passed": 3, "known issue": 2}, "k2"),
        ({"failed": 1, "known issue": 2, "not run": 1}, "**✗1** k2 !"),
        ({"not claimed": 4}, "–"),
        ({}, "–"),
    ],
)
def test_the_mark_of_a_family(counts, mark):
    assert family_mark(counts) == mark


@pytest.mark.parametrize(
    ("default", "found", "mark"),
    [
        (True, "verified", "·"),
        (False, "verified", "BLHD"),
        (True, "not seen", "–"),
        (False, "not seen", "BLHD ?"),
        (False, "contradicted", "BLHD **✗**"),
    ],
)
def test_the_mark_of_a_convention(default, found, mark):
    assert convention_mark({"value": "BLHD", "default": default, "found": found}) == mark


def test_the_page_has_a_row_for_each_and_is_a_table(items):
    page = markdown(list(items.values()))
    for name in items:
        assert page.count(f"| `{name}` |") == 4  # families, conventions, accuracy, versions
    assert "- `flawed`, `shape.dtype`: always double: <https://example.org/1>" in page
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines} == {len(families()) + 2, 15 + 2, 4 + 2, 9 + 1}


def test_the_latest_run_counts(runs, tmp_path):
    run = json.loads((runs / "1.json").read_text())
    run["date"] = "2999-01-01T00:00:00+00:00"
    run["targets"] = run["targets"][:1]
    run["targets"][0]["outcomes"] = run["targets"][0]["outcomes"][:1]
    (tmp_path / "later.json").write_text(json.dumps(run))
    for files in ([tmp_path / "later.json", runs / "1.json"], [runs / "1.json", tmp_path / "later.json"]):
        found = {entry.name: entry for entry in entries(files)}
        assert (len(found["numpy_naive"].outcomes), len(found)) == (1, 2)


def test_out_and_json(runs, capsys):
    assert attnspec("table", runs / "1.json", "--json", "--out", runs / "table.json") == 0
    assert [item["name"] for item in json.loads((runs / "table.json").read_text())] == ["flawed", "numpy_naive"]
    assert attnspec("table", runs / "1.json") == 0
    assert "# Conformance" in capsys.readouterr().out


DAMAGED = {
    "cut": (lambda run: json.dumps(run)[:200], "wanted JSON, came text that breaks off"),
    "list": (lambda run: "[]", "wanted a JSON object, came list"),
    "older": (lambda run: json.dumps({**run, "date": None}), "wanted a run with 'date', came NoneType"),
    "bare": (
        lambda run: json.dumps({"attnspec": "0.1.0", "targets": []}),
        "came none: damaged, or of an older attnspec",
    ),
    "target": (lambda run: json.dumps({**run, "targets": [3]}), "wanted a target as an object, came int"),
    "unknown": (lambda run: json.dumps(run).replace("shape.dtype", "shape.colour"), "came 'shape.colour'"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_one_line_and_exit_code_2(runs, tmp_path, kind, capsys):
    damage, told = DAMAGED[kind]
    (tmp_path / "run.json").write_text(damage(json.loads((runs / "1.json").read_text())))
    assert attnspec("table", tmp_path / "run.json") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"attnspec: {tmp_path / 'run.json'}: wanted ")
    assert told in line


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert attnspec("table", tmp_path / "run.json") == 2
    assert "wanted the JSON of attnspec verify, came" in capsys.readouterr().err
