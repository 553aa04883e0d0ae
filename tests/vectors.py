"""Makes the golden vectors: ``python tests/vectors.py`` writes both files of cases anew.

``attention.json`` holds cases written by hand: a new one goes in with empty ``expected``, ``tolerance`` and ``flags``.
``options.json`` is drawn from the plan below. Each answer has two producers: the definition in 50 digits, whose number
is written, and the oracle in float64, which must agree within the bound of float64, or nothing is written.
"""

import dataclasses
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import mpmath_attention
import numpy as np

from attnspec.specs import golden
from attnspec.specs.bound import Bound, Precision
from attnspec.specs.compare import worst
from attnspec.specs.contract import CONVENTIONS, DTYPES, default_conventions
from attnspec.specs.faults import answers, flags, parts
from attnspec.specs.faulty import FAULTS
from attnspec.specs.faulty.registry import finite
from attnspec.specs.oracle import Solution
from attnspec.specs.problem import decode_array, encode_array, read_problem
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS as ALL_SETTINGS
from attnspec.specs.values import DISTRIBUTIONS

VECTORS = Path(golden.__file__).with_name("vectors")
BY_HAND, DRAWN = (VECTORS / name for name in golden.CASES)

SETTINGS = {
    option: {name: build for name, build in settings.items() if name != "lowest"}
    for option, settings in ALL_SETTINGS.items()
    if option != "dropout_rate"
}
"""Those with one answer: what dropout drops is any implementation's own, and beside the lowest bias all digits go."""

SWITCHED = ("causal_alignment", "empty_row", "empty_row_bias", "softcap_order", "window", "gqa_map", "empty_row_lse")
"""The conventions that change answers; the others change how they are asked for or kept."""

TEXTBOOK_DIGITS = {
    "textbook-three-inputs": 0.5e-8,
    "textbook-rounded-weights": 0.0,
    "textbook-thinking-machines": 0.5e-3,
}
"""Half a unit in the last digit that the textbook gives."""


# one case


def conventions_of(data):
    return {**default_conventions(), **data["conventions"]}


def problem_of(data):
    return read_problem({name: data[name] for name in ("query", "key", "value", "options")})


def exact(data, **changes):
    """The answer in 50 digits, each part like the problem in rank; under changed conventions if so wanted."""
    problem = problem_of(data)
    weights, output, lse = mpmath_attention.Exact(problem, {**conventions_of(data), **changes}).solve()
    found = {"output": output, "weights": weights, "lse": lse}
    return {part: found[part].reshape(found[part].shape[4 - problem.query.ndim :]) for part in parts(problem)}


def decoded(data, field):
    return {part: decode_array(array, part) for part, array in data[field].items()}


def bounds(data, precision=None):
    """The computed bound of each part, 0 where the answer is not finite; under the roundings granted, unless given."""
    problem, conventions = finite(problem_of(data)), conventions_of(data)
    faint = any(_faint(getattr(problem, name)) for name in ("query", "key", "value"))
    granted = Precision.of(problem.dtype, conventions["intermediate_dtype"], faint)
    bound = Bound(Solution(problem, conventions), precision or granted)
    expected = decoded(data, "expected")
    shaped = {part: getattr(bound, part).reshape(expected[part].shape) for part in expected}
    return {part: np.where(np.isfinite(expected[part]), shaped[part], 0.0) for part in expected}


def _faint(array):
    """Whether it holds subnormal numbers, which some libraries flush."""
    numbers = np.abs(array.astype(np.float64))
    smallest = float(ml_dtypes.finfo(array.dtype).smallest_normal)
    return bool(((numbers > 0) & (numbers < smallest)).any())


def rounded_up(bound):
    """Three digits, never less."""
    return np.vectorize(lambda number: float(f"{1.006 * number:.2e}"), otypes=[float])(bound)


def check_producers(data):
    """AssertionError unless the oracle gives what is expected, within the bound of float64."""
    problem, expected = finite(problem_of(data)), decoded(data, "expected")
    half_a_unit = TEXTBOOK_DIGITS.get(data["name"], 0.0)
    for part, bound in bounds(data, Precision.of("float64", "input", True)).items():
        came = answers(Solution(problem, conventions_of(data)))[part]
        planted = finite(problem_of(data)) is not problem and np.isnan(expected[part])
        difference = worst(np.where(planted, np.nan, came), expected[part], bound + half_a_unit)
        assert difference is None or difference.ratio <= 1, f"{data['name']}: {part} {difference}"


