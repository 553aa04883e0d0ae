"""A small result of benchmarks for the tests of the page: timed by pytest-benchmark, all else made up."""

import json
import subprocess
import sys
import textwrap

SIZES = (256, 512, 1024)

MODULE = """
    import numpy as np
    import pytest

    SIZES = {sizes}
    ERRORS = {{"plain": 0.02, "careful": 0.004, "hasty": 0.3}}
    REPEATS = {{"plain": 2, "careful": 3, "hasty": 1}}

    def extra(backend, workload, n, what, **more):
        shape = {{"B": 1, "Hq": 8, "Hkv": 8, "L": n, "S": n, "Dk": 64, "Dv": 64}}
        told = {{"backend": backend, "workload": workload, "what": what, "dtype": "float32", "shape": shape}}
        return {{**told, "options": ["is_causal"], "versions": {{"numpy": "2.4.6"}}, **more}}

    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("what", ["forward", "forward+backward"])
    @pytest.mark.parametrize("backend", ERRORS)
    def test_speed(benchmark, backend, what, n):
        scores = np.ones((n, n), np.float32)
        benchmark.group = f"prefill {{n}} causal" + " backward" * (what != "forward")
        share = 0.3 * REPEATS[backend]
        benchmark.extra_info.update(extra(
            backend, benchmark.group, n, what, status="ok", kernels=[f"{{backend}}_kernel"], gflops=50 * share,
            peak_share=share, bandwidth_share=0.1, compile_seconds=0.5, peak_memory=n * 1000 * REPEATS[backend],
            error_over_bound=ERRORS[backend], compiled=backend == "hasty",
        ))
        benchmark.pedantic(lambda: [np.exp(scores) for _ in range(REPEATS[backend])], rounds=5, warmup_rounds=1)

    def test_suite(benchmark):
        benchmark.group = "suite"
        benchmark.pedantic(lambda: sum(range(100)), rounds=3)
"""

CONFTEST = """
    from test_sample import extra

    UNRANKED = {unranked}

    def pytest_benchmark_update_machine_info(config, machine_info):
        machine_info["peak_gflops"] = {{"float32": 50.0}}
        machine_info["bandwidth_gbs"] = 12.5

    def pytest_benchmark_update_json(config, benchmarks, output_json):
        for backend, group, status, reason in UNRANKED:
            told = extra(backend, group, 256, "forward", status=status, reason=reason)
            entry = {{"group": group, "name": f"test_speed[{{backend}}]", "extra_info": told}}
            output_json.setdefault("unranked", []).append(entry)
"""

UNRANKED = (
    ("broken", "prefill 256 causal", "wrong", "output at [0, 0, 0, 0] wanted 2, came 3, err/bound 1e+05"),
    ("slips", "prefill 256 causal", "fell back", "wanted the kernel flash, ran math"),
    ("big", "prefill 256 causal", "skipped", "wanted 12 GiB of memory, 4 GiB are free"),
)


def write_sample(file, unranked=UNRANKED, sizes=SIZES):
    """Time the made-up backends and write ``file``."""
    folder = file.parent / f"{file.stem}_sample"
    folder.mkdir()
    (folder / "test_sample.py").write_text(textwrap.dedent(MODULE.format(sizes=sizes)))
    (folder / "conftest.py").write_text(textwrap.dedent(CONFTEST.format(unranked=repr(unranked))))
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        f"--benchmark-json={file}",
    ]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(file.read_text())
