"""The command line: what it prints, where, and its exit code."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from attnspec.cli import main
from attnspec.specs import golden

NUMPY = '''"""A stranger's attention."""
import numpy as np

ARRAYS = "numpy"
LACKS = {"gqa"}
CONVENTIONS = {"intermediate_dtype": "float32"}


def attention(query, key, value, *, mask=None, scale=None):
    scale = 1 / np.sqrt(query.shape[-1] or 1) if scale is None else scale
    scores = scale * (query.astype(np.promote_types(query.dtype, np.float32)) @ key.swapaxes(-1, -2))
    visible = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.where(visible, scores, -np.inf).max(-1, keepdims=True, initial=-1e30)
    terms = np.where(visible, np.exp(np.where(visible, scores - largest, 0)), 0)
    weights = terms / np.maximum(terms.sum(-1, keepdims=True), 1e-30)
    seen = visible.any(-2)[..., None]
    return RETURNED
'''
OUTPUT = "(weights @ np.where(seen, value, 0)).astype(query.dtype)"


def stranger(returned="OUTPUT", **replaced):
    text = NUMPY.replace("RETURNED", returned.replace("OUTPUT", OUTPUT))
    for old, new in replaced.values():
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("strangers")


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def attnspec(folder):
    """Run the command in a folder of its own, in this process: a traceback would fail the test."""

    def run(*words):
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setenv("NO_COLOR", "1")
            patch.setenv("COLUMNS", "80")
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["attnspec", *map(str, words)])
            with pytest.raises(SystemExit) as exited:
                main()
        return Ran(exited.value.code, out.getvalue(), err.getvalue())

    return run


def shell(folder, *command, **env):
    """Run a command for real."""
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, **env}, timeout=120, check=False
    )


def one_line(ran):
    """What a run that could not begin says: one line on standard error."""
    assert ran.returncode == 2
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    return line


# verify


@pytest.fixture(scope="module")
def conforming(attnspec, folder):
    """One run over a right file and an in-tree backend, with every report."""
    (folder / "right.py").write_text(stranger())
    words = ("numpy_naive", "right.py", "--profile", "quick", "--only", "contract", "--only", "softmax")
    return attnspec("verify", *words, "-j", 2, "--json", "right.json", "--junit", "right.xml")


def test_what_conforms_exits_0(conforming):
    assert conforming.returncode == 0, conforming.stdout
    assert conforming.stderr == ""
    assert "right: conforms" in conforming.stdout
    assert "numpy_naive: conforms" in conforming.stdout
    assert "err/bound" in conforming.stdout


def test_the_table_is_invariant_by_backend(conforming):
    head, *lines = conforming.stdout.splitlines()
    assert head.split() == ["invariant", "numpy_naive", "right"]
    marks = {words[0]: words[1:] for line in lines if len(words := line.split()) == 3}
    assert marks["contract.claims"] == ["✓", "✓"]
    assert marks["softmax.rows_sum_to_one"] == ["✓", "–"]


def test_the_json_report(conforming, folder):
    report = json.loads((folder / "right.json").read_text())
    first, second = report["targets"]
    assert report["attnspec"]
    assert (first["target"], second["target"]) == ("numpy_naive", "right.py")
    assert first["exit_code"] == second["exit_code"] == 0
    assert second["backend"]["library"] == "numpy"
    (claims,) = (row for row in second["outcomes"] if row["invariant"] == "contract.claims")
    assert claims["status"] == "passed"
    assert claims["sentence"]


def test_the_junit_report(conforming, folder):
    suites = ElementTree.parse(folder / "right.xml").getroot()
    assert [suite.get("name") for suite in suites] == ["numpy_naive", "right"]
    suite = suites[1]
    assert int(suite.get("tests")) == len(suite)
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped")) > 0


def test_json_on_standard_output_is_json_alone(attnspec):
    ran = attnspec("verify", "right.py", "nowhere.py", "--only", "shape.dtype", "--json", "-")
    assert ran.returncode == 2
    assert [target["exit_code"] for target in json.loads(ran.stdout)["targets"]] == [0, 2]
    assert "right: conforms" in ran.stderr


WRONG = {
    "raises": (
        "[1][2]",
        "contract.claims",
        "the plainest problem: attention raised IndexError: list index out of range",
    ),
    "listed": ("OUTPUT.tolist()", "contract.claims", "wanted numpy arrays, came builtins.list"),
    "nothing": ("None", "contract.claims", "wanted numpy arrays, came builtins.NoneType"),
    "too_long": ("(OUTPUT, scores)", "contract.claims", "wanted one array, the output, came a tuple of 2"),
    "strings": ("OUTPUT.astype(str)", "contract.claims", "came <U32"),
    "widened": ("OUTPUT.astype(np.float64)", "shape.dtype", "wanted float32, came float64"),
    "turned": ("OUTPUT.swapaxes(-1, -2)", "contract.claims", "output: wanted shape"),
    "flat": ("OUTPUT.reshape(-1)", "contract.claims", "output: wanted shape"),
    "prints": ("print('[red]x[/red]') or OUTPUT", "purity.silent", "wanted nothing, came '[red]x[/red]"),
    "unscaled": ("OUTPUT", "definition.output", "err/bound"),
    "in_place": (
        "(np.multiply(query, 2, out=query), OUTPUT)[1]",
        "purity.inputs_unchanged",
        "query: wanted it unchanged",
    ),
}
UNSCALED = ("1 / np.sqrt(query.shape[-1] or 1)", "1.0")


@pytest.fixture(scope="module")
def wrong(attnspec, folder):
    """One run over all wrong files: the report, and for each name its target in the JSON."""
    for name, (returned, *_) in WRONG.items():
        replaced = {"scale": UNSCALED} if name == "unscaled" else {}
        (folder / f"{name}.py").write_text(stranger(returned, **replaced))
    only = {id for _, id, _ in WRONG.values()}
    patterns = [word for id in sorted(only) for word in ("--only", id)]
    files = [f"{name}.py" for name in WRONG]
    ran = attnspec("verify", *files, "nowhere.py", *patterns, "--profile", "quick", "-j", 2, "--json", "wrong.json")
    targets = json.loads((folder / "wrong.json").read_text())["targets"]
    return ran, {target["target"].removesuffix(".py"): target for target in targets}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_attention_is_a_violation(wrong, name):
    _, id, told = WRONG[name]
    target = wrong[1][name]
    assert target["exit_code"] == 1, target
    (row,) = (row for row in target["outcomes"] if row["invariant"] == id)
    assert row["status"] == "failed"
    assert told in row["trouble"]["message"]
    assert "\n" not in row["trouble"]["message"]


def test_other_targets_are_still_verified(wrong):
    ran, targets = wrong
    assert ran.returncode == 2
    assert list(targets) == [*WRONG, "nowhere"]
    assert "nowhere.py: could not be verified: wanted a Python file, came a path that does not exist" in ran.stdout


def test_a_failure_tells_all_there_is_to_know(wrong):
    block = wrong[0].stdout.partition("✗ definition.output · unscaled\n")[2].partition("\n\n")[0]
    assert "The output is softmax(scale · query · keyᵀ) · value" in block
    assert " wanted " in block
    assert " came " in block
    assert "err/bound" in block
    assert "smallest problem: float32, rank 4: B 1, Hq 1, Hkv 1, L 1, S 2, Dk 2, Dv 1" in block
    assert "query (1, 1, 1, 2) [" in block


def test_markup_is_shown_as_it_is(wrong):
    assert "wanted nothing, came '[red]x[/red]" in " ".join(wrong[0].stdout.split())


def test_the_report_fits_the_terminal(wrong):
    """All but what is to be copied as a whole."""
    whole = ("  attnspec verify", "nowhere.py: could not be verified")
    lines = [line for line in wrong[0].stdout.splitlines() if not line.startswith(whole)]
    assert max(map(len, lines)) <= 80


def test_the_replay_command_shows_the_failure_again(attnspec, wrong):
    block = wrong[0].stdout.partition("✗ definition.output · unscaled\n")[2]
    command = next(line for line in block.splitlines() if line.startswith("  attnspec verify"))
    _, *words = shlex.split(command)
    ran = attnspec(*words)
    assert ran.returncode == 1
    assert "✗ definition.output · unscaled" in ran.stdout
    message = next(line for line in block.splitlines() if "wanted" in line)
    assert message in ran.stdout


def test_a_seed_draws_other_numbers_reproducibly(attnspec, folder):
    (folder / "right.py").write_text(stranger())
    runs = [(3, "three"), (3, "again"), (0, "zero")]
    for seed, name in runs:
        words = ("--profile", "quick", "--only", "definition.output", "--seed", seed, "--json", f"{name}.json")
        assert attnspec("verify", "right.py", *words).returncode == 0
    three, again, zero = (json.loads((folder / f"{name}.json").read_text()) for _, name in runs)
    accuracy = [run["targets"][0]["outcomes"][0]["worst"] for run in (three, again, zero)]
    assert accuracy[0] == accuracy[1] != accuracy[2]


def test_durations_add_up(attnspec, folder, conforming):
    words = ("--profile", "quick", "--only", "definition", "--durations", "--json", "durations.json")
    ran = attnspec("verify", "right.py", *words)
    assert re.search(
        r"^right: \d+\.\d s: draw \d+\.\d\d, oracle .*, bound .*, backend .*, rest \d", ran.stdout, re.MULTILINE
    )
    (target,) = json.loads((folder / "durations.json").read_text())["targets"]
    assert any(row["parts"] for row in target["outcomes"])
    for row in target["outcomes"]:
        assert 0 <= sum(row["parts"].values()) <= row["seconds"] + 0.01
    assert "oracle" not in conforming.stdout


def test_what_to_declare_is_told_once_at_the_end(attnspec, folder):
    text = stranger("(weights @ value).astype(query.dtype)").replace('LACKS = {"gqa"}\n', "")
    (folder / "undeclared.py").write_text(text)
    ran = attnspec("verify", "undeclared.py", "--only", "contract", "--only", "convention", "--profile", "quick")
    assert ran.returncode == 1
    told = ran.stdout.partition("If that is how undeclared is meant to be, declare:\n")[2].splitlines()
    assert told[0] == '  LACKS = {"gqa"}'
    assert told[1] == '  CONVENTIONS = {"intermediate_dtype": "float32", "masked_nonfinite": "propagates"}'


def test_a_known_issue_is_strict(attnspec, folder):
    known = "KNOWN_ISSUES = {'definition.output': 'example.org/1', 'shape.dtype': 'example.org/2'}\n"
    (folder / "known.py").write_text(stranger(scale=UNSCALED) + known)
    words = ("--json", "known.json", "--junit", "known.xml")
    ran = attnspec("verify", "known.py", "--only", "definition.output", *words)
    assert ran.returncode == 0
    assert "k known issue: definition.output · known: example.org/1" in ran.stdout
    ran = attnspec("verify", "known.py", "--only", "shape.dtype", *words)
    assert ran.returncode == 1
    reason = "declared a known issue, but it holds: example.org/2"
    assert reason in ran.stdout
    (row,) = json.loads((folder / "known.json").read_text())["targets"][0]["outcomes"]
    assert (row["status"], row["trouble"], row["reason"]) == ("failed", None, reason)
    failure = ElementTree.parse(folder / "known.xml").find("testsuite/testcase/failure")
    assert failure.get("message") == reason
    assert reason in failure.text


def test_one_dtype_need_not_show_a_known_issue_of_features(attnspec, folder):
    (folder / "known.py").write_text(stranger() + "KNOWN_ISSUES = {'scale+mask': 'example.org/3'}\n")
    words = ("verify", "known.py", "--only", "contract.known_issues")
    assert attnspec(*words).returncode == 1
    assert attnspec(*words, "--dtype", "float64").returncode == 0


@pytest.mark.parametrize("few", [("--profile", "quick"), ("--dtype", "float64")])
def test_few_problems_need_not_show_a_known_issue(attnspec, folder, few):
    (folder / "known.py").write_text(stranger() + "KNOWN_ISSUES = {'shape.dtype': 'example.org/2'}\n")
    ran = attnspec("verify", "known.py", "--only", "shape.dtype", *few)
    assert ran.returncode == 0
    told = "✓ passed: shape.dtype · known: a known issue that so few problems did not show: example.org/2"
    assert told in " ".join(ran.stdout.split())


def test_a_file_whose_name_is_no_text_costs_no_result(attnspec, folder):
    name = "odd\udcff.py"
    (folder / name).write_text(stranger())
    words = ("--profile", "quick", "--only", "shape.dtype", "--json", "odd.json", "--junit", "odd.xml")
    assert attnspec("verify", name, *words).returncode == 0
    (target,) = json.loads((folder / "odd.json").read_text())["targets"]
    assert [row["status"] for row in target["outcomes"]] == ["passed"]
    assert ElementTree.parse(folder / "odd.xml").find("testsuite/testcase") is not None


PROBLEM = '{"shape": {"keys": 2}, "values": "small-integers"}'


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        ('{"shape": {"keys": 2}, "val', "wanted JSON, came text that breaks off at character"),
        ('["shape"]', "wanted a JSON object, came list"),
        ('{"shape": {"keys": -2}}', "wanted a whole number"),
        ('{"shapes": {}}', "wanted shape, dtype, values, seed and settings, came"),
        ('{"query": 3}', "wanted the field 'key'"),
        ('{"query": 3, "key": 3, "value": 3}', "query: wanted an object with dtype, shape and data, came 3"),
        ("nowhere.json", "wanted JSON or a file with JSON, came 'nowhere.json'"),
        (".", "wanted JSON or a file with JSON, came '.'"),
    ],
)
def test_a_damaged_problem_is_one_line(attnspec, problem, told):
    assert told in one_line(attnspec("verify", "right.py", "--only", "shape.dtype", "--problem", problem))


def test_a_problem_from_a_file(attnspec, folder, conforming):
    (folder / "problem.json").write_text(PROBLEM)
    ran = attnspec("verify", "right.py", "--only", "shape.dtype", "--problem", "problem.json")
    assert ran.returncode == 0
    assert "1 problems" in ran.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["verify"], "Missing argument"),
        (["verify", "x.py", "--profile", "qick"], "did you mean 'quick'?"),
        (["verify", "x.py", "--dtype", "int8"], "'int8' is not one of"),
        (["verify", "x.py", "--only", "sofmax.*"], "came 'sofmax.*'"),
        (["verify", "x.py", "--problem", PROBLEM], "wanted --only with the invariants to replay, came none"),
        (["verify", "x.py", "--vectors", "--only", "one-tokem"], "did you mean 'one-token'?"),
        (["verify", "x.py", "--vectors", "--problem", PROBLEM], "wanted invariants to replay, came --vectors"),
        (["verify", "x.py", "--json", "no/such/folder.json"], "No such file or directory"),
        (["verify", "x.py", "--timeout", "0"], "0.0 is not in the range"),
        (["verify", "x.py", "--timeout", "nan"], "nan is not in the range"),
        (["verify", "x.py", "-j", "0"], "0 is not in the range"),
        (["verify", "x.py", "--nonsense"], "--nonsense"),
        (["verfy"], "verfy"),
        (["explain", "softmax.hul"], "did you mean 'softmax.hull'?"),
        (["trace", "--json", "nowhere.json"], "wanted a file with JSON, came 'nowhere.json'"),
    ],
)
def test_a_bad_command_is_one_line(attnspec, words, told):
    assert told in one_line(attnspec(*words))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["numpy_niave"], "did you mean 'numpy_naive'?"),
        (["numpy_naive", "--device", "cuda"], "device: wanted 'cuda', came a machine where numpy has cpu"),
        (["right.py", "--dtype", "bfloat16"], "dtype: wanted one of those declared, float64, float32, float16, came"),
    ],
)
def test_what_cannot_be_verified_exits_2(attnspec, conforming, words, told):
    ran = attnspec("verify", *words, "--only", "shape.dtype")
    assert ran.returncode == 2
    assert told in ran.stdout
    assert len(ran.stdout.strip().splitlines()) == 1


def test_dtype_narrows(attnspec, folder, conforming):
    words = ("--only", "definition.output", "--dtype", "float64", "--profile", "quick", "--json", "one.json")
    assert attnspec("verify", "right.py", *words).returncode == 0
    (target,) = json.loads((folder / "one.json").read_text())["targets"]
    assert [list(row["worst"]) for row in target["outcomes"]] == [["float64"]]


INTERNAL = """
import sys
import attnspec.cli
import attnspec.running

attnspec.running.run = lambda **options: 1 / 0
sys.argv = ["attnspec", "verify", "x"]
attnspec.cli.main()
"""


def test_an_internal_error_is_one_line(folder):
    told = one_line(shell(folder, sys.executable, "-c", INTERNAL))
    assert "internal error: ZeroDivisionError: division by zero" in told
    assert "Traceback" in shell(folder, sys.executable, "-c", INTERNAL, ATTNSPEC_DEBUG="1").stderr


def test_a_terminal_without_unicode(folder, conforming):
    command = (Path(sys.executable).parent / "attnspec", "verify", "right.py", "--only", "shape.dtype")
    ran = shell(folder, *command, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ran.returncode == 0, ran.stderr
    assert "right: conforms" in ran.stdout


# golden vectors


@pytest.fixture(scope="module")
def unscaled(attnspec, folder):
    """A run of the vectors over a right file, one without the scale, and one that crashes and hangs."""
    (folder / "right.py").write_text(stranger())
    (folder / "plain_scores.py").write_text(stranger(scale=UNSCALED))
    crash = "scale = 1 / np.sqrt(query.shape[-1] or 1) if scale is None else scale"
    dies = f"import os\n    os.abort() if scale == 0 else None\n    while scale == -0.3:\n        pass\n    {crash}"
    (folder / "dies.py").write_text(stranger(crash=(crash, dies)))
    files = ("right.py", "plain_scores.py", "dies.py")
    words = ("--vectors", "-j", 2, "--timeout", 30, "--json", "vectors.json", "--junit", "vectors.xml")
    ran = attnspec("verify", *files, *words, "--only", "scale*", "--only", "mask*", "--only", "one-token")
    return ran, json.loads((folder / "vectors.json").read_text())["targets"]


def test_the_vectors_have_a_row_for_each_case(unscaled, folder):
    ran, (right, wrong, dies) = unscaled
    assert ran.returncode == 1
    assert [target["exit_code"] for target in (right, wrong, dies)] == [0, 1, 1]
    names = [row["invariant"] for row in right["outcomes"]]
    assert names == [case.name for case in golden.chosen(["scale*", "mask*", "one-token"])]
    assert {row["status"] for row in right["outcomes"]} == {"passed", "not claimed"}
    suite = ElementTree.parse(folder / "vectors.xml").find("testsuite[@name='plain_scores']")
    assert [case.get("name") for case in suite] == names
    assert int(suite.get("failures")) == sum(row["status"] == "failed" for row in wrong["outcomes"]) > 3


def test_the_table_of_vectors_has_a_line_for_each_option(unscaled):
    table = unscaled[0].stdout.partition("\n✓ holds")[0]
    lines = {line.split()[0]: line for line in table.splitlines()}
    assert lines["option"].split() == ["option", "right", "plain_scores", "dies"]
    assert lines["mask"].split()[1::2][:2] == ["✓", "✗"]
    assert lines["bias"].split()[1] == "–"
    assert "golden vectors hold" in unscaled[0].stdout


def test_a_failing_vector_tells_the_fault_that_it_suggests(unscaled):
    told = " ".join(unscaled[0].stdout.split())
    assert "just as where the scores are not scaled (scale-of-one)" in told
    assert "alike: " in told
    assert "plain_scores: violates" in told


def test_the_replay_command_runs_one_vector(attnspec, unscaled):
    row = next(row for row in unscaled[1][1]["outcomes"] if row["status"] == "failed")
    command = f"attnspec verify plain_scores.py --only {row['invariant']} --vectors"
    assert f"  {command}" in unscaled[0].stdout.splitlines()
    ran = attnspec(*command.split()[1:])
    assert ran.returncode == 1
    assert "0 of 1 golden vectors hold" in ran.stdout


def test_a_vector_that_crashes_or_hangs_costs_its_own_row(unscaled):
    scales = {row["invariant"]: golden.cases()[row["invariant"]].problem for row in unscaled[1][2]["outcomes"]}
    for row in unscaled[1][2]["outcomes"]:
        scale = scales[row["invariant"]].options.get("scale")
        wanted = {0.0: "crashed", -0.3: "hung"}.get(scale, "passed")
        assert row["status"] in (wanted, "not claimed"), row["invariant"]
    assert {row["status"] for row in unscaled[1][2]["outcomes"]} == {"passed", "not claimed", "crashed", "hung"}


# the other commands


def test_list_one(attnspec, conforming):
    ran = attnspec("list", "numpy_naive", "right.py")
    assert ran.returncode == 0
    assert "numpy_naive  numpy 2" in ran.stdout
    assert "conventions intermediate_dtype=float32" in ran.stdout
    assert "lacks       gqa" in ran.stdout


def test_list_tells_why_one_is_unavailable(attnspec, folder):
    (folder / "absent.py").write_text("raise ModuleNotFoundError(name='torch')\n")
    ran = attnspec("list", "absent.py")
    assert ran.returncode == 2
    assert "absent.py  unavailable: wanted the package torch" in ran.stdout
    assert "pip install 'attnspec[torch]'" in ran.stdout


def test_list_as_json(attnspec, folder):
    (folder / "loud.py").write_text("print('loud')\n" + stranger())
    (entry,) = json.loads(attnspec("list", "loud.py", "--json").stdout)
    assert entry["devices"] == ["cpu"]
    assert {"mask", "scale", "cross"} <= set(entry["features"])


def test_explain(attnspec):
    told = attnspec("explain", "masking.causality").stdout
    assert "Under is_causal, changing later keys and values" in told
    assert "formula  O_i depends on" in told
    assert "source   Vaswani et al. 2017" in told
    assert "https://github.com/pytorch/pytorch/issues/99282" in told


def test_explain_knows_the_mutants(attnspec):
    assert "causal_ignored" in attnspec("explain", "masking.causality").stdout


def test_a_mutant_can_be_verified(attnspec):
    ran = attnspec("verify", "attnspec.mutants.causal_ignored", "--profile", "quick", "--only", "masking.causality")
    assert ran.returncode == 1


def test_explain_lists_the_catalogue(attnspec):
    told = attnspec("explain").stdout
    assert "softmax.rows_sum_to_one\n    Each row of weights" in told
    family = attnspec("explain", "shape").stdout
    assert family.startswith("shape.")
    assert "softmax" not in family.partition("\n")[0]


def test_trace_shows_the_textbooks_numbers(attnspec):
    told = attnspec("trace").stdout
    headlines = [line.partition(" (")[0] for line in told.splitlines() if not line.startswith(" ") and line]
    steps = ["inputs", "query weights", "key weights", "value weights", "query", "key", "value"]
    assert headlines == [*steps, "scores", "scaled scores", "softmax", "weighted values", "output"]
    assert told.splitlines()[-3].split() == ["1.93662106", "6.68310531", "1.59506841"]


def test_trace_of_an_example_of_ones_own(attnspec, folder):
    example = {"x": [[1, 0], [0, 1]], "w_query": [[1], [2]], "w_key": [[3], [1]], "w_value": [[1, 0], [0, 1]]}
    (folder / "example.json").write_text(json.dumps(example))
    told = attnspec("trace", "--json", "example.json", "--scale", "0").stdout
    assert told.splitlines()[-1].split() == ["0.5", "0.5"]
    (folder / "example.json").write_text(json.dumps({**example, "w_key": [[3], [1], [2]]}))
    assert "wanted x (L, E), w_query and w_key (E, D), w_value (E, Dv), came" in one_line(
        attnspec("trace", "--json", "example.json")
    )
    (folder / "example.json").write_text(json.dumps({**example, "x": [[1], [2, 3]]}))
    assert "x: wanted rows of numbers of one length" in one_line(attnspec("trace", "--json", "example.json"))


def test_vectors(attnspec, folder):
    ran = attnspec("vectors", "--out", "golden")
    assert ran.returncode == 0, ran.stderr
    assert "golden vectors are in golden/" in ran.stdout
    assert all(json.loads(file.read_text()) for file in (folder / "golden").iterdir())
    (folder / "in_the_way").touch()
    assert "in_the_way" in one_line(attnspec("vectors", "--out", "in_the_way"))


def test_help_and_version(attnspec):
    assert "verify" in attnspec().stdout
    assert "--profile" in attnspec("verify", "-h").stdout
    assert "attnspec" in attnspec("--version").stdout