def filled_in(data):
    """The case with its expected answer, if that is computed, its tolerance and its flags."""
    digits = TEXTBOOK_DIGITS.get(data["name"])
    if digits is None:
        data = {**data, "expected": {part: encode_array(array) for part, array in exact(data).items()}}
    granted = {part: rounded_up(bound + (digits or 0.0)) for part, bound in bounds(data).items()}
    found = flags(problem_of(data), conventions_of(data), decoded(data, "expected"), granted)
    tolerance = {part: encode_array(array) for part, array in granted.items()}
    return {**data, "flags": found, "tolerance": tolerance}


# the plan of the drawn ones


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A case to draw."""

    name: str
    comment: str
    recipe: Recipe
    conventions: tuple[tuple[str, Any], ...] = ()


SHAPES = {
    "": Shape(1, 2, 2, 3, 3, 2, 2),
    "more-keys": Shape(2, 2, 2, 2, 4, 2, 3),
    "more-queries": Shape(1, 2, 1, 4, 3, 3, 1),
    "grouped": Shape(1, 6, 2, 2, 3, 2, 1),
    "rank-three": Shape(1, 2, 2, 3, 4, 2, 2, rank=3),
    "rank-two": Shape(1, 1, 1, 4, 3, 3, 2, rank=2),
    "batch": Shape(3, 1, 1, 2, 3, 2, 2),
    "odd": Shape(1, 3, 1, 3, 5, 3, 2),
}
"""Shapes that every option meets, by name."""

SIZES = {
    "one-of-everything": Shape(1, 1, 1, 1, 1, 1, 1),
    "one-query": Shape(2, 2, 2, 1, 4, 2, 2),
    "one-key": Shape(2, 2, 2, 3, 1, 2, 2),
    "one-wide": Shape(1, 2, 2, 3, 4, 1, 1),
    "six-heads-in-twos": Shape(1, 6, 3, 2, 3, 2, 2),
    "six-heads-in-threes": Shape(1, 6, 2, 2, 3, 2, 2),
    "six-heads-on-one": Shape(1, 6, 1, 2, 3, 2, 1),
    "grouped-rank-three": Shape(1, 4, 2, 2, 3, 2, 2, rank=3),
    "wide-keys": Shape(1, 1, 1, 3, 3, 8, 1),
    "wide-values": Shape(1, 1, 1, 3, 3, 1, 8),
    "seventeen-keys": Shape(1, 1, 1, 2, 17, 2, 2),
    "three-samples": Shape(3, 2, 1, 2, 3, 2, 2),
    "rank-two": Shape(1, 1, 1, 3, 5, 2, 3, rank=2),
    "rank-two-of-one": Shape(1, 1, 1, 1, 1, 2, 2, rank=2),
    "no-batch": Shape(0, 2, 2, 3, 3, 2, 2),
    "no-queries": Shape(2, 2, 2, 0, 3, 2, 2),
    "no-keys": Shape(1, 2, 2, 2, 0, 2, 2),
    "no-key-width": Shape(1, 2, 2, 2, 3, 0, 2),
    "no-value-width": Shape(1, 2, 2, 2, 3, 2, 0),
}
"""Sizes that break things, by name."""

OTHERWISE = (
    ("causal_alignment", "bottom-right", "is_causal=on", "return_weights=on"),
    ("causal_alignment", "bottom-right", "window=both", "return_lse=on"),
    ("causal_alignment", "bottom-right", "is_causal=on", "key_lengths=ragged"),
    ("causal_alignment", "bottom-right", "alibi_slopes=powers"),
    ("window", "count", "window=left"),
    ("softcap_order", "after-bias", "softcap=two", "bias=full"),
    ("softcap_order", "after-bias", "softcap=two", "alibi_slopes=powers"),
    ("gqa_map", "tiled", "mask=heads"),
    ("gqa_map", "tiled", "alibi_slopes=powers", "sinks=gaussian"),
    ("gqa_map", "tiled", "return_weights=on", "return_lse=on"),
    ("empty_row", "mean", "mask=holed", "return_weights=on"),
    ("empty_row", "nan", "mask=holed"),
    ("empty_row", "mean", "segments=packed"),
    ("empty_row_lse", "zero", "mask=holed", "return_lse=on"),
)
"""Conventions other than the default, and the settings that show them."""

SETTING = tuple((option, name) for option in SETTINGS for name in SETTINGS[option])

TURNS = ("float64", "float32", "float16", "float64", "float32", "bfloat16", "float32")
"""Dtypes take turns, those with the narrow bounds more often."""

SEEDS = 4

FEW_BITS = 6
"""Numbers have so many significant bits, so that each dtype holds them and they are short to write."""


def drawing(shape, number, *chosen, dtype=None, values=None):
    """A recipe; dtype and distribution take turns unless they are given."""
    turn = ("gaussian", "uniform", "gaussian", "small-integers")[number % 4]
    return Recipe(shape, dtype or TURNS[number // 2 % len(TURNS)], values or turn).with_settings(**dict(chosen))


def plan() -> Iterator[Wanted]:
    """All that is wanted: sizes, numbers, each setting alone, pairs of options, conventions."""
    yield from plan_of_sizes()
    yield from plan_of_numbers()
    yield from plan_alone()
    yield from plan_of_pairs()
    yield from plan_of_conventions()


def plan_of_sizes():
    for number, (name, shape) in enumerate(SIZES.items()):
        extra = (("return_weights", "on"), ("return_lse", "on"))[number % 2]
        for dtype in (DTYPES[number % 4], DTYPES[(number + 1) % 4])[: 1 if 0 in dataclasses.astuple(shape) else 2]:
            drawn = drawing(shape, number, extra, dtype=dtype)
            yield Wanted(f"sizes-{name}-{dtype}", f"Sizes that break things: {name.replace('-', ' ')}.", drawn)


def plan_of_numbers():
    for (number, name), dtype in itertools.product(enumerate(DISTRIBUTIONS), DTYPES):
        shape = list(SHAPES.values())[(number + DTYPES.index(dtype)) % len(SHAPES)]
        says = " ".join((DISTRIBUTIONS[name].__doc__ or "").split())
        if name != "far-below" or dtype in ("float64", "float32"):
            drawn = drawing(shape, number, ("return_lse", "on"), dtype=dtype, values=name)
            yield Wanted(f"numbers-{name}-{dtype}", f"Queries, keys and values: {says}", drawn)


def plan_alone():
    numbers = itertools.count()
    for option, name in SETTING:
        for _ in range(3 if len(SETTINGS[option]) > 1 else 5):
            yield _showing((option, name), number=next(numbers))


def plan_of_pairs():
    numbers = itertools.count()
    for one, other in itertools.combinations(SETTINGS, 2):
        both = list(itertools.product(SETTINGS[one], SETTINGS[other]))
        for turn in range(min(len(both), 2)):
            number = next(numbers)
            first, second = both[(number * 7 + turn) % len(both)]
            yield _showing((one, first), (other, second), number=number)


def plan_of_conventions():
    numbers = itertools.count()
    for (convention, value, *shown), kind in itertools.product(OTHERWISE, ("more-keys", "more-queries", "grouped")):
        if convention == "gqa_map" and kind != "grouped":
            continue
        number = next(numbers)
        chosen = [tuple(pair.split("=")) for pair in shown]
        wanted = _showing(*chosen, number=number, kind=kind)
        name = f"{convention.replace('_', '-')}-{value}-{wanted.name}"
        yield dataclasses.replace(wanted, name=name, conventions=((convention, value),))


def _showing(*chosen, number, kind=None):
    """A case that shows some settings, at a shape whose turn it is."""
    kind = list(SHAPES)[number % len(SHAPES)] if kind is None else kind
    drawn = drawing(SHAPES[kind], number * 3 + number // 8, *chosen)
    words = ("-and-".join(_worded(*pair) for pair in chosen), kind, drawn.dtype)
    comment = " ".join(_told(*pair) for pair in chosen) or "No option."
    return Wanted("-".join(filter(None, words)), comment, drawn)


def _worded(option, name):
    word = {"is_causal": "causal", "alibi_slopes": "alibi", "key_lengths": "lengths"}.get(option, option)
    return f"{word}-{name}".removesuffix("-on").replace("_", "-").removeprefix("return-")


def _told(option, name):
    """What a setting is, in a sentence."""
    says = " ".join((SETTINGS[option][name].__doc__ or "").split())
    if says:
        return says
    values = SETTINGS[option][name](Shape().axes, np.random.RandomState(0), np.dtype(np.float64))
    return " ".join(f"{keyword} is {value}." for keyword, value in values.items())


def drawn(wanted):
    """The case with the seed that tells the most faults, filled in."""
    problems = [shortened(dataclasses.replace(wanted.recipe, seed=seed)) for seed in range(SEEDS)]
    found = [case for problem in problems if (case := _case(wanted, problem)) is not None]
    assert found, f"{wanted.name}: no seed gives an answer that is determined and bounded"
    data = max(found, key=lambda case: len(case["flags"]))
    data["conventions"] = {name: value for name, value in data["conventions"].items() if matters(data, name)}
    data = filled_in(data)
    check_producers(data)
    return summed_up(data)


def matters(data, convention):
    """Whether another value of the convention changes the answer."""
    others = [v for v in CONVENTIONS[convention] if v not in (conventions_of(data)[convention], "lowest")]
    return not all(same(exact(data), exact(data, **{convention: value})) for value in others)


def same(one, other):
    return all(np.array_equal(one[part], other[part], equal_nan=True) for part in one)


def shortened(recipe):
    """The problem with every number rounded to few significant bits."""
    problem, bits = recipe.problem(), 16 if recipe.values == "far-below" else FEW_BITS

    def short(array):
        if not isinstance(array, np.ndarray) or array.dtype.kind in "biu":
            return array
        mantissa, exponent = np.frexp(array.astype(np.float64))
        with np.errstate(over="ignore"):
            rounded = np.ldexp(np.round(mantissa * 2**bits) / 2**bits, exponent).astype(array.dtype)
        return np.where(np.isfinite(rounded), rounded, array)  # the lowest number stays what it is

    options = {name: short(value) for name, value in problem.options.items()}
    return problem.replace(
        **{n: short(getattr(problem, n)) for n in ("query", "key", "value")}, options=options, seed=0
    )


def _case(wanted, problem):
    """The case for one seed, its answer and flags by the oracle; None if that is not determined or not bounded."""
    chosen = dict(wanted.conventions)
    if "empty_row" in chosen:
        chosen["empty_row_bias"] = chosen["empty_row"]
    conventions = {**{name: CONVENTIONS[name][0] for name in SWITCHED}, **chosen}
    solution = Solution(problem, {**default_conventions(), **conventions})
    fields = json.loads(problem.to_json())
    data = {
        "name": wanted.name,
        "comment": wanted.comment,
        "catches": [],
        "effect": "",
        "origin": "computed",
        "conventions": conventions,
        **{name: fields[name] for name in ("query", "key", "value", "options")},
        "expected": {part: encode_array(array) for part, array in answers(solution).items()},
        "tolerance": {},
        "flags": {},
    }
    granted = bounds(data)
    if solution.undetermined.any() or not all(np.isfinite(bound).all() for bound in granted.values()):
        return None
    return {**data, "flags": flags(problem, solution.conventions, answers(solution), granted)}


def summed_up(data):
    """The case with the reports of its flags, and the effect of the first one."""
    reports = dict.fromkeys(report for name in data["flags"] for report in FAULTS[name].reports)
    effect = "Nothing to be seen but a wrong shape, or an error."
    for name, words in list(data["flags"].items())[:1]:
        effect = f"Where {FAULTS[name].says}, the {words}."
    return {**data, "catches": list(reports), "effect": effect}


# the files


def document(path):
    """What a file of cases holds."""
    return json.loads(path.read_text("utf-8"))


def written(data):
    """The document as text: a field a line, and a line for each option, flag and part of an answer."""
    cases = [",\n".join(_field(name, value) for name, value in case.items()) for case in data["cases"]]
    blocks = ",\n".join(f"    {{\n{case}\n    }}" for case in cases)
    faults = ",\n".join(f'    "{name}": {_line(fault)}' for name, fault in data["faults"].items())
    head = f'  "title": {_line(data["title"])},\n  "faults": {{\n{faults}\n  }}'
    return f'{{\n{head},\n  "cases": [\n{blocks}\n  ]\n}}\n'


def _field(name, value):
    if name not in ("options", "expected", "tolerance", "projections", "flags") or not value:
        return f'      "{name}": {_line(value)}'
    lines = ",\n".join(f'        "{inner}": {_line(value[inner])}' for inner in value)
    return f'      "{name}": {{\n{lines}\n      }}'


def _line(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def faults():
    """What the names of flags mean."""
    return {name: {"says": fault.says, "reports": list(fault.reports)} for name, fault in FAULTS.items()}


if __name__ == "__main__":
    data = document(BY_HAND)
    made = [filled_in(case) for case in data["cases"]]
    for case in made:
        check_producers(case)
    BY_HAND.write_text(written({"title": data["title"], "faults": faults(), "cases": made}), "utf-8")
    cases = [drawn(wanted) for wanted in plan()]
    title = "Golden vectors of attention: every option alone and in pairs, drawn from named distributions"
    DRAWN.write_text(written({"title": title, "faults": faults(), "cases": cases}), "utf-8")
