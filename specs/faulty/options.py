"""Options that are ignored, and the scale, softcap, ALiBi and sinks done otherwise."""

from functools import cached_property

import numpy as np

from attnspec.specs.contract import OPTIONS
from attnspec.specs.faulty.registry import Change, fault, first
from attnspec.specs.oracle import Conventions, Floats, Solution
from attnspec.specs.problem import Problem


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
    fault(f"{_word}-ignored", f"{_word.replace('-', '_')} is ignored", *_reports)(_ignoring(*_both))


# the scale


def _default_scale(problem: Problem, factor: float) -> Problem | None:
    """The problem with ``factor`` in the place of the scale that is left to the function."""
    return None if "scale" in problem.options else problem.with_options(scale=factor)


@fault("scale-of-one", "the scores are not scaled")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=1.0)


@fault("scale-of-a-half", "the scale is always 0.5", "E7")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=0.5)


@fault("scale-of-all-heads", "the scale is 1/√(Hq·Dk), from the model's width", "E2", "E4", "E5")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _default_scale(p, 1 / max(p.shape[1] * p.shape[5], 1) ** 0.5)


@fault("scale-of-the-padded-width", "the scale is taken from Dk rounded up to a multiple of 8", "E11")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _default_scale(p, 1 / max(-(-p.shape[5] // 8) * 8, 1) ** 0.5)


@fault("scale-of-the-value-width", "the scale is 1/√Dv")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _default_scale(p, 1 / max(p.shape[6], 1) ** 0.5)


@fault("scale-twice", "the scores are scaled twice")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=Solution(p, c).scale ** 2)


@fault("scale-without-sign", "the scale's sign is lost")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(scale=abs(p.options["scale"])) if "scale" in p.options else None


# softcap, ALiBi, sinks


@fault("softcap-of-itself", "the cap is s·tanh(s) instead of c·tanh(s/c)", "J6")
class _CapOfItself(Solution):
    @cached_property
    def scores(self) -> Floats:
        return self.scaled + self.added if self.softcap is None else self.scaled * np.tanh(self.scaled) + self.added


@fault("softcap-after-the-mask", "the softcap comes after the mask, so that hidden keys score -c", "L1", "L3")
class _CapAfterMask(Solution):
    @cached_property
    def logits(self) -> Floats:
        return super().logits if self.softcap is None else np.where(self.visible, self.scores, -self.softcap)


@fault("softcap-on-the-other-side-of-the-bias", "softcap and bias are applied in the other order", "G9")
def _(p: Problem, c: Conventions) -> Conventions | None:
    if not p.options.get("softcap"):
        return None
    other = {"before-bias": "after-bias", "after-bias": "before-bias"}
    return {"softcap_order": other[c["softcap_order"]]}


@fault("alibi-signed", "the distance of ALiBi keeps its sign")
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


@fault("alibi-exponent-off-by-one", "the slopes are half as steep", "N8")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _slopes(p, 0.5)


@fault("alibi-favours-the-distant", "the slopes have the wrong sign")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _slopes(p, -1.0)


@fault("alibi-of-the-first-head", "the first head's slope serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return first(p, "alibi_slopes", -1)


@fault("sinks-scaled", "the sinks are scaled like the scores")
def _(p: Problem, c: Conventions) -> Problem | None:
    if "sinks" not in p.options:
        return None
    return p.with_options(sinks=Solution(p, c).scale * np.asarray(p.options["sinks"], np.float64))


@fault("sinks-of-the-first-head", "the first head's sink serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return first(p, "sinks", -1)
