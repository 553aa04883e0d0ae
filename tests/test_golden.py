"""The golden vectors: sound JSON, right answers, tolerances that are the computed bound, flags that are true."""

import contextlib
import json
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
import vectors
from vectors import (
    BY_HAND,
    DRAWN,
    SETTINGS,
    SWITCHED,
    TEXTBOOK_DIGITS,
    VECTORS,
    conventions_of,
    decoded,
    exact,
    problem_of,
)

from attnspec.errors import Unavailable
from attnspec.impls import numpy_naive
from attnspec.loading import load as load_backend
from attnspec.specs import golden
from attnspec.specs.backend import Backend
from attnspec.specs.compare import worst
from attnspec.specs.contract import CONVENTIONS, OPTIONS, claimed_options, default_conventions, read_declaration
from attnspec.specs.faults import TOLD, effect, faulty, flags, parts
from attnspec.specs.faulty import FAULTS
from attnspec.specs.faulty.registry import finite
from attnspec.specs.oracle import solve
from attnspec.specs.outcome import FAILED, KNOWN, NOT_CLAIMED, PASSED
from attnspec.specs.problem import decode_array, encode_array, numpy_dtype, read_problem
from attnspec.specs.reports import REPORTS
from attnspec.targets import own_names

HAND, OTHERS = (vectors.document(path)["cases"] for path in (BY_HAND, DRAWN))
CASES = [*HAND, *OTHERS]
WANTED = list(vectors.plan())

by_hand = pytest.mark.parametrize("data", HAND, ids=[data["name"] for data in HAND])


@pytest.fixture(scope="module")
def schema():
    return jsonschema.Draft202012Validator(json.loads((VECTORS / "schema.json").read_text("utf-8")))


@pytest.mark.parametrize("path", [BY_HAND, DRAWN], ids=["by hand", "drawn"])
def test_the_files_follow_the_schema(schema, path):
    schema.check_schema(schema.schema)
    errors = list(schema.iter_errors(vectors.document(path)))
    assert not errors, errors[0]


def test_the_schema_refuses_what_is_wrong(schema):
    good = {"title": "", "faults": {}, "cases": CASES[:1]}
    assert schema.is_valid(good)
    for wrong in (
        {"title": "", "faults": {}, "cases": []},
        {"title": "", "cases": CASES[:1]},
        {"title": "", "faults": {"x": {"says": "y"}}, "cases": CASES[:1]},
        *(
            {**good, "cases": [{**CASES[0], **change}]}
            for change in (
                {"extra": 1},
                {"query": {**CASES[0]["query"], "dtype": "bool"}},
                {"conventions": {"empty_row": "one"}},
                {"options": {"causal": True}},
                {"flags": {"x": "wrong"}},
            )
        ),
    ):
        assert not schema.is_valid(wrong), wrong


def test_the_files_are_laid_out_to_be_read():
    texts = [path.read_text("utf-8") for path in (BY_HAND, DRAWN)]
    assert texts == [vectors.written(vectors.document(path)) for path in (BY_HAND, DRAWN)]
    assert sum(map(len, texts)) < 1_500_000


def test_names_are_unique_and_reports_exist():
    names = [data["name"] for data in CASES]
    assert len(set(names)) == len(names)
    assert 300 <= len(names) <= 500
    for data in CASES:
        assert set(data["catches"]) <= set(REPORTS), data["name"]


def test_all_options_conventions_and_dtypes_have_cases():
    for group in (HAND, OTHERS):
        assert set().union(*(data["options"] for data in group)) == set(OPTIONS) - {"dropout_rate", "seed"}
        assert {data["query"]["dtype"] for data in group} == {"float64", "float32", "float16", "bfloat16"}
        assert {len(data["query"]["shape"]) for data in group} == {2, 3, 4}
    listed = {(name, value) for data in CASES for name, value in data["conventions"].items()}
    assert listed >= {(name, value) for name in SWITCHED for value in CONVENTIONS[name] if value != "lowest"}


