"""The golden vectors: sound JSON, right answers, tolerances that are the computed bound, conventions that matter.

A new case is written into ``specs/vectors/attention.json`` with empty ``expected`` and ``tolerance``; then
``python tests/test_golden.py`` fills them in for all cases that are computed.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import mpmath_attention
import numpy as np
import pytest

from attnspec.errors import Unavailable
from attnspec.loading import load as load_backend
from attnspec.specs import golden
from attnspec.specs.backend import Backend
from attnspec.specs.bound import Bound, Precision
from attnspec.specs.compare import worst
from attnspec.specs.contract import CONVENTIONS, OPTIONS, claimed_options, default_conventions, read_declaration
from attnspec.specs.oracle import Solution, solve
from attnspec.specs.problem import decode_array, encode_array, numpy_dtype, read_problem
from attnspec.specs.reports import REPORTS
from attnspec.targets import backend_names

VECTORS = Path(golden.__file__).with_name("vectors")
FILE = VECTORS / "attention.json"

SWITCHED = ("causal_alignment", "empty_row", "empty_row_bias", "softcap_order", "window", "gqa_map", "empty_row_lse")
"""The conventions that change answers; the others change how they are asked for or kept."""

TEXTBOOK_DIGITS = {
    "textbook-three-inputs": 0.5e-8,
    "textbook-rounded-weights": 0.0,
    "textbook-thinking-machines": 0.5e-3,
}
"""Half a unit in the last digit that the textbook gives."""


def document():
    return json.loads(FILE.read_text("utf-8"))


def conventions_of(data):
    return {**default_conventions(), **data["conventions"]}


def problem_of(data):
    return read_problem({name: data[name] for name in ("query", "key", "value", "options")})


def parts_of(problem):
    return ["output", *(part for part in ("weights", "lse") if problem.options.get(f"return_{part}"))]


def exact(data, **changes):
    """The answer in 50 digits, each part like the problem in rank; under changed conventions if so wanted."""
    problem = problem_of(data)
    weights, output, lse = mpmath_attention.Exact(problem, {**conventions_of(data), **changes}).solve()
    answers = {"output": output, "weights": weights, "lse": lse}
    return {part: answers[part].reshape(answers[part].shape[4 - problem.query.ndim :]) for part in parts_of(problem)}


def finite(problem):
    """The problem without NaN and infinities among its inputs, whose bound is that of the finite answers."""
    inputs = {name: getattr(problem, name) for name in ("query", "key", "value")}
    return problem.replace(**{n: np.where(np.isfinite(a), a, a.dtype.type(0)) for n, a in inputs.items()})


def granted(data):
    """The computed bound of each part, 0 where the answer is not finite."""
    problem, conventions = finite(problem_of(data)), conventions_of(data)
    bound = Bound(Solution(problem, conventions), Precision.of(problem.dtype, conventions["intermediate_dtype"]))
    expected = {part: decode_array(array, part) for part, array in data["expected"].items()}
    bounds = {part: getattr(bound, part).reshape(expected[part].shape) for part in expected}
    return {part: np.where(np.isfinite(expected[part]), bounds[part], 0.0) for part in expected}


def rounded_up(bound):
    """Three digits, never less."""
    return np.vectorize(lambda number: float(f"{1.006 * number:.2e}"), otypes=[float])(bound)


def filled_in(data):
    """The case with its expected answer, if that is computed, and its tolerance."""
    digits = TEXTBOOK_DIGITS.get(data["name"])
    if digits is None:
        data = {**data, "expected": {part: encode_array(array) for part, array in exact(data).items()}}
    bounds = {part: encode_array(rounded_up(bound + (digits or 0.0))) for part, bound in granted(data).items()}
    return {**data, "tolerance": bounds}


def written(data):
    """The document as text: a field a line, and a line for each option and each part of an answer."""
    cases = [",\n".join(_field(name, value) for name, value in case.items()) for case in data["cases"]]
    blocks = ",\n".join(f"    {{\n{case}\n    }}" for case in cases)
    return f'{{\n  "title": {_line(data["title"])},\n  "cases": [\n{blocks}\n  ]\n}}\n'


def _field(name, value):
    if name not in ("options", "expected", "tolerance", "projections") or not value:
        return f'      "{name}": {_line(value)}'
    lines = ",\n".join(f'        "{inner}": {_line(value[inner])}' for inner in value)
    return f'      "{name}": {{\n{lines}\n      }}'


def _line(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


CASES = document()["cases"] if FILE.exists() else []

cases = pytest.mark.parametrize("data", CASES, ids=[data["name"] for data in CASES])


def test_the_file_follows_its_schema():
    schema = json.loads((VECTORS / "schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document()))
    assert not errors, errors[0]


def test_the_schema_refuses_what_is_wrong():
    validator = jsonschema.Draft202012Validator(json.loads((VECTORS / "schema.json").read_text("utf-8")))
    for wrong in (
        {"cases": []},
        {"title": "", "cases": [{}]},
        {"title": "", "cases": [{**CASES[0], "extra": 1}]},
        {"title": "", "cases": [{**CASES[0], "query": {**CASES[0]["query"], "dtype": "bool"}}]},
        {"title": "", "cases": [{**CASES[0], "conventions": {"empty_row": "one"}}]},
        {"title": "", "cases": [{**CASES[0], "options": {"causal": True}}]},
    ):
        assert not validator.is_valid(wrong)


def test_the_file_is_laid_out_to_be_read():
    text = FILE.read_text("utf-8")
    assert text == written(document())
    assert len(text) < 250_000


def test_names_are_unique_and_reports_exist():
    names = [data["name"] for data in CASES]
    assert len(set(names)) == len(names)
    assert len(names) >= 40
    for data in CASES:
        assert set(data["catches"]) <= set(REPORTS), data["name"]


def test_all_options_conventions_and_dtypes_have_cases():
    options = set().union(*(data["options"] for data in CASES))
    assert options == set(OPTIONS) - {"dropout_rate", "seed"}  # what is drawn at random has no one answer
    assert {data["query"]["dtype"] for data in CASES} == {"float64", "float32", "float16", "bfloat16"}
    listed = {(name, value) for data in CASES for name, value in data["conventions"].items()}
    assert listed >= {(name, value) for name in SWITCHED for value in CONVENTIONS[name] if value != "lowest"}
    assert {len(data["query"]["shape"]) for data in CASES} == {2, 3, 4}


@cases
def test_arrays_are_small(data):
    arrays = [data[name] for name in ("query", "key", "value")]
    arrays += [a for group in ("options", "expected") for a in data[group].values() if isinstance(a, dict)]
    limit = 128 if data["name"] == "textbook-thinking-machines" else 64
    assert all(len(array["data"]) <= limit for array in arrays)


@cases
def test_the_answer_is_the_definition(data):
    half_a_unit = TEXTBOOK_DIGITS.get(data["name"], 0.0)
    assert data["origin"] == ("textbook" if data["name"] in TEXTBOOK_DIGITS else "computed")
    for part, wanted in exact(data).items():
        came = decode_array(data["expected"][part], part)
        assert came.shape == wanted.shape
        near = np.abs(np.nan_to_num(came - wanted)) <= half_a_unit if half_a_unit else came == wanted
        assert (near | (np.isnan(came) & np.isnan(wanted))).all()


@cases
def test_the_tolerance_is_the_bound(data):
    digits = TEXTBOOK_DIGITS.get(data["name"], 0.0)
    assert set(data["tolerance"]) == set(data["expected"]) == set(parts_of(problem_of(data)))
    for part, bound in granted(data).items():
        tolerance = decode_array(data["tolerance"][part], part)
        assert (bound + digits <= tolerance).all()
        assert (tolerance <= 1.02 * (bound + digits)).all()
        assert np.isfinite(tolerance).all()


@cases
def test_the_oracle_agrees(data):
    problem = finite(problem_of(data))
    solution = Solution(problem, conventions_of(data))
    for part in parts_of(problem):
        expected, tolerance = (decode_array(data[group][part], part) for group in ("expected", "tolerance"))
        came = getattr(solution, part).reshape(expected.shape)
        visible = np.isfinite(expected) | np.isneginf(expected) | (came != came)
        difference = worst(np.where(visible, came, expected), expected, tolerance)
        assert difference is None or difference.ratio <= 1, str(difference)


def same(one, other):
    return all(np.array_equal(one[part], other[part], equal_nan=True) for part in one)


@cases
def test_the_case_lists_the_conventions_that_matter_and_no_others(data):
    wanted = exact(data)
    for name in SWITCHED:
        others = [v for v in CONVENTIONS[name] if v not in (conventions_of(data)[name], "lowest")]
        changed = [not same(wanted, exact(data, **{name: value})) for value in others]
        assert any(changed) == (name in data["conventions"]), name


TRIVIAL = {
    ("segments-and-a-trivial-mask", "mask"),
    ("textbook-rounded-weights", "scale"),
    ("decoding-step", "is_causal"),
}
"""Options that are there to change nothing."""


@cases
def test_every_option_of_a_case_matters(data):
    """Whoever ignores one of them is beyond the tolerance."""
    for option in set(data["options"]) - {"return_weights", "return_lse", "query_segments"}:
        gone = {option, "query_segments"} if option == "key_segments" else {option}
        ignored = exact({**data, "options": {n: o for n, o in data["options"].items() if n not in gone}})
        differences = [
            worst(ignored[part], decode_array(wanted, part), decode_array(data["tolerance"][part], part))
            for part, wanted in data["expected"].items()
        ]
        told = any(difference is not None and difference.ratio > 1 for difference in differences)
        assert told == ((data["name"], option) not in TRIVIAL), option


def test_the_textbook_s_inputs_are_projected_to_query_key_and_value():
    (data,) = (data for data in CASES if "projections" in data)
    arrays = {name: decode_array(array, name) for name, array in data["projections"].items()}
    for name in ("query", "key", "value"):
        assert np.array_equal(arrays["x"] @ arrays[f"w_{name}"], decode_array(data[name], name))


def named(name):
    (data,) = (data for data in CASES if data["name"] == name)
    return data


def test_the_textbook_s_digits():
    three = named("textbook-three-inputs")
    assert decode_array(three["projections"]["x"], "x").tolist() == [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
    assert decode_array(three["expected"]["output"], "output").tolist() == [
        [1.93662106, 6.68310531, 1.59506841],
        [1.99999397, 7.9639916, 0.05397641],
        [1.99970461, 7.75989225, 0.35838929],
    ]
    rounded = named("textbook-rounded-weights")
    assert rounded["expected"]["weights"]["data"] == [0, 0.5, 0.5]
    assert rounded["expected"]["output"]["data"] == [2.0, 7.0, 1.5]
    words = named("textbook-thinking-machines")
    query, key = (decode_array(words[name], name) for name in ("query", "key"))
    assert (query @ key.T).tolist() == [[112, 96]]
    assert query.shape[-1] == 64
    assert words["expected"]["weights"]["data"] == [0.881, 0.119]


def test_cases_are_loaded_as_they_are_written():
    loaded = golden.load()
    assert [case.name for case in loaded] == [data["name"] for data in CASES]
    for case, data in zip(loaded, CASES, strict=True):
        assert json.loads(case.problem.to_json())["options"] == data["options"]
        assert {part: encode_array(array) for part, array in case.expected.items()} == data["expected"]


def test_writing_copies_both_files(tmp_path):
    golden.write(tmp_path / "deep" / "folder")
    for name in golden.FILES:
        assert (tmp_path / "deep" / "folder" / name).read_bytes() == (VECTORS / name).read_bytes()


class Arrays:
    """NumPy as its own array library."""

    TRANSFORMS = frozenset()
    RUNS_COMPILED = FLUSHES_SUBNORMALS = False

    asarray = staticmethod(lambda array, device: np.array(array))
    to_numpy = staticmethod(np.asarray)
    is_array = staticmethod(lambda value: isinstance(value, np.ndarray))
    synchronize = staticmethod(lambda value: None)


def answering(conventions, change=lambda part, array: array):
    """An implementation that knows the answers: the oracle itself, rounded to the inputs' dtype."""

    def attention(query, key, value, **options):
        given = SimpleNamespace(query=query, key=key, value=value, options=options)
        problem = read_problem({**{n: encode_array(getattr(given, n)) for n in ("query", "key", "value")}})
        solution = solve(finite(problem).with_options(**options), conventions)
        answers = [solution.output, *(getattr(solution, p) for p in ("weights", "lse") if options.get(f"return_{p}"))]
        shaped = [a.reshape(a.shape[4 - query.ndim :]).astype(query.dtype) for a in answers]
        parts = ["output", *(part for part in ("weights", "lse") if options.get(f"return_{part}"))]
        shaped = [change(part, array) for part, array in zip(parts, shaped, strict=True)]
        return tuple(shaped) if len(shaped) > 1 else shaped[0]

    parameters = ", ".join(f"{name}=None" for name in OPTIONS)
    names = ", ".join(f"{n}={n}" for n in OPTIONS)
    source = f"lambda query, key, value, *, {parameters}: call(query, key, value, dict({names}))"
    call = lambda q, k, v, options: attention(q, k, v, **{n: o for n, o in options.items() if o is not None})  # noqa: E731
    return eval(source, {"call": call, "dict": dict})


