"""What a backend declares, and what its signature claims."""

import functools

import numpy as np
import pytest

from attnspec.specs.contract import (
    CONVENTIONS,
    DEFAULT_DTYPES,
    FEATURES,
    OPTIONS,
    claimed_options,
    default_conventions,
    read_declaration,
    shown,
)


def declared(**constants):
    return read_declaration({"ARRAYS": "numpy", **constants})


def test_everything_but_arrays_has_a_default():
    declaration = declared()
    assert declaration.arrays == "numpy"
    assert declaration.lacks == frozenset()
    assert declaration.dtypes == DEFAULT_DTYPES
    assert declaration.devices is None
    assert declaration.conventions == default_conventions() == {name: v[0] for name, v in CONVENTIONS.items()}
    assert declaration.known_issues == {}


def test_other_constants_of_a_module_do_not_matter():
    assert declared(HELPER=3, attention=print) == declared()


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple])
def test_lacks_are_features_and_combinations(kind):
    lacks = declared(LACKS=kind(["gqa", "mask+is_causal"])).lacks
    assert lacks == {frozenset({"gqa"}), frozenset({"mask", "is_causal"})}


def test_a_lack_rules_out_what_holds_all_of_it():
    declaration = declared(LACKS={"gqa", "mask+is_causal"})
    assert declaration.missing(frozenset({"gqa", "sinks"}))
    assert declaration.missing(frozenset({"mask", "is_causal", "bias"}))
    assert not declaration.missing(frozenset({"mask", "bias"}))
    assert not declaration.missing(frozenset())


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_every_feature_may_be_lacking(feature):
    assert declared(LACKS=[feature]).missing(frozenset({feature}))


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in CONVENTIONS.items() for v in values])
def test_every_value_of_every_convention_may_be_declared(name, value):
    assert declared(CONVENTIONS={name: value}).conventions[name] == value


@pytest.mark.parametrize("empty_row", CONVENTIONS["empty_row"])
def test_rows_emptied_by_bias_follow_the_others_unless_declared(empty_row):
    assert declared(CONVENTIONS={"empty_row": empty_row}).conventions["empty_row_bias"] == empty_row
    both = declared(CONVENTIONS={"empty_row": empty_row, "empty_row_bias": "zero"})
    assert both.conventions["empty_row_bias"] == "zero"


def test_dtypes_and_devices_stand_in_one_order():
    assert declared(DTYPES={"float16", "float64", "float32"}).dtypes == ("float64", "float32", "float16")
    assert declared(DTYPES=["bfloat16", "float32", "float32"]).dtypes == ("float32", "bfloat16")
    assert declared(DEVICES={"cuda", "cpu"}).devices == ("cpu", "cuda")
    assert declared(DEVICES=("cuda", "cpu")).devices == ("cuda", "cpu")


class Multiline:
    def __repr__(self):
        return "first line\nsecond line" + 100 * "!"


WRONG = [
    ({}, 'ARRAYS: wanted the name of an array library, such as "numpy", came None'),
    ({"ARRAYS": np}, "ARRAYS: wanted the name of an array library"),
    ({"ARRAYS": Multiline()}, "came first line second line"),
    ({"LACKS": "gqa"}, "LACKS: wanted a set of feature names, came 'gqa'"),
    ({"LACKS": None}, "LACKS: wanted a set of feature names, came None"),
    ({"LACKS": {"gqa": True}}, "LACKS: wanted a set of feature names"),
    ({"LACKS": {3}}, "LACKS: wanted feature names, came 3"),
    ({"LACKS": {"masks"}}, "came 'masks'"),
    ({"LACKS": {"mask+causal"}}, "came 'causal'"),
    ({"LACKS": {"mask+"}}, "came ''"),
    ({"LACKS": {""}}, "came ''"),
    ({"LACKS": {"mask, is_causal"}}, "came 'mask, is_causal'"),
    ({"DTYPES": "float32"}, "DTYPES: wanted a collection of names, came 'float32'"),
    ({"DTYPES": [np.float32]}, "DTYPES: wanted a collection of names"),
    ({"DTYPES": ["float8"]}, "DTYPES: wanted a name that the contract knows, came 'float8'; did you mean 'float"),
    ({"DTYPES": []}, "DTYPES: wanted at least one dtype, came ()"),
    ({"DEVICES": "cpu"}, "DEVICES: wanted a collection of names, came 'cpu'"),
    ({"DEVICES": [0]}, "DEVICES: wanted a collection of names, came [0]"),
    ({"CONVENTIONS": ["layout"]}, "CONVENTIONS: wanted a dict {convention: value}, came ['layout']"),
    ({"CONVENTIONS": None}, "CONVENTIONS: wanted a dict"),
    ({"CONVENTIONS": {"lay_out": "BHLD"}}, "CONVENTIONS: wanted a name that the contract knows"),
    ({"CONVENTIONS": {3: "BHLD"}}, "CONVENTIONS: wanted one of alibi_rule"),
    ({"CONVENTIONS": {"layout": "BSHD"}}, "CONVENTIONS['layout']: wanted one of ('BHLD', 'BLHD'), came 'BSHD'"),
    ({"CONVENTIONS": {"lse_base": "2"}}, "CONVENTIONS['lse_base']: wanted one of ('e', 2), came '2'"),
    ({"CONVENTIONS": {"layout": np.array(["BHLD", "BLHD"])}}, "CONVENTIONS['layout']: wanted one of"),
    ({"CONVENTIONS": {"layout": ["BHLD"]}}, "came ['BHLD']"),
    ({"KNOWN_ISSUES": ["softmax.rows"]}, "KNOWN_ISSUES: wanted a dict {invariant id"),
    ({"KNOWN_ISSUES": {"softmax.rows": None}}, "KNOWN_ISSUES: wanted a dict {invariant id"),
    ({"KNOWN_ISSUES": {3: "why"}}, "KNOWN_ISSUES: wanted a dict {invariant id"),
    (
        {"KNOWN_ISSUES": {"cpu": "why"}},
        "KNOWN_ISSUES: wanted an invariant's id or features beside the device, came 'cpu'",
    ),
]


