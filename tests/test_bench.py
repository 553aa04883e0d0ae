"""Benchmarks: who is wrong, caches, falls back, fails, exits or hangs is not ranked, and what is timed is right."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from attnspec.benchmarks import command, results, targets
from attnspec.benchmarks.contest import FAILED, FELL_BACK, OK, SKIPPED, WRONG, Entry, Limits, contest
from attnspec.benchmarks.growth import fit, growths
from attnspec.benchmarks.inputs import Inputs
from attnspec.benchmarks.machine import Machine
from attnspec.benchmarks.ratios import ratios
from attnspec.benchmarks.run import read, run_of
from attnspec.benchmarks.sampling import error, pairs
from attnspec.benchmarks.trial import SETS
from attnspec.benchmarks.workloads import WORKLOADS, Workload, chosen
from attnspec.cli import cli
from attnspec.loading import load
from attnspec.specs.oracle import solve

HEAD = """
import os, time
from attnspec.impls import numpy_naive
ARRAYS, CALLS, KEPT = "numpy", [], []
{constants}
def attention(query, key, value):
    CALLS.append(1)
    result = numpy_naive.attention(query, key, value)
    {fault}
    return result
"""

FAULTS = {
    "right": ("", OK, ""),
    "slightly_off": ("result[:, 3] *= 1.01", WRONG, "wanted"),
    "later_off": ("result *= 1 + 0.01 * (len(CALLS) > 6)", WRONG, "wanted"),
    "of_the_wrong_shape": ("result = result[:, :, :7]", WRONG, "(1, 8, 256, 64)"),
    "caching": ("KEPT.append(result); result = KEPT[0]", WRONG, "wanted"),
    "raising": ("result = 1 / (len(CALLS) < 7) * result", FAILED, "ZeroDivisionError"),
    "exiting": ("len(CALLS) < 7 or os._exit(3)", FAILED, "exit code 3"),
    "hanging": ("len(CALLS) < 7 or time.sleep(60)", FAILED, "no answer in 10 s"),
    "greedy": ("raise MemoryError", FAILED, "MemoryError"),
}


@pytest.fixture
def faulty(tmp_path):
    """A backend with a fault in it, as a file."""

    def written(name, fault="", constants=""):
        path = tmp_path / f"{name}.py"
        path.write_text(HEAD.format(fault=fault, constants=constants))
        return str(path)

    return written


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What came of each faulty backend in one contest."""
    folder = tmp_path_factory.mktemp("faulty")
    for name, (fault, *_) in FAULTS.items():
        (folder / f"{name}.py").write_text(HEAD.format(fault=fault, constants=""))
    entries = contest(WORKLOADS["prefill-256"], [str(folder / f"{name}.py") for name in FAULTS], Limits(4, 10.0))
    return dict(zip(FAULTS, entries, strict=True))


@pytest.mark.parametrize("name", FAULTS)
def test_only_who_is_right_is_ranked(found, name):
    _, status, reason = FAULTS[name]
    assert (found[name].status, reason in found[name].reason) == (status, True), found[name].reason


def test_the_others_go_on(found):
    right = found["right"]
    assert len(right.seconds) == 4
    assert min(right.seconds) > 0
    assert right.info["flops"] == 4 * 8 * 256 * 256 * 64
    assert right.info["bytes"] == 4 * 8 * 256 * 64 * 4
    assert 0 < right.info["error_over_bound"] <= 1
    assert right.info["versions"] == {"numpy": np.__version__}


def test_backends_take_turns_in_changing_order(faulty, tmp_path):
    log = tmp_path / "log"
    note = f"open({str(log)!r}, 'a').write('{{}}')"
    rounds = 8
    contest(WORKLOADS["prefill-256"], [faulty(name, note.format(name)) for name in "ab"], Limits(rounds))
    turns = [name for name, _ in groupby(log.read_text())]
    switches = turns[1:]  # of those before the rounds
    assert rounds <= len(switches) < 2 * rounds  # once within a round, and between those that begin as the last began


def test_a_fallback_is_told(faulty):
    ran = "KERNEL = 'fast'\ndef kernels(call):\n    call()\n    return {'slow'}"
    (entry,) = contest(WORKLOADS["prefill-256"], [faulty("falling", constants=ran)], Limits(2))
    assert (entry.status, entry.reason) == (FELL_BACK, "wanted the kernel fast, came slow")


