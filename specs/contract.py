"""The contract's vocabulary: options, features, conventions, and what a backend declares of them.

A backend is anything with a function ``attention``; its module constants are read here and nowhere else.
"""

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from attnspec.specs.synonyms import meant_by

ARRAY_OPTIONS = (
    "mask",
    "bias",
    "alibi_slopes",
    "sinks",
    "key_lengths",
    "query_segments",
    "key_segments",
)
"""Keywords whose values are arrays of the backend's own library."""

PLAIN_OPTIONS = (
    "is_causal",
    "scale",
    "softcap",
    "window",
    "dropout_rate",
    "seed",
    "return_weights",
    "return_lse",
)
"""Keywords whose values are Python numbers, booleans or tuples."""

OPTIONS = ARRAY_OPTIONS + PLAIN_OPTIONS
"""Every keyword of the canonical signature that problems ask for."""

HIDING = ("mask", "bias", "is_causal", "window", "key_lengths", "query_segments")
"""Options that hide keys."""

SHAPE_FEATURES = ("gqa", "value_dim", "cross", "zero_size", "rank2", "rank3", "one_key", "long_rows")
"""What a problem's shape may ask for: Hq ≠ Hkv, Dv ≠ Dk, L ≠ S, a dimension of 0, fewer than four axes, S = 1,
S > 256."""

LENGTHS = frozenset({"one_key", "long_rows"})
"""Those of them that are about the number of keys alone."""

LONG = 256
"""How many keys make no long row yet: as far as bfloat16 counts by ones."""

VALUE_FEATURES = ("nonpositive_scale", "negative_window", "bias_dtype", "lowest_bias", "key_mask", "key_bias")
"""What an option's value may ask for: scale ≤ 0, a window bound below 0, a bias of another dtype than the inputs', one
that holds the lowest finite number, a mask or a bias of one row that is for several queries."""

FUNCTIONS = (
    "positional_encoding",
    "rotary_embedding",
    "make_alibi_slopes",
    "relative_bias",
    "make_cache",  # this and the next: attnspec.specs.caching
    "attend_cached",
    "attend_packed",  # attnspec.specs.packing
)
"""Functions that a module may have beside ``attention``; each it has is one it claims. ``positions`` describes its."""

TRANSFORMS = ("gradient", "double_gradient", "forward_gradient", "compile", "vectorize", "views", "threads")
"""What an array library may do with the function or its arguments.

Derive it, derive that again, derive it forwards, compile, map, lay out in strides, give it one thread or several.
"""

DTYPES = ("float64", "float32", "float16", "bfloat16")

DEFAULT_DTYPES = ("float64", "float32", "float16")

DEVICES = ("cpu", "cuda", "mps", "tpu")
"""Words for where a call runs: "cpu+float16" is a lack on the CPU alone."""

FEATURES = frozenset(OPTIONS + FUNCTIONS + SHAPE_FEATURES + VALUE_FEATURES + TRANSFORMS + DTYPES + DEVICES)
"""Every word that LACKS and KNOWN_ISSUES may name, alone or joined by ``+``."""

CONVENTIONS: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "layout": ("BHLD", "BLHD"),
        "mask": ("attend", "block"),
        "causal_alignment": ("top-left", "bottom-right"),
        "empty_row": ("zero", "mean", "nan"),
        "empty_row_bias": ("zero", "mean", "nan"),
        "masked_nonfinite": ("ignored", "propagates"),
        "softcap_order": ("before-bias", "after-bias"),
        "window": ("reach", "count"),
        "gqa_map": ("grouped", "tiled"),
        "lse_base": ("e", 2),
        "empty_row_lse": ("-inf", "zero", "lowest"),
        "intermediate_dtype": ("input", "float32", "at-most-float32"),
        "value_range": ("finite", "sum"),
        "rotary_layout": ("interleaved", "half-split"),
        "alibi_rule": ("two-series", "geometric"),
    }
)
"""Each choice the contract leaves open, with its values; the first is the default."""