def test_every_setting_is_drawn_alone_and_every_pair_of_options():
    drawn = [dict(wanted.recipe.settings) for wanted in WANTED]
    assert {option: {chosen[option] for chosen in drawn if set(chosen) == {option}} for option in SETTINGS} == {
        option: set(names) for option, names in SETTINGS.items()
    }
    pairs = {frozenset((one, other)) for one in SETTINGS for other in SETTINGS if one != other}
    assert pairs <= {frozenset(chosen) for chosen in drawn}


def test_arrays_are_small():
    for data in CASES:
        arrays = [data[name] for name in ("query", "key", "value")]
        arrays += [a for group in ("options", "expected") for a in data[group].values() if isinstance(a, dict)]
        limit = 128 if data["name"] == "textbook-thinking-machines" else 64
        assert all(len(array["data"]) <= limit for array in arrays), data["name"]


def test_the_answers_are_the_definition():
    """In 50 digits, which share no code with the oracle."""
    for data in CASES:
        half_a_unit = TEXTBOOK_DIGITS.get(data["name"], 0.0)
        assert data["origin"] == ("textbook" if data["name"] in TEXTBOOK_DIGITS else "computed")
        for part, wanted in exact(data).items():
            came = decode_array(data["expected"][part], part)
            assert came.shape == wanted.shape
            near = np.abs(np.nan_to_num(came - wanted)) <= half_a_unit if half_a_unit else came == wanted
            assert (near | (np.isnan(came) & np.isnan(wanted))).all(), data["name"]


def test_the_oracle_agrees_within_the_bound_of_float64():
    for data in CASES:
        vectors.check_producers(data)


def test_producers_that_differ_are_noticed():
    data = CASES[-1]
    off = decode_array(data["expected"]["output"], "output") + 1e-12
    with pytest.raises(AssertionError, match="err/bound"):
        vectors.check_producers({**data, "expected": {**data["expected"], "output": encode_array(off)}})


def test_the_tolerances_are_the_bounds():
    for data in CASES:
        digits = TEXTBOOK_DIGITS.get(data["name"], 0.0)
        assert set(data["tolerance"]) == set(data["expected"]) == set(parts(problem_of(data)))
        for part, bound in vectors.bounds(data).items():
            tolerance = decode_array(data["tolerance"][part], part)
            assert (bound + digits <= tolerance).all(), data["name"]
            assert (tolerance <= 1.02 * (bound + digits)).all(), data["name"]
            assert np.isfinite(tolerance).all()


def test_every_flag_is_true():
    """The answer that the fault gives is beyond the tolerance, by what the flag says."""
    for data in CASES:
        problem, expected, tolerance = problem_of(data), decoded(data, "expected"), decoded(data, "tolerance")
        for name, words in data["flags"].items():
            answer = faulty(name, problem, conventions_of(data))
            part = words.split()[0]
            difference = worst(answer[part], expected[part], tolerance[part])
            assert difference.ratio > TOLD, (data["name"], name)
            assert effect(part, expected[part], answer[part]) == words, (data["name"], name)


def test_no_flag_is_missing():
    for data in CASES[::5]:
        answer = decoded(data, "expected"), decoded(data, "tolerance")
        assert flags(problem_of(data), conventions_of(data), *answer) == data["flags"], data["name"]


def test_every_fault_is_told_by_some_case_and_nearly_every_case_tells_some():
    assert set().union(*(data["flags"] for data in CASES)) == set(FAULTS)
    blind = [data["name"] for data in CASES if not data["flags"]]
    assert all(0 in problem_of(data).shape for data in CASES if data["name"] in blind), blind


def test_the_files_explain_their_flags():
    for path in (BY_HAND, DRAWN):
        assert vectors.document(path)["faults"] == vectors.faults()
    for fault in FAULTS.values():
        assert set(fault.reports) <= set(REPORTS)