@pytest.mark.parametrize(("memory", "status"), [(float("inf"), OK), (0.01, SKIPPED)])
def test_any_memory_may_be_given(memory, status):
    (found,) = contest(WORKLOADS["prefill-256"], ["numpy_naive"], Limits(1, memory=memory))
    assert (found.status, "-" in found.reason) == (status, False), found.reason


def test_too_little_memory_is_told_with_what_is_needed():
    (entry,) = contest(WORKLOADS["prefill-1024"], ["numpy_naive"], Limits(1, memory=0.2))
    assert entry.status == SKIPPED
    assert "GiB of memory, 16 times what a quarter of the length takes, came" in entry.reason


def test_what_a_backend_lacks_is_told():
    (entry,) = contest(WORKLOADS["backward-512"], ["numpy_naive"], Limits(1))
    assert (entry.status, entry.reason) == (SKIPPED, "does without gradient")


def test_a_wrong_gradient_is_found(tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "half_gradient.py"
    body = "result + 0.5 * (result.detach() - result)"
    source = "from attnspec.impls import torch_naive\nARRAYS = 'torch'\ndef attention(query, key, value):\n"
    path.write_text(f"{source}    result = torch_naive.attention(query, key, value)\n    return {body}\n")
    forward, backward = (contest(WORKLOADS[w], [str(path)], Limits(1))[0] for w in ("prefill-256", "backward-512"))
    assert (forward.status, backward.status) == (OK, WRONG)


SMALL = Workload("small", 11, 7, batch=2, heads=6, kv_heads=3, width=4)
SHAPES = {
    "full": SMALL,
    "causal": replace(SMALL, is_causal=True),
    "window": replace(SMALL, window=(3, 1)),
    "open window": replace(SMALL, window=(None, 0)),
    "mask": replace(SMALL, masked=True, keys=11),
    "packed": replace(SMALL, lengths=(3, 1, 7), keys=11, is_causal=True),
    "one query": replace(SMALL, queries=1),
    "bfloat16": replace(SMALL, dtype="bfloat16", is_causal=True),
}
CONVENTIONS = ({}, {"causal_alignment": "bottom-right", "window": "count", "gqa_map": "tiled"})


@pytest.mark.parametrize("conventions", CONVENTIONS, ids=("default", "other"))
@pytest.mark.parametrize("name", SHAPES)
def test_sampled_rows_are_those_of_the_whole(name, conventions):
    backend = load("numpy_naive")
    backend = backend.assuming(conventions={**backend.conventions, **conventions})
    inputs = Inputs(replace(SHAPES[name], backward=True))
    for number in range(4):
        whole = solve(inputs.problem(number), backend.conventions)
        gradients = zip(("query", "key", "value"), whole.gradients(inputs.cotangent(number)), strict=True)
        came = {"output": whole.output, **dict(gradients)}
        assert error(backend, inputs, number, came).ratio < 1e-6
        for part in came:
            assert error(backend, inputs, number, {**came, part: came[part] + 0.1}).ratio > 1
    assert pairs(inputs, backend.conventions) == whole.visible.sum()


def test_no_inputs_come_twice():
    inputs = Inputs(replace(SMALL, queries=3, keys=3))
    calls = SETS * 100  # more rounds than are usual
    seen = {array.tobytes() for n in range(calls) for p in [inputs.problem(n)] for array in (p.query, p.key, p.value)}
    assert len(seen) == 3 * calls


SEEN = """
import numpy as np
from attnspec.benchmarks.peak_memory import {name} as measure, resident

np.ones(2**26).sum()  # an earlier peak of 512 MiB, which is none of it
before = resident()
print(measure(lambda: (np.ones(2**23) + 1).sum()) - before)
"""


@pytest.mark.parametrize("name", ["peak", "_sampled"])
def test_peak_memory_is_seen(name):
    """Of two arrays of 64 MiB at once, in a process that has nothing else to free."""
    command = [sys.executable, "-P", "-c", SEEN.format(name=name)]
    held = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert 2**26 <= held <= 2**28


WEIGHED = """
from attnspec.benchmarks.trial import Trial
from attnspec.benchmarks.workloads import WORKLOADS
from attnspec.loading import load

trial = Trial(load("jax_naive"), WORKLOADS["prefill-1024"], memory=4.0)
found, arguments = trial.prepared()["peak_memory"], trial.subject.arguments(0)
print(found, trial.backend.arrays.peak_memory(trial.subject.function, arguments) - arguments[0].nbytes)
"""


def test_memory_of_a_call_is_what_xla_says():
    pytest.importorskip("jax")
    run = subprocess.run([sys.executable, "-P", "-c", WEIGHED], capture_output=True, text=True, check=True)
    found, wanted = map(int, run.stdout.split())
    assert found == pytest.approx(wanted, abs=2**22)
    assert wanted > 2**25  # the scores


@pytest.mark.parametrize("power", [0.5, 1, 2.25])
def test_the_exponent_of_an_exact_power_is_found(power):
    found = fit((n, 3e-6 * n**power) for n in (256, 512, 1024))
    assert (round(found.exponent, 9), round(found.factor * 1e6, 9)) == (power, 3)


def test_no_exponent_of_fewer_than_three_sizes():
    assert fit([(256, 1.0), (512, 2.0), (512, 2.1)]).exponent is None
    assert fit([(256, 1.0), (512, 2.0), (1024, 0.0)]).exponent is None
    assert fit([(256, 1.0), (512, 2.0), (1024, 3.0)], least=1.0).exponent is None


def entry(backend, seconds, workload="prefill-256", **info):
    told = {"flops": 10**9, "bytes": 10**6, "iterations": 1, "error_over_bound": 0.1, "peak_memory": 2**20, **info}
    return Entry(backend, WORKLOADS[workload], info=told, seconds=seconds)


@pytest.fixture
def run_file(tmp_path):
    """A run of two backends, and one that was wrong."""

    def written(name, *medians):
        entries = [entry(f"b{i}", [m, m, m]) for i, m in enumerate(medians)]
        entries.append(Entry("bad", WORKLOADS["prefill-256"], WRONG, "came 2"))
        path = tmp_path / name
        path.write_text(json.dumps(results.document(entries, Machine({"float32": 100.0}, 10.0))))
        return path

    return written


def test_shares_and_ratios(run_file):
    timings = read(run_file("run.json", 0.01, 0.03)).timings
    first, second, bad = timings
    assert first.figures["gflops"] == pytest.approx(100)
    assert second.figures["peak_share"] == pytest.approx(1 / 3)
    assert first.figures["bandwidth_share"] == pytest.approx(0.01)
    assert ratios(timings) == pytest.approx({"b0": 1.0, "b1": 3.0})
    assert ratios(timings, "b1") == pytest.approx({"b0": 1 / 3, "b1": 1.0})
    assert ratios(timings, "bad") == {}
    assert (bad.backend, bad.status, bad.reason, bad.median) == ("bad", WRONG, "came 2", None)


def test_growth_is_that_of_a_family_and_a_backend():
    entries = [entry("b", [n**1.5], f"prefill-{n}", peak_memory=n * 2**12) for n in (256, 512, 1024)]
    entries += [entry("b", [1.0], f"backward-{n}") for n in (512, 1024)]
    entries += [entry("c", [1.0], f"prefill-{n}") for n in (512, 1024)]
    found = growths(run_of(results.document(entries, Machine())).timings)
    ((family, (growth,)),) = found.items()
    assert (family, growth.backend, growth.time.exponent) == ("prefill", "b", pytest.approx(1.5))
    assert (growth.memory.exponent, growth.memory.points) == (None, ((512, 2**21), (1024, 2**22)))


def test_two_runs_are_compared_by_their_ratios(run_file, capsys):
    files = [run_file("one.json", 0.01, 0.03), run_file("two.json", 0.02, 0.03)]
    assert cli.main(["compare", *map(str, files), "--baseline", "b0"], standalone_mode=False) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["b1", "30.0", "ms", "0", "%", "1.50×", "3.00×", "-50", "%"] in [line[:9] for line in lines]
    assert ["bad", "wrong:", "came", "2"] in lines


def test_a_run_without_timings_has_nothing_to_compare(tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(results.document([], Machine())))
    with pytest.raises(ValueError, match=r"run\.json: wanted timings of backends, came none"):
        cli.main(["compare", str(file)], standalone_mode=False)


def test_runs_without_a_common_workload_are_not_compared(run_file):
    files = [run_file(name, 0.01, 0.03) for name in ("one.json", "two.json")]
    files[1].write_text(files[1].read_text().replace('"prefill-256"', '"prefill-512"'))
    with pytest.raises(ValueError, match=r"compare: wanted runs with a workload in common, came .*one\.json and .*two"):
        cli.main(["compare", *map(str, files)], standalone_mode=False)


def test_runs_of_two_machines_are_told_apart_and_no_workload_is_dropped_in_silence(run_file, capsys):
    files = [run_file("one.json", 0.01, 0.03), run_file("two.json", 0.02, 0.03)]
    earlier = json.loads(files[0].read_text())
    earlier["machine_info"]["cpu"] = {"brand_raw": "another"}
    gone = json.loads(json.dumps(earlier["benchmarks"][0]).replace("prefill-256", "prefill-512"))
    earlier["benchmarks"].append(gone)
    files[0].write_text(json.dumps(earlier))
    assert cli.main(["compare", *map(str, files)], standalone_mode=False) == 0
    out = capsys.readouterr().out
    assert "The earlier run is of another machine: another, not " in out
    assert "In the earlier run alone, not shown: prefill-512." in out
    assert cli.main(["compare", str(files[1]), str(files[1])], standalone_mode=False) == 0
    assert "earlier run" not in capsys.readouterr().out


def test_names_are_shown_as_they_stand(run_file, capsys):
    file = run_file("run.json", 0.01, 0.03)
    text = file.read_text().replace('"b0"', '"\\u001b[2J"').replace('"b1"', '"[/b]:b:"')
    file.write_text(text.replace('"prefill-256"', '"[bold]"'))
    assert cli.main(["compare", str(file)], standalone_mode=False) == 0
    out = capsys.readouterr().out
    assert "[/b]:b:" in out
    assert "[bold]" in out
    assert r"\x1b[2J" in out, "nor does a name tell the terminal anything"
    assert "\x1b" not in out


def test_pytest_benchmark_reads_it(run_file):
    command = [sys.executable, "-P", "-m", "pytest_benchmark", "compare", str(run_file("run.json", 0.01, 0.03))]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "test_speed[b1-prefill-256]" in text
    assert "bad" not in text


def test_a_backend_that_is_there_twice_is_told(run_file):
    file = run_file("run.json", 0.01, 0.03)
    file.write_text(file.read_text().replace('"b1"', '"b0"'))
    with pytest.raises(ValueError, match="wanted each backend once on a workload, came 'b0' 2 times on 'prefill-256'"):
        read(file)


@pytest.mark.parametrize(
    ("text", "came"),
    [
        ("{", "breaks off"),
        ("[]", "list"),
        ('{"benchmarks": []}', "machine_info"),
        ('{"machine_info": {"peak_gflops": {}}, "benchmarks": [{}], "unranked": [], "datetime": ""}', "'name'"),
    ],
)
def test_damaged_results_are_told(tmp_path, text, came):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"run\.json: wanted .*{came}"):
        read(path)