def backend(function, **conventions):
    constants = {"ARRAYS": "numpy", "DTYPES": ["float64", "float32", "float16", "bfloat16"], "CONVENTIONS": conventions}
    return Backend("answering", function, read_declaration(constants), Arrays())


def statuses(implementation):
    return {case.name: verdict.status for case, verdict in golden.run(implementation)}


NAN_SHOWS = {
    data["name"] for data in CASES if "nan" in json.dumps(data["expected"]["output"]) and not data["conventions"]
}


def test_right_answers_pass_under_every_convention():
    passed = set()
    for turn in range(3):
        chosen = {name: CONVENTIONS[name][turn % len(CONVENTIONS[name])] for name in SWITCHED[:-1]}
        conventions = {**default_conventions(), **chosen, "intermediate_dtype": "float32"}
        function = answering(conventions)
        assert claimed_options(function) == set(OPTIONS)
        found = statuses(backend(function, **{**chosen, "intermediate_dtype": "float32"}))
        assert golden.FAILED not in {status for name, status in found.items() if name not in NAN_SHOWS}
        passed |= {name for name, status in found.items() if status == golden.PASSED}
    assert len(passed) >= len(CASES) - len(NAN_SHOWS) - 5


def test_wrong_answers_fail():
    wrong = answering(default_conventions(), lambda part, array: array + np.asarray(part == "output", array.dtype))
    found = statuses(backend(wrong))
    assert golden.FAILED in found.values()
    assert [name for name, status in found.items() if status == golden.PASSED] == ["no-queries"]
    shaped = answering(default_conventions(), lambda part, array: array[..., None])
    assert golden.PASSED not in statuses(backend(shaped)).values()