def test_the_drawn_file_is_what_the_plan_gives():
    assert [data["name"] for data in OTHERS] == [wanted.name for wanted in WANTED]
    for data, wanted in islice(zip(OTHERS, WANTED, strict=True), 4, None, 12):
        again = vectors.drawn(wanted)
        assert {**again, "tolerance": {}} == {**data, "tolerance": {}}


@by_hand
def test_the_case_lists_the_conventions_that_matter_and_no_others(data):
    assert {name for name in SWITCHED if vectors.matters(data, name)} == set(data["conventions"]) & set(SWITCHED)


TRIVIAL = {
    ("segments-and-a-trivial-mask", "mask"),
    ("textbook-rounded-weights", "scale"),
    ("decoding-step", "is_causal"),
}
"""Options that are there to change nothing."""


@by_hand
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
    (data,) = (data for data in HAND if "projections" in data)
    arrays = {name: decode_array(array, name) for name, array in data["projections"].items()}
    for name in ("query", "key", "value"):
        assert np.array_equal(arrays["x"] @ arrays[f"w_{name}"], decode_array(data[name], name))


def named(name):
    (data,) = (data for data in HAND if data["name"] == name)
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
    loaded = golden.cases()
    assert list(loaded) == [data["name"] for data in CASES]
    for case, data in zip(loaded.values(), CASES, strict=True):
        assert json.loads(case.problem.to_json())["options"] == data["options"]
        assert {part: encode_array(array) for part, array in case.expected.items()} == data["expected"]


def test_writing_copies_all_files(tmp_path):
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


def answering(conventions, change=lambda part, array: array, fault=None):
    """An implementation that knows the answers, or those of a fault: the oracle, rounded to the inputs' dtype."""

    def attention(query, key, value, **options):
        given = SimpleNamespace(query=query, key=key, value=value, options=options)
        problem = read_problem({**{n: encode_array(getattr(given, n)) for n in ("query", "key", "value")}})
        problem = problem.with_options(**options)
        if fault:
            found = faulty(fault, problem, conventions).items()
            rounded = [array.astype(query.dtype if part != "lse" else np.float64) for part, array in found]
            return tuple(rounded) if len(rounded) > 1 else rounded[0]
        solution = solve(finite(problem), conventions)
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
    return {outcome.invariant: outcome.status for outcome in golden.run(implementation)}


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
        assert FAILED not in {status for name, status in found.items() if name not in NAN_SHOWS}
        passed |= {name for name, status in found.items() if status == PASSED}
    assert len(passed) >= 0.9 * len(CASES)


def test_wrong_answers_fail():
    wrong = answering(
        default_conventions(), lambda part, array: array + np.asarray(100 * (part == "output"), array.dtype)
    )
    found = statuses(backend(wrong))
    assert FAILED in found.values()
    nothing = {data["name"] for data in CASES if 0 in data["expected"]["output"]["shape"]}
    assert {name for name, status in found.items() if status == PASSED} == nothing
    shaped = answering(default_conventions(), lambda part, array: array[..., None])
    assert PASSED not in statuses(backend(shaped)).values()


def test_what_is_not_claimed_is_not_asked_for():
    def attention(query, key, value, *, scale=None):
        raise RuntimeError("no")

    found = list(golden.run(backend(attention)))
    asked = {outcome.invariant for outcome in found if outcome.status != NOT_CLAIMED}
    assert "textbook-three-inputs" in asked
    plain = {"scale", "return_weights", "return_lse"}
    assert all(set(golden.cases()[name].problem.options) <= plain for name in asked)
    assert all("no" in outcome.failure.message for outcome in found if outcome.status == FAILED)