def default_conventions() -> dict[str, Any]:
    """The convention values that hold where a backend declares nothing."""
    return {name: values[0] for name, values in CONVENTIONS.items()}


@dataclass(frozen=True)
class Declaration:
    """What a backend says of itself: array library, lacks, dtypes, devices, conventions, known issues.

    ``packages`` are the distributions, beside the array library, that it depends on; ``kernel`` is the one it means to
    run.
    """

    arrays: str
    lacks: frozenset[frozenset[str]] = frozenset()
    dtypes: tuple[str, ...] = DEFAULT_DTYPES
    devices: tuple[str, ...] | None = None
    conventions: Mapping[str, Any] = field(default_factory=default_conventions)
    known_issues: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    kernel: str | None = None

    @property
    def known_faults(self) -> Mapping[frozenset[str], str]:
        """The known issues that are tied to features, such as "is_causal+nonpositive_scale", and their reasons."""
        return {frozenset(key.split("+")): reason for key, reason in self.known_issues.items() if "." not in key}

    def on(self, device: str) -> "Declaration":
        """The same where known issues such as "cpu+rejection.lengths" are those of the device, by their ids alone."""
        issues = {}
        for key, reason in self.known_issues.items():
            where, id = device_and_id(key)
            if where in ("", device):
                issues[id] = reason
        return dataclasses.replace(self, known_issues=issues)

    def missing(self, features: frozenset[str]) -> bool:
        """Whether a declared lack rules out a use of all ``features`` together."""
        return any(lack <= features for lack in self.lacks)


def device_and_id(issue: str) -> tuple[str, str]:
    """The device and the invariant that a known issue names; ("", the whole) if it names none or features."""
    where, _, id = issue.partition("+")
    return (where, id) if "." in id and where in DEVICES else ("", issue)


def shown(value: object) -> str:
    """The value on one line, cut after sixty characters."""
    try:
        text = " ".join(repr(value).split())
    except RecursionError:
        text = f"a {type(value).__name__} nested too deeply"
    return text if len(text) <= 60 else text[:57] + "..."


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, "" if it says nothing or cannot even say that."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        return ""
    return lines[0] if lines else ""


def _check(condition: bool, name: str, wanted: str, came: object) -> None:
    if not condition:
        raise ValueError(f"{name}: wanted {wanted}, came {shown(came)}")


def nearest(came: object, known: Iterable[str], otherwise: str = "") -> str:
    """A hint at the known name that was probably meant: the first that begins so, or else the most alike."""
    names = list(known)
    begun = [name for name in names if came and name.startswith(str(came))]
    near = begun or difflib.get_close_matches(str(came), names, 1)
    return f"; did you mean {near[0]!r}?" if near else otherwise


def _one_of(name: str, word: object, known: tuple[str, ...] | frozenset[str]) -> None:
    if word not in known:
        hint = nearest(word, known)
        wanted = "a name that the contract knows" if hint else f"one of {', '.join(sorted(known))}"
        raise ValueError(f"{name}: wanted {wanted}, came {shown(word)}{hint}")


def _read_lacks(value: object) -> frozenset[frozenset[str]]:
    empty_braces = isinstance(value, dict) and not value
    _check(empty_braces or isinstance(value, set | frozenset | list | tuple), "LACKS", "a set of feature names", value)
    return frozenset(_read_features("LACKS", entry) for entry in value)  # type: ignore[attr-defined]  # checked above


def _read_features(name: str, entry: object) -> frozenset[str]:
    _check(isinstance(entry, str), name, "feature names", entry)
    words = frozenset(str(entry).split("+"))
    for word in sorted(words):
        _one_of(name, word, FEATURES)
    return words


def _read_conventions(value: object) -> dict[str, Any]:
    _check(isinstance(value, Mapping), "CONVENTIONS", "a dict {convention: value}", value)
    conventions = default_conventions()
    for name, choice in dict(value).items():  # type: ignore[call-overload]  # checked to be a mapping above
        _one_of("CONVENTIONS", name, frozenset(CONVENTIONS))
        known = any(type(choice) is type(value) and choice == value for value in CONVENTIONS[name])
        _check(known, f"CONVENTIONS[{name!r}]", f"one of {CONVENTIONS[name]}", choice)
        conventions[name] = choice
    if "empty_row_bias" not in value:  # type: ignore[operator]
        conventions["empty_row_bias"] = conventions["empty_row"]
    return conventions


