"""Masks and biases read otherwise."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.faulty.registry import Change, fault, first
from attnspec.specs.oracle import Conventions, Floats, Solution
from attnspec.specs.problem import Problem


@fault("mask-inverted", "the mask is inverted", "C1", "C3", "C4")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(mask=~p.options["mask"]) if "mask" in p.options else None


@fault("mask-added", "the mask is added to the scores as 0 and 1", "C8")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "mask" not in p.options:
        return None
    bias = np.asarray(p.options.get("bias", np.zeros((1, 1))), np.float64) + p.options["mask"]
    return p.with_options(mask=None, bias=bias)


def _of_the_first(option: str, axis: int) -> Change:
    return lambda p, c: first(p, option, axis)


for _name in ("mask", "bias"):
    for _axis, _what, *_reports in ((-2, "query"), (-3, "head", "C20"), (-4, "sample", "C22")):
        _says = f"the first {_what}'s {_name} serves all"
        _reported = _reports if _name == "mask" else ()
        fault(f"{_name}-of-the-first-{_what}", _says, *_reported)(_of_the_first(_name, _axis))


@fault("mask-transposed", "queries and keys are swapped in the mask", "C17")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "mask" not in p.options or p.shape[3] != p.shape[4] or p.options["mask"].ndim < 2:
        return None
    return p.with_options(mask=np.swapaxes(p.options["mask"], -1, -2))


@fault("bias-as-a-mask", "the bias is cast to boolean: every one but 0 hides its key", "C6")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "bias" not in p.options:
        return None
    mask = (np.asarray(p.options["bias"], np.float64) == 0) & p.options.get("mask", np.ones((1, 1), bool))
    return p.with_options(bias=None, mask=mask)


@fault("bias-subtracted", "the bias is subtracted")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "bias" not in p.options:
        return None
    bias = np.asarray(p.options["bias"], np.float64)
    return p.with_options(bias=np.where(np.isneginf(bias), bias, -bias))


@fault("bias-scaled", "the bias is added before the scores are scaled")
def _(p: Problem, c: Conventions) -> Problem | None:
    scale = Solution(p, c).scale
    if "bias" not in p.options or scale <= 0:
        return None
    return p.with_options(bias=scale * np.asarray(p.options["bias"], np.float64))


@fault("bias-without-infinities", "a bias of -inf hides nothing")
def _(p: Problem, c: Conventions) -> Problem | None:
    bias = np.asarray(p.options.get("bias", 0.0), np.float64)
    return p.with_options(bias=np.where(np.isneginf(bias), 0.0, bias)) if np.isneginf(bias).any() else None


class _Filled(Solution):
    """Hidden keys keep a score."""

    fill = 0.0

    @cached_property
    def logits(self) -> Floats:
        return np.where(self.visible, self.scores, self.fill)


@fault("hidden-scores-near-zero", "hidden scores are filled with -1e-9", "C12")
class _FilledNearZero(_Filled):
    fill = -1e-9


@fault("hidden-scores-of-minus-1e4", "hidden scores are filled with -1e4", "C13", "C14")
class _FilledLow(_Filled):
    fill = -1e4


@fault("hidden-after-softmax", "keys are hidden after the softmax, whose rows then do not sum to 1", "C16", "C27")
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