def test_unknown_workloads_are_told():
    with pytest.raises(ValueError, match="came 'prefil-256'; did you mean 'prefill-256'"):
        chosen(["prefil-256"])
    with pytest.raises(ValueError, match="--dtype: wanted one that a chosen workload has, came float64"):
        chosen([], ["float64"])
    assert {w.name for w in chosen(["decode-*"], ["bfloat16"])} == {"decode-bfloat16-8192"}


def test_unknown_targets_and_baselines_are_told(tmp_path):
    with pytest.raises(ValueError, match=r"nix\.py: wanted a Python file, came a path that does not exist"):
        contest(WORKLOADS["prefill-256"], [str(tmp_path / "nix.py")], Limits(1))
    with pytest.raises(ValueError, match="--baseline: wanted one of numpy_naive, came 'nix'"):
        cli.main(["bench", "numpy_naive", "--baseline", "nix"], standalone_mode=False)


@pytest.fixture
def still(monkeypatch):
    """The machine is not measured."""
    monkeypatch.setattr(Machine, "measure", lambda self, dtype: None)


@pytest.mark.usefixtures("still")
def test_an_interrupt_leaves_what_is_finished(monkeypatch, tmp_path):
    def interrupted(workload, names, limits, listen):
        if workload.name == "prefill-512":
            raise KeyboardInterrupt
        return [entry(name, [0.1, 0.2], workload.name) for name in names]

    monkeypatch.setattr(command, "contest", interrupted)
    file = tmp_path / "run.json"
    code = cli.main(["bench", "numpy_naive", "--workload", "prefill-*", "--json", str(file)], standalone_mode=False)
    assert (code, [timing.workload for timing in read(file).timings]) == (130, ["prefill-256"])