def test_what_is_not_claimed_is_not_asked_for():
    def attention(query, key, value, *, scale=None):
        raise RuntimeError("no")

    found = golden.run(backend(attention))
    asked = {case.name for case, verdict in found if verdict.status != golden.NOT_CLAIMED}
    assert "textbook-three-inputs" in asked
    plain = {"scale", "return_weights", "return_lse"}
    assert all(set(case.problem.options) <= plain for case, _ in found if case.name in asked)
    assert all("no" in verdict.detail for _, verdict in found if verdict.status == golden.FAILED)


def test_float64_computed_in_single_precision_is_not_held_to_float64():
    case = golden.load()[0]
    assert numpy_dtype(case.problem.dtype) == np.float64
    assert case.holds_for(default_conventions())
    assert not case.holds_for({**default_conventions(), "intermediate_dtype": "at-most-float32"})


if __name__ == "__main__":
    data = document()
    FILE.write_text(written({**data, "cases": [filled_in(case) for case in data["cases"]]}), "utf-8")


KNOWN_TO_FAIL = {"torch_sdpa": {"nan-in-a-query"}}  # its known issue masking.nan_query_shows


@pytest.mark.parametrize("name", backend_names())
def test_backends_pass_the_vectors_they_claim(name):
    try:
        backend = load_backend(name)
    except Unavailable as error:
        pytest.skip(str(error))
    verdicts = golden.run(backend)
    assert {case.name for case, verdict in verdicts if verdict.status == "failed"} == KNOWN_TO_FAIL.get(name, set())
    assert sum(verdict.status == "passed" for _, verdict in verdicts) >= 10