@pytest.mark.parametrize("name", FAULTS)
def test_an_implementation_with_a_flagged_fault_fails_and_the_fault_is_named(name):
    flagged = [data for data in CASES if name in data["flags"]]
    for data in flagged[:: max(len(flagged) // 2, 1)]:
        conventions = conventions_of(data)
        (outcome,) = golden.run(backend(answering(conventions, fault=name), **conventions), [data["name"]])
        assert outcome.status == FAILED, data["name"]
        assert "just as where" in outcome.reason


def test_a_fault_of_no_known_kind_is_told_with_the_flags():
    wrong = answering(default_conventions(), lambda part, array: array + np.asarray(part == "output", array.dtype))
    (outcome,) = golden.run(backend(wrong), ["mask"])
    assert outcome.reason.startswith("tells mask-ignored, ")
    assert "none of them gives just this" in outcome.reason


def test_known_issues_cover_cases():
    wrong = backend(answering(default_conventions(), lambda part, array: array + np.asarray(1, array.dtype)))
    issues = {"masking.nan_query_shows": "one", "is_causal+float32": "two"}
    causal = next(name for name in golden.cases() if name.startswith("causal-") and name.endswith("float32"))
    names = ("nan-in-a-query", causal, "mask")
    outcomes = golden.run(wrong.assuming(known_issues=issues), names)
    known = {o.invariant: o.reason for o in outcomes if o.status == KNOWN}
    assert known["nan-in-a-query"] == "one"
    assert known[causal] == "two"
    assert "mask" not in known


def test_a_pattern_that_matches_nothing():
    assert [case.name for case in golden.chosen(["textbook-t*"])] == [
        "textbook-three-inputs",
        "textbook-thinking-machines",
    ]
    with pytest.raises(ValueError, match="did you mean 'one-token'"):
        golden.chosen(["one-tokem"])


def test_float64_computed_in_single_precision_is_not_held_to_float64():
    case = next(iter(golden.cases().values()))
    assert numpy_dtype(case.problem.dtype) == np.float64
    assert case.holds_for(default_conventions())
    assert not case.holds_for({**default_conventions(), "intermediate_dtype": "at-most-float32"})


def test_the_reader_of_the_readme(tmp_path):
    readme = Path(vectors.__file__).parent.parent / "README.md"
    section = readme.read_text("utf-8").partition("## Golden vectors")[2]
    reader = {}
    exec(section.partition("```python\n")[2].partition("```")[0], reader)
    golden.write(tmp_path)
    assert sum(map(reader["claimed"], CASES)) > 40
    for name in golden.CASES:
        assert list(reader["failures"](numpy_naive.attention, tmp_path / name)) == []
    reader["OPTIONS"] = {"mask"}
    wrong = lambda q, k, v, **options: numpy_naive.attention(q, k, v, **options, scale=1.0)  # noqa: E731
    flagged = [names for name in golden.CASES for _, names in reader["failures"](wrong, tmp_path / name)]
    assert sum("scale-of-one" in names for names in flagged) > 15


@pytest.mark.parametrize("name", own_names())
def test_backends_pass_the_vectors_they_claim(name):
    try:
        backend = load_backend(name)
    except Unavailable as error:
        pytest.skip(str(error))
    few = 10 if backend.arrays.RUNS_COMPILED else None  # each shape and each set of options is compiled anew
    claimed = (o for case in golden.cases().values() if (o := golden.hold(backend, case)).status != NOT_CLAIMED)
    outcomes = list(islice(claimed, few))
    assert [o for o in outcomes if o.status == FAILED] == []
    assert sum(o.status == PASSED for o in outcomes) >= (few or 60)


def test_correct_implementations_with_harmless_differences_pass():
    folder = Path(vectors.__file__).with_name("controls")
    backends = []
    for path in sorted(folder.glob("*.py")):
        with contextlib.suppress(Unavailable):
            backends.append(load_backend(path))
    assert len(backends) > 20
    for backend in backends:
        assert [o.invariant for o in golden.run(backend) if o.status == FAILED] == [], backend.name