@pytest.mark.usefixtures("still")
def test_bench_from_the_command_line(faulty, tmp_path, capsys):
    file = tmp_path / "run.json"
    wrong, words = faulty("wrong", "result *= 1.01"), ["--workload", "prefill-256", "--rounds", "2"]
    code = cli.main(["bench", "numpy_naive", wrong, *words, "--json", str(file)], standalone_mode=False)
    assert code == 1
    assert [(t.backend, t.status) for t in read(file).timings] == [("numpy_naive", OK), ("wrong", WRONG)]
    assert "wrong  wrong: a sampled element at" in capsys.readouterr().out


@pytest.mark.usefixtures("still")
def test_files_of_the_same_name_are_told_apart(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    right, wrong = "right/mine.py", "wrong/mine.py"
    for path, fault in ((right, ""), (wrong, "result *= 1.01")):
        Path(path).parent.mkdir()
        Path(path).write_text(HEAD.format(fault=fault, constants=""))
    words = ["--workload", "prefill-256", "--rounds", "1", "--baseline", right, "--json", "run.json"]
    assert cli.main(["bench", right, wrong, right, "numpy_naive", *words], standalone_mode=False) == 1
    found = {(timing.backend, timing.status) for timing in read(Path("run.json")).timings}
    assert found == {(right, OK), (wrong, WRONG), ("numpy_naive", OK)}
    (row,) = (line.split() for line in capsys.readouterr().out.splitlines() if line.startswith(right))
    assert row[5] == "1.00×"


NO_DEVICE = pytest.mark.skipif(not Path("/dev/null").exists(), reason="wanted a device file, came a system without")


@pytest.mark.parametrize("before", [None, "kept"])
def test_a_run_that_comes_to_nothing_leaves_its_file_as_it_was(tmp_path, before):
    file = tmp_path / "run.json"
    if before is not None:
        file.write_text(before)
    words = ["bench", "nix.py", "--workload", "prefill-256", "--json", str(file)]
    with pytest.raises(ValueError, match=r"nix\.py: wanted a Python file"):
        cli.main(words, standalone_mode=False)
    assert (file.read_text() if file.exists() else None) == before


@pytest.mark.parametrize("path", ["nix/run.json", pytest.param("/dev/null", marks=NO_DEVICE)])
def test_what_cannot_be_written_is_told_before_the_work(monkeypatch, tmp_path, path):
    monkeypatch.setattr(Machine, "measure", lambda self, dtype: pytest.fail("the work began"))
    words = ["bench", "numpy_naive", "--workload", "prefill-256", "--json", str(tmp_path / path)]
    with pytest.raises(ValueError, match=r"--json: wanted a file to write, came '.*' \(.+\)"):
        cli.main(words, standalone_mode=False)


@pytest.mark.usefixtures("still")
def test_names_that_are_no_text_do_not_cost_the_results(monkeypatch, tmp_path):
    """A file's name may be any bytes, an exception may say anything."""

    def contested(workload, names, limits, listen):
        return [entry("\udcff", [0.1]), Entry("bad", workload, FAILED, "ValueError: \ud800")]

    monkeypatch.setattr(command, "contest", contested)
    file = tmp_path / "run.json"
    words = ["--workload", "prefill-256", "--json", str(file)]
    assert cli.main(["bench", "numpy_naive", *words], standalone_mode=False) == 1
    assert [(t.backend, t.reason) for t in read(file).timings] == [("?", ""), ("bad", "ValueError: ?")]


def test_targets_are_held_to_their_limits(monkeypatch):
    monkeypatch.setattr(targets, "_verification", list)
    medians = {("numpy_blockwise", "prefill-4096"): 1.2, ("torch_sdpa", "prefill-4096"): 1.0}
    entries = [entry(backend, [m], workload, peak_memory=0) for (backend, workload), m in medians.items()]
    found = {t.what: t for t in targets.targets(run_of(results.document(entries, Machine({"float32": 1.0}))))}
    ratio = found["numpy_blockwise ÷ torch_sdpa"]
    assert ratio.values == {"prefill-1024": None, "prefill-2048": None, "prefill-4096": pytest.approx(1.2)}
    assert ratio.met is False
    assert found["share of the matrix-product peak, numpy_blockwise"].met is True
    assert found["jax_blockwise ÷ torch_sdpa"].met is None


def test_the_suite_itself_is_timed(tmp_path):
    file, suite = tmp_path / "suite.json", Path(__file__).parents[1] / "benchmarks" / "test_suite.py"
    only = ("-k", "test_problems or causal_off_by_one", f"--benchmark-json={file}")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}  # not of xdist
    run = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", suite, *only], capture_output=True, text=True, env=alone
    )
    assert run.returncode == 0, run.stdout
    found = read(file).suite
    assert found.problems_a_second > 0
    assert found.kills.keys() == {"causal_off_by_one"}
    assert found.kills["causal_off_by_one"] > 0