def _read_names(name: str, value: object) -> tuple[str, ...]:
    good = isinstance(value, set | frozenset | list | tuple) and all(isinstance(v, str) for v in value)
    _check(good, name, "a collection of names", value)
    names: tuple[str, ...] = tuple(value)  # type: ignore[arg-type]  # checked above
    return tuple(sorted(names)) if isinstance(value, set | frozenset) else names


def read_declaration(constants: Mapping[str, Any]) -> Declaration:
    """Read a backend's module constants.

    Raises ValueError that names the constant, what was wanted and what came.
    """
    arrays = constants.get("ARRAYS")
    _check(isinstance(arrays, str), "ARRAYS", 'the name of an array library, such as "numpy"', arrays)
    dtypes = _read_names("DTYPES", constants.get("DTYPES", DEFAULT_DTYPES))
    for dtype in dtypes:
        _one_of("DTYPES", dtype, DTYPES)
    _check(bool(dtypes), "DTYPES", "at least one dtype", dtypes)
    devices, kernel = constants.get("DEVICES"), constants.get("KERNEL")
    _check(kernel is None or isinstance(kernel, str), "KERNEL", "the name of a kernel", kernel)
    issues = constants.get("KNOWN_ISSUES", {})
    good = isinstance(issues, Mapping) and all(isinstance(text, str) for pair in issues.items() for text in pair)
    _check(good, "KNOWN_ISSUES", "a dict {invariant id or features: reason with a link}", issues)
    for key in issues:
        if "." not in key:
            words = _read_features("KNOWN_ISSUES", key)
            _check(not words <= set(DEVICES), "KNOWN_ISSUES", "an invariant's id or features beside the device", key)
    return Declaration(
        arrays=str(arrays),
        lacks=_read_lacks(constants.get("LACKS", ())),
        dtypes=tuple(dtype for dtype in DTYPES if dtype in dtypes),
        devices=None if devices is None else _read_names("DEVICES", devices),
        conventions=_read_conventions(constants.get("CONVENTIONS", {})),
        known_issues=dict(issues),
        packages=_read_names("PACKAGES", constants.get("PACKAGES", ())),
        kernel=None if kernel is None else str(kernel),
    )


def claimed_options(function: Callable[..., Any]) -> frozenset[str]:
    """The keywords of the canonical signature that ``function`` has.

    Decorated and positional parameters count, through ``inspect.signature``. A bare ``**kwargs`` claims nothing.
    """
    return frozenset(OPTIONS) & _named(_parameters(function))


def has_keyword(function: Callable[..., Any], keyword: str) -> bool:
    """Whether ``function`` has a parameter of that name; not if its signature cannot be read."""
    try:
        return keyword in _named(_parameters(function))
    except ValueError:
        return False


def unclaimed_keywords(function: Callable[..., Any]) -> dict[str, str]:
    """Parameters of ``function`` that are none of the contract's though they seem to be meant: name → the nearest.

    A bare ``**kwargs`` too, with "" for it.
    """
    found = {}
    for name, parameter in list(_parameters(function).items())[3:]:
        if parameter.kind == inspect.Parameter.VAR_KEYWORD:
            found[f"**{name}"] = ""
        elif name not in OPTIONS and (near := meant_by(name) or difflib.get_close_matches(name, OPTIONS, 1)):
            found[name] = near[0]
    return found


def _named(parameters: Mapping[str, inspect.Parameter]) -> frozenset[str]:
    """The names of those that take one argument."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return frozenset(name for name, parameter in parameters.items() if parameter.kind not in variadic)


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise ValueError(f"attention: wanted a function with a readable signature, came {function!r}") from error