@pytest.mark.parametrize(("constants", "message"), WRONG)
def test_a_wrong_declaration_is_told_in_one_line(constants, message):
    with pytest.raises(ValueError, match="wanted") as caught:
        read_declaration({"ARRAYS": "numpy", **constants} if constants else {})
    told = str(caught.value)
    assert message in told
    assert told.isprintable()


def test_shown_is_one_short_line():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested) == "a list nested too deeply"
    assert len(shown("x" * 1000)) == 60
    assert shown(Multiline()).startswith("first line second line")
    while nested:
        nested = nested.pop()


def bare(query, key, value):
    pass


def with_keywords(query, key, value, *, mask=None, is_causal=False):
    pass


def positional(query, key, value, mask, bias=None):
    pass


def anything(query, key, value, **options):
    pass


def misleading(query, key, value, *mask, **bias):
    pass


def more(query, key, value, *, mask=None, dropout_p=0.0, enable_gqa=False):
    pass


def everything_but_signature(function):
    """As a decorator without functools.wraps leaves it."""

    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class Callable:
    def __call__(self, query, key, value, *, scale=None):
        pass

    def method(self, query, key, value, *, softcap=None):
        pass


@pytest.mark.parametrize(
    ("function", "claimed"),
    [
        (bare, set()),
        (with_keywords, {"mask", "is_causal"}),
        (positional, {"mask", "bias"}),
        (anything, set()),
        (misleading, set()),
        (more, {"mask"}),
        (wrapped(with_keywords), {"mask", "is_causal"}),
        (wrapped(wrapped(positional)), {"mask", "bias"}),
        (everything_but_signature(with_keywords), set()),
        (functools.lru_cache(with_keywords), {"mask", "is_causal"}),
        (functools.partial(with_keywords, is_causal=True), {"mask", "is_causal"}),
        (functools.partial(positional, 1, 2, 3), {"mask", "bias"}),
        (functools.partial(positional, 1, 2, 3, None), {"bias"}),
        (functools.partial(anything, mask=None), set()),
        (Callable(), {"scale"}),
        (Callable().method, {"softcap"}),
        (lambda query, key, value, mask=None, sinks=None: None, {"mask", "sinks"}),
    ],
)
def test_claims_are_the_keywords_of_the_signature(function, claimed):
    assert claimed_options(function) == claimed


def test_all_options_can_be_claimed():
    parameters = ", ".join(f"{name}=None" for name in OPTIONS)
    function = eval(f"lambda query, key, value, *, {parameters}: None")
    assert claimed_options(function) == set(OPTIONS)


@pytest.mark.parametrize("thing", [3, None, "attention", np.ones(2)])
def test_what_is_no_function_is_told(thing):
    with pytest.raises(ValueError, match="attention: wanted a function with a readable signature, came"):
        claimed_options(thing)


def test_a_known_issue_of_one_device():
    issues = {"cpu+softmax.rows_sum_to_one": "a", "cuda+shape.output": "b", "shape.dtype": "c", "cpu+gqa": "d"}
    declaration = read_declaration({"ARRAYS": "numpy", "KNOWN_ISSUES": issues})
    assert declaration.on("cpu").known_issues == {"softmax.rows_sum_to_one": "a", "shape.dtype": "c", "cpu+gqa": "d"}
    assert declaration.on("cuda").known_issues == {"shape.output": "b", "shape.dtype": "c", "cpu+gqa": "d"}
