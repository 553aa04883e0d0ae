"""``attnspec bench --targets``: what the references are meant to reach, measured in one run, and whether they do."""

from collections.abc import Callable, Iterable

from attnspec.benchmarks.growth import NOISE
from attnspec.benchmarks.run import Run, Target, Timing, Values
from attnspec.benchmarks.suite import problems_a_second, verified_in
from attnspec.benchmarks.tables import console, table
from attnspec.targets import own_names, peer_names
from attnspec.units import digits

LENGTHS = (1024, 2048, 4096)

SDPA, JAX = "torch_sdpa", "jax_dot_product_attention"

BLOCKWISE = tuple(name for name in own_names() if name.endswith("_blockwise"))

PEERS = (SDPA, *(name for name in peer_names() if name.startswith(("onnxruntime_", "openvino_"))))
"""Kernels of vendors that compute in float32 on the CPU."""

BACKENDS = (*BLOCKWISE, JAX, *PEERS)

WORKLOADS = (
    *(f"prefill-{n}" for n in (*LENGTHS, 8192)),
    *(f"prefill-causal-{n}" for n in LENGTHS),
    *(f"backward-{n}" for n in (*LENGTHS, 8192)),
)

Find = Callable[[str, str], Timing | None]
"""The ranked timing of a backend on a workload."""


def targets(run: Run) -> list[Target]:
    """All of them, out of a run; the last two are measured here."""
    ranked = {(timing.backend, timing.workload): timing for timing in run.timings if timing.median is not None}

    def find(backend: str, workload: str) -> Timing | None:
        return ranked.get((backend, workload))

    return [*_speed(find), *_memory(find), *_verification()]


def _speed(find: Find) -> list[Target]:
    full = [f"prefill-{n}" for n in LENGTHS]
    causal = {
        f"{backend} {n}": _over(_median(find(backend, f"prefill-causal-{n}")), _median(find(backend, f"prefill-{n}")))
        for backend in BLOCKWISE
        for n in LENGTHS
    }
    backward = [f"backward-{n}" for n in LENGTHS]
    share = find("numpy_blockwise", "prefill-4096")
    return [
        Target(f"numpy_blockwise ÷ {SDPA}", 1.15, _ratios(find, ["numpy_blockwise"], [SDPA], full)),
        Target(f"jax_blockwise ÷ {SDPA}", 1.5, _ratios(find, ["jax_blockwise"], [SDPA], full)),
        Target("the fastest of ours ÷ the fastest peer", 1.0, _ratios(find, BLOCKWISE, PEERS, full)),
        Target("causal ÷ full, each blockwise", 0.6, causal),
        Target(f"backward, jax_blockwise ÷ {JAX}", 0.6, _ratios(find, ["jax_blockwise"], [JAX], backward)),
        Target(
            "share of the matrix-product peak, numpy_blockwise",
            0.8,
            {"4096": share.figures.get("peak_share") if share else None},
            at_least=True,
        ),
    ]


def _ratios(find: Find, ours: Iterable[str], theirs: Iterable[str], workloads: Iterable[str]) -> Values:
    """The fastest of ours by the fastest of theirs, by workload."""
    ours, theirs = tuple(ours), tuple(theirs)
    return {
        workload: _over(*(_least(_median(find(name, workload)) for name in names) for names in (ours, theirs)))
        for workload in workloads
    }


def _memory(find: Find) -> list[Target]:
    """Growth from 4096 to 8192 keys and the amount at 8192; what a process's memory cannot tell counts as 1 MiB."""
    grown: dict[str, float | None] = {}
    held: dict[str, float | None] = {}
    for backend in BLOCKWISE:
        for family in ("prefill", "backward"):
            small, large = (_held(find(backend, f"{family}-{n}")) for n in (4096, 8192))
            grown[f"{backend} {family}"] = _over(large, small)
            held[f"{backend} {family}"] = large / 1e6 if large else None
    return [Target("memory at 8192 ÷ at 4096 keys", 2.1, grown), Target("memory at 8192 keys, MB", 64.0, held)]


def _verification() -> list[Target]:
    return [
        Target("verify numpy_naive, seconds", 10.0, {"default profile": verified_in("numpy_naive")}),
        Target("problems a second, tiny, one thread", 2000.0, {"numpy_naive": problems_a_second()}, at_least=True),
    ]


def _median(timing: Timing | None) -> float | None:
    return timing.median if timing else None


def _held(timing: Timing | None) -> float | None:
    return max(timing.figures["peak_memory"], NOISE) if timing else None


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _over(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


def show(found: Iterable[Target]) -> None:
    """Print each with what was measured."""
    rows = table("targets", ("what", "target", "measured", "met"))
    for target in found:
        came = ", ".join(f"{name} {digits(value)}" for name, value in target.values.items())
        rows.add_row(target.what, f"{'≥' if target.at_least else '≤'} {target.limit:g}", came, target.answer)
    console().print(rows)
