"""Faults that attention is published with, each as the answer that it gives, for golden vectors to tell.

A fault is the oracle on another problem, under other conventions, or with one step of the definition done otherwise.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.compare import worst
from attnspec.specs.contract import HIDING, OPTIONS
from attnspec.specs.oracle import Conventions, Floats, Solution
from attnspec.specs.problem import Array, Problem, largest_number, lifted

POSITIONAL = ("is_causal", "window", "alibi_slopes")
"""Options that count positions, from the one corner or the other."""

TOLD = 2.0
"""A faulty answer is told from the right one where it is off by this many tolerances: the faulty code rounds too."""

Change = Callable[[Problem, Conventions], Problem | Conventions | None]
Answer = Callable[[Problem, Conventions], Solution | None]


class Fault(NamedTuple):
    """What goes wrong in one sentence, the ids of public reports, and the answer; None where it has no effect."""

    says: str
    reports: tuple[str, ...]
    answer: Answer


FAULTS: dict[str, Fault] = {}
"""Every fault by name. Answers to problems with NaN or infinities are those of the faults in NONFINITE alone."""

NONFINITE = ("hidden-values-leak", "hidden-keys-leak", "nan-swallowed")


def finite(problem: Problem) -> Problem:
    """The problem with 0 for NaN and infinities among its inputs."""
    inputs = {name: getattr(problem, name) for name in ("query", "key", "value")}
    if all(np.isfinite(array).all() for array in inputs.values()):
        return problem
    return problem.replace(**{n: np.where(np.isfinite(a), a, a.dtype.type(0)) for n, a in inputs.items()})


def parts(problem: Problem) -> list[str]:
    """What the answer consists of: the output, and what the options ask for beside it."""
    return ["output", *(part for part in ("weights", "lse") if problem.options.get(f"return_{part}"))]


def answers(solution: Solution) -> dict[str, Floats]:
    """The parts of the answer, each like the problem in rank."""
    problem = solution.problem
    arrays = {part: getattr(solution, part) for part in parts(problem)}
    return {part: array.reshape(array.shape[4 - problem.query.ndim :]) for part, array in arrays.items()}


@np.errstate(all="ignore")
def faulty(name: str, problem: Problem, conventions: Conventions) -> dict[str, Floats] | None:
    """What the fault makes of the problem; None where it has no effect."""
    if (finite(problem) is problem) == (name in NONFINITE):
        return None
    if name in NONFINITE[:2] and not set(problem.options) & set(HIDING):
        return None
    solution = FAULTS[name].answer(problem, conventions)
    return None if solution is None else answers(solution)


def flags(
    problem: Problem, conventions: Conventions, expected: Mapping[str, Array], tolerance: Mapping[str, Array]
) -> dict[str, str]:
    """The faults that a golden vector tells from the right answer, and the effect of each."""
    found = {}
    for name in FAULTS:
        came = faulty(name, problem, conventions) or {}
        for part in came:
            difference = worst(came[part], expected[part], tolerance[part])
            if difference is not None and difference.ratio > TOLD:
                found[name] = effect(part, expected[part], came[part])
                break
    return found


def effect(part: str, wanted: Array, came: Array) -> str:
    """How far off a part of the answer is, in words."""
    if (np.isnan(came) & ~np.isnan(wanted)).any():
        return f"{part} becomes NaN"
    if (np.isnan(wanted) & ~np.isnan(came)).any():
        return f"{part} is a number where NaN is right"
    infinite = (np.isinf(came) | np.isinf(wanted)) & (came != wanted)
    if infinite.any():
        return f"{part} is {came[infinite][0]:.2g} instead of {wanted[infinite][0]:.2g}"
    with np.errstate(invalid="ignore"):
        return f"{part} off by {np.nanmax(np.abs(came - wanted)):.2g}"


def _fault(name: str, says: str, *reports: str) -> Callable[[Any], Any]:
    """List a class that does one step of the oracle otherwise, or a function that changes problem or conventions."""

    def add(made: Any) -> Any:
        FAULTS[name] = Fault(says, reports, made if isinstance(made, type) else _changing(made))
        return made

    return add


def _changing(change: Change) -> Answer:
    def answer(problem: Problem, conventions: Conventions) -> Solution | None:
        changed = change(problem, conventions)
        if isinstance(changed, Problem):
            return Solution(changed, conventions)
        return None if changed is None else Solution(problem, {**conventions, **changed})

    return answer


def _ignoring(*options: str) -> Change:
    return lambda p, c: p.with_options(**dict.fromkeys(options)) if options[0] in p.options else None


for _option, *_reports in (
    ("mask", "C9", "C15"),
    ("bias",),
    ("is_causal", "B8", "B11", "B13", "B16"),
    ("scale", "E10"),
    ("softcap",),
    ("window", "M5", "M6", "M8"),
    ("alibi_slopes",),
    ("sinks",),
    ("key_lengths", "C28"),
    ("query_segments", "O10", "O11", "O13"),
):
    assert _option in OPTIONS
    _both = ("query_segments", "key_segments") if _option == "query_segments" else (_option,)
    _word = "segments" if _option == "query_segments" else _option.replace("_", "-")
    _fault(f"{_word}-ignored", f"{_word.replace('-', '_')} is ignored", *_reports)(_ignoring(*_both))


# the scale


def _default_scale(problem: Problem, factor: float) -> Problem | None:
    """The problem with ``factor`` in the place of the scale that is left to the function."""
    return None if "scale" in problem.options else problem.with_options(scale=factor)


@_fault("scale-of-one", "the scores are not scaled")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=1.0)


@_fault("scale-of-a-half", "the scale is always 0.5", "E7")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=0.5)


@_fault("scale-of-all-heads", "the scale is 1/√(Hq·Dk), from the model's width", "E2", "E4", "E5")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _default_scale(p, 1 / max(p.shape[1] * p.shape[5], 1) ** 0.5)


@_fault("scale-of-the-padded-width", "the scale is taken from Dk rounded up to a multiple of 8", "E11")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _default_scale(p, 1 / max(-(-p.shape[5] // 8) * 8, 1) ** 0.5)


@_fault("scale-of-the-value-width", "the scale is 1/√Dv")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _default_scale(p, 1 / max(p.shape[6], 1) ** 0.5)


@_fault("scale-twice", "the scores are scaled twice")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=Solution(p, c).scale ** 2)


@_fault("scale-without-sign", "the scale's sign is lost")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=abs(p.options["scale"])) if "scale" in p.options else None


# visibility by position


def _seeing(problem: Problem, conventions: Conventions, least: int, *without: str) -> Problem:
    """The problem, less some options, in which keys are visible that lie ``least`` or more behind the query."""
    mask = problem.options.get("mask", np.ones((1, 1), bool)) & (Solution(problem, conventions).position >= least)
    return problem.with_options(**dict.fromkeys(without), mask=mask)


@_fault("causal-sees-the-next-key", "causality is off by one: each query sees one key of the future")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _seeing(p, c, -1, "is_causal") if p.options.get("is_causal") else None


@_fault("causal-excludes-itself", "causality is off by one: no query sees its own key", "O3")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _seeing(p, c, 1, "is_causal") if p.options.get("is_causal") else None


@_fault("causal-without-being-asked", "causality is on though it is off", "B23")
def _(p: Problem, c: Conventions) -> Problem | None:
    return None if p.options.get("is_causal") else p.with_options(is_causal=True)


@_fault("causal-reversed", "causality hides the past instead of the future")
def _(p: Problem, c: Conventions) -> Problem | None:
    if not p.options.get("is_causal"):
        return None
    mask = p.options.get("mask", np.ones((1, 1), bool)) & (Solution(p, c).position <= 0)
    return p.with_options(is_causal=None, mask=mask)


@_fault("causal-at-both-corners", "a second, top-left causal mask is laid over the bottom-right one", "B12")
def _(p: Problem, c: Conventions) -> Problem | None:
    if not p.options.get("is_causal") or c["causal_alignment"] == "top-left":
        return None
    return _seeing(p, {**c, "causal_alignment": "top-left"}, 0)


@_fault("other-corner", "positions are counted from the other corner", "B1", "B2", "B3", "B5", "B6", "B22")
def _(p: Problem, c: Conventions) -> Conventions | None:
    if not any(option in p.options for option in POSITIONAL):
        return None
    return {"causal_alignment": {"top-left": "bottom-right", "bottom-right": "top-left"}[c["causal_alignment"]]}


def _window(problem: Problem, left: int, right: int) -> Problem | None:
    """The problem with a window that is so much wider on each side."""
    if "window" not in problem.options:
        return None
    bounds = zip(problem.options["window"], (left, right), strict=True)
    return problem.with_options(window=tuple(None if bound is None else bound + more for bound, more in bounds))


@_fault("window-wider-to-the-left", "the window holds one key more on the left", "M2", "M4")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _window(p, 1, 0)


@_fault("window-narrower-to-the-left", "the window holds one key less on the left", "M4")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _window(p, -1, 0)


@_fault("window-wider-to-the-right", "the window holds one key more on the right")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _window(p, 0, 1)


@_fault("window-without-its-right-bound", "the window's right bound is ignored", "M7")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(window=(p.options["window"][0], None)) if "window" in p.options else None


@_fault("window-reversed", "the window's bounds are swapped")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(window=p.options["window"][::-1]) if "window" in p.options else None


# masks and biases


@_fault("mask-inverted", "the mask is inverted", "C1", "C3", "C4")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(mask=~p.options["mask"]) if "mask" in p.options else None


@_fault("mask-added", "the mask is added to the scores as 0 and 1", "C8")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "mask" not in p.options:
        return None
    bias = np.asarray(p.options.get("bias", np.zeros((1, 1))), np.float64) + p.options["mask"]
    return p.with_options(mask=None, bias=bias)


def _first(problem: Problem, option: str, axis: int) -> Problem | None:
    """The problem in which the first place on an axis of an option serves all."""
    array = problem.options.get(option)
    if array is None or array.ndim < -axis or array.shape[axis] == 1 or array.size == 0:
        return None
    return problem.with_options(**{option: np.repeat(np.take(array, [0], axis), array.shape[axis], axis)})


def _of_the_first(option: str, axis: int) -> Change:
    return lambda p, c: _first(p, option, axis)


for _name in ("mask", "bias"):
    for _axis, _what, *_reports in ((-2, "query"), (-3, "head", "C20"), (-4, "sample", "C22")):
        _says = f"the first {_what}'s {_name} serves all"
        _reported = _reports if _name == "mask" else ()
        _fault(f"{_name}-of-the-first-{_what}", _says, *_reported)(_of_the_first(_name, _axis))


@_fault("mask-transposed", "queries and keys are swapped in the mask", "C17")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "mask" not in p.options or p.shape[3] != p.shape[4] or p.options["mask"].ndim < 2:
        return None
    return p.with_options(mask=np.swapaxes(p.options["mask"], -1, -2))


@_fault("bias-as-a-mask", "the bias is cast to boolean: every one but 0 hides its key", "C6")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "bias" not in p.options:
        return None
    mask = (np.asarray(p.options["bias"], np.float64) == 0) & p.options.get("mask", np.ones((1, 1), bool))
    return p.with_options(bias=None, mask=mask)


@_fault("bias-subtracted", "the bias is subtracted")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "bias" not in p.options:
        return None
    bias = np.asarray(p.options["bias"], np.float64)
    return p.with_options(bias=np.where(np.isneginf(bias), bias, -bias))


@_fault("bias-scaled", "the bias is added before the scores are scaled")
def _(p: Problem, c: Conventions) -> Problem | None:
    scale = Solution(p, c).scale
    if "bias" not in p.options or scale <= 0:
        return None
    return p.with_options(bias=scale * np.asarray(p.options["bias"], np.float64))


@_fault("bias-without-infinities", "a bias of -inf hides nothing")
def _(p: Problem, c: Conventions) -> Problem | None:
    bias = np.asarray(p.options.get("bias", 0.0), np.float64)
    return p.with_options(bias=np.where(np.isneginf(bias), 0.0, bias)) if np.isneginf(bias).any() else None


class _Filled(Solution):
    """Hidden keys keep a score."""

    fill = 0.0

    @cached_property
    def logits(self) -> Floats:
        return np.where(self.visible, self.scores, self.fill)


@_fault("hidden-scores-near-zero", "hidden scores are filled with -1e-9", "C12")
class _FilledNearZero(_Filled):
    fill = -1e-9


@_fault("hidden-scores-of-minus-1e4", "hidden scores are filled with -1e4", "C13", "C14")
class _FilledLow(_Filled):
    fill = -1e4


@_fault("hidden-after-softmax", "keys are hidden after the softmax, whose rows then do not sum to 1", "C16", "C27")
class _HiddenAfterSoftmax(Solution):
    @cached_property
    def weights(self) -> Floats:
        shown = _Shown(self.problem, self.conventions)
        return np.where(self.visible, shown.weights, 0.0)


class _Shown(Solution):
    """Nothing is hidden, but by −inf bias."""

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        return np.ones(self.scaled.shape, bool)


# softcap, ALiBi, sinks


@_fault("softcap-of-itself", "the cap is s·tanh(s) instead of c·tanh(s/c)", "J6")
class _CapOfItself(Solution):
    @cached_property
    def scores(self) -> Floats:
        return self.scaled + self.added if self.softcap is None else self.scaled * np.tanh(self.scaled) + self.added


@_fault("softcap-after-the-mask", "the softcap comes after the mask, so that hidden keys score -c", "L1", "L3")
class _CapAfterMask(Solution):
    @cached_property
    def logits(self) -> Floats:
        return super().logits if self.softcap is None else np.where(self.visible, self.scores, -self.softcap)


@_fault("softcap-on-the-other-side-of-the-bias", "softcap and bias are applied in the other order", "G9")
def _(p: Problem, c: Conventions) -> Conventions | None:
    if not p.options.get("softcap"):
        return None
    other = {"before-bias": "after-bias", "after-bias": "before-bias"}
    return {"softcap_order": other[c["softcap_order"]]}


@_fault("alibi-signed", "the distance of ALiBi keeps its sign")
class _AlibiSigned(Solution):
    @cached_property
    def added(self) -> Floats:
        if "alibi_slopes" not in self.problem.options:
            return super().added
        slopes = np.asarray(self.problem.options["alibi_slopes"], np.float64)[:, None, None]
        return super().added + slopes * (np.abs(self.position) - self.position)


def _slopes(problem: Problem, factor: float) -> Problem | None:
    """The problem with other slopes."""
    slopes = problem.options.get("alibi_slopes")
    return None if slopes is None else problem.with_options(alibi_slopes=factor * np.asarray(slopes, np.float64))


@_fault("alibi-exponent-off-by-one", "the slopes are half as steep", "N8")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _slopes(p, 0.5)


@_fault("alibi-favours-the-distant", "the slopes have the wrong sign")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _slopes(p, -1.0)


@_fault("alibi-of-the-first-head", "the first head's slope serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _first(p, "alibi_slopes", -1)


@_fault("sinks-scaled", "the sinks are scaled like the scores")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "sinks" not in p.options:
        return None
    return p.with_options(sinks=Solution(p, c).scale * np.asarray(p.options["sinks"], np.float64))


@_fault("sinks-of-the-first-head", "the first head's sink serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _first(p, "sinks", -1)


# lengths and segments


def _lengths(problem: Problem, change: Callable[[Array], Array]) -> Problem | None:
    lengths = problem.options.get("key_lengths")
    if lengths is None or lengths.size == 0:
        return None
    return problem.with_options(key_lengths=np.maximum(change(np.asarray(lengths, np.int64)), 0))


@_fault("lengths-one-more", "each length is one too large")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: lengths + 1)


@_fault("lengths-one-less", "each length is one too small: the last token is left out", "O12")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: lengths - 1)


@_fault("lengths-of-the-first-sample", "the first sample's length serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: np.full_like(lengths, lengths.reshape(-1)[0]))


@_fault("lengths-of-the-longest", "the longest sample's length serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: np.full_like(lengths, lengths.max()))


@_fault("segments-of-the-first-sample", "the first sample's segments serve all")
def _(p: Problem, c: Conventions) -> Problem | None:
    query, key = p.options.get("query_segments"), p.options.get("key_segments")
    if query is None or key is None or query.ndim < 2 or len(query) < 2:
        return None
    return p.with_options(query_segments=query[:1].repeat(len(query), 0), key_segments=key[:1].repeat(len(key), 0))


# heads, samples, keys


@_fault("heads-mapped-otherwise", "grouped heads are tiled, or tiled ones grouped", "G8", "G9", "G10")
def _(p: Problem, c: Conventions) -> Conventions | None:
    return {"gqa_map": {"grouped": "tiled", "tiled": "grouped"}[c["gqa_map"]]} if "gqa" in p.features else None


@_fault("heads-read-the-first", "every query head reads the first key and value head", "E7", "G10")
class _FirstHead(Solution):
    @cached_property
    def kv_head(self) -> NDArray[np.intp]:
        return np.zeros(self.problem.shape[1], np.intp)


def _by_view(array: Array) -> Array:
    """Heads split off by a view along the sequence, without a transpose."""
    heads, length = lifted(array).shape[1:3]
    turned = array.reshape(*array.shape[:-3], length, heads, array.shape[-1])
    return np.ascontiguousarray(np.swapaxes(turned, -3, -2))


@_fault("heads-split-by-view", "heads and positions of query, key and value are mixed by a view", "G2", "G3", "G4")
def _(p: Problem, c: Conventions) -> Problem | None:
    if p.query.ndim < 3 or 0 in p.shape:
        return None
    return p.replace(query=_by_view(p.query), key=_by_view(p.key), value=_by_view(p.value))


@_fault("samples-share-the-first-keys", "all samples attend to the first one's keys and values", "G6")
def _(p: Problem, c: Conventions) -> Problem | None:
    batch = p.shape[0]
    return p.replace(key=p.key[:1].repeat(batch, 0), value=p.value[:1].repeat(batch, 0)) if batch > 1 else None


@_fault("values-are-the-keys", "the keys are summed instead of the values")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.replace(value=p.key) if p.shape[5] == p.shape[6] else None


@_fault("last-key-left-out", "the last key is never read", "H14", "O12")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _without_key(p, -1)


@_fault("first-key-left-out", "the first key is never read")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _without_key(p, 0)


def _without_key(problem: Problem, place: int) -> Problem | None:
    keys = problem.shape[4]
    if keys == 0:
        return None
    others = np.arange(keys) != place % keys
    return problem.with_options(mask=problem.options.get("mask", np.ones((1, 1), bool)) & others)


# softmax and log-sum-exp


def _along(axis: int) -> type[Solution]:
    class Along(Solution):
        @cached_property
        def weights(self) -> Floats:
            top = self.logits.max(axis, keepdims=True, initial=-1e300)
            terms = np.exp(self.logits - top)
            return np.asarray(terms / terms.sum(axis, keepdims=True))

    return Along


_fault("softmax-over-queries", "the softmax runs over the queries", "F1")(_along(-2))
_fault("softmax-over-samples", "the softmax runs over the samples", "F3")(_along(0))


@_fault("maximum-starts-at-zero", "the running maximum starts at 0, so that low scores all underflow", "F5")
class _HighMaximum(Solution):
    @cached_property
    def top(self) -> Floats:
        return np.maximum(super().top, 0.0)


@_fault("maximum-not-subtracted", "exponentials overflow, for no maximum is subtracted")
class _NoMaximum(Solution):
    @cached_property
    def log_denominator(self) -> Floats:
        single = "float64" if self.problem.dtype == "float64" else "float32"
        beyond = self.logits.max(-1, initial=-np.inf) > np.log(largest_number(single))
        return np.where(beyond, np.nan, super().log_denominator)


@_fault("half-scores-overflow", "products beyond the range of the inputs' dtype become infinite", "K2", "K3", "K4")
class _HalfScores(Solution):
    @cached_property
    def scaled(self) -> Floats:
        dots = self.query @ np.swapaxes(self.key, -1, -2)
        return self.scale * np.where(np.abs(dots) > largest_number(self.problem.dtype), np.inf * np.sign(dots), dots)


def _emptying(value: str) -> Change:
    return lambda p, c: {"empty_row": value, "empty_row_bias": value}


for _value, _what in (("zero", "0"), ("mean", "the mean of all values"), ("nan", "NaN")):
    _says = f"a query that sees no key gives {_what}"
    _fault(f"empty-rows-{_value}", _says, "A2", "A7", "A8")(_emptying(_value))


@_fault("empty-rows-see-all", "a query that sees no key sees all of them")
class _SeeAll(Solution):
    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        visible = super().visible
        return visible | ~visible.any(-1, keepdims=True)


@_fault("key-width-of-zero-gives-zeros", "a key width of 0 gives zeros", "H6")
class _ZeroWidth(Solution):
    @cached_property
    def output(self) -> Floats:
        return np.zeros_like(super().output) if self.problem.shape[5] == 0 else super().output


@_fault("lse-of-base-two", "the log-sum-exp is a logarithm to base 2", "L6", "L7")
class _BaseTwo(Solution):
    @cached_property
    def lse(self) -> Floats:
        return np.asarray(super().lse / np.log(2.0))


@_fault("lse-times-ln-two", "a natural log-sum-exp is multiplied by ln 2", "L4")
class _TimesLn2(Solution):
    @cached_property
    def lse(self) -> Floats:
        return np.asarray(super().lse * np.log(2.0))


@_fault("lse-without-sinks", "the log-sum-exp leaves out the sinks")
class _LseWithoutSinks(Solution):
    @cached_property
    def lse(self) -> Floats:
        return Solution(self.problem.with_options(sinks=None), self.conventions).lse


@_fault("weights-averaged", "the returned weights are averaged over the heads", "I8")
class _Averaged(Solution):
    @cached_property
    def output(self) -> Floats:
        return Solution(self.problem, self.conventions).output

    @cached_property
    def weights(self) -> Floats:
        return np.broadcast_to(super().weights.mean(1, keepdims=True), super().weights.shape)


# NaN and infinities


@_fault("hidden-values-leak", "NaN and infinities of hidden values come through as 0·NaN", "D2", "D3")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p


@_fault("hidden-keys-leak", "NaN and infinities of hidden keys come through", "D2", "D3")
class _KeysLeak(Solution):
    @cached_property
    def logits(self) -> Floats:
        return self.scores + np.where(self.visible, 0.0, -np.inf)


@_fault("nan-swallowed", "NaN comes out as a number", "D4", "A9")
def _(p: Problem, c: Conventions) -> Problem | None:
    return finite(p)
