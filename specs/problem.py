"""One attention input, as a value: query, key, value and options, with an exact JSON form.

Shapes, everywhere in the suite: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, Dk key
dimension, Dv value dimension. Rank 4 is (B, H, L, D), rank 3 (H, L, D), rank 2 (L, D).
"""

import json
import math
import re
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Protocol

import ml_dtypes
import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

from attnspec.specs.contract import ARRAY_OPTIONS, DTYPES, LONG, OPTIONS, PLAIN_OPTIONS, shown
from attnspec.specs.unlocked import cached_property

Array = NDArray[Any]


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

LARGEST = 2**24
"""Elements of the largest array that solving a problem may take."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype called ``name``; bfloat16 comes from ml_dtypes. ValueError for an unknown name."""
    try:
        return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
    except TypeError as error:
        raise ValueError(f"dtype: wanted a NumPy dtype or bfloat16, came {name!r}") from error


@lru_cache
def dtype_name(dtype: np.dtype[Any]) -> str:
    """Its name; NumPy puts it together anew each time."""
    return str(dtype)


def largest_number(dtype: str) -> float:
    """The largest finite number of a dtype by name."""
    finfo: Any = ml_dtypes.finfo
    return float(finfo(numpy_dtype(dtype)).max)


def lifted(array: Array) -> Array:
    """A view with four axes: missing batch and head axes of size 1 in front."""
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _has_one_row(array: Array) -> bool:
    """Whether a mask or bias is the same for every query by its shape."""
    return array.ndim < 2 or array.shape[-2] == 1


def _has_lowest(bias: Array) -> bool:
    """Whether some number of the bias is the lowest finite one of its dtype."""
    return bool((bias == -largest_number(dtype_name(bias.dtype))).any())


class _Unseeded(ISeedSequence):
    """In place of entropy from the system, which takes ten times as long as what follows."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Array:
        return np.zeros(n_words, dtype)


def generator(*seeds: int) -> np.random.RandomState:
    """RandomState(seeds), because its numbers never change."""
    random = np.random.RandomState(np.random.MT19937(_Unseeded()))  # type: ignore[arg-type]  # its stubs say SeedSequence
    random.seed(seeds)
    return random


_THREAD = threading.local()


def passing_generator(*seeds: int) -> np.random.RandomState:
    """The same numbers at a seventh of the cost, from a generator that this thread's next call seeds anew."""
    if not hasattr(_THREAD, "random"):
        _THREAD.random = generator(0)
    random: np.random.RandomState = _THREAD.random
    random.seed(seeds)
    return random


class Recipelike(Protocol):
    """What a problem is made by, as far as a problem knows it."""

    def to_json(self) -> str:
        """One line that ``read_case`` takes."""


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = np.array(value, order="C")
        value.flags.writeable = False
    return value


@dataclass(frozen=True, eq=False)
class Problem:
    """query (B, Hq, L, Dk), key (B, Hkv, S, Dk), value (B, Hkv, S, Dv), all of one rank and dtype; read-only.

    ``options`` holds only those that are set. ``seed`` fixes whatever an invariant chooses at random. ``recipe`` is
    what the problem was made by, if it was.
    """

    query: Array
    key: Array
    value: Array
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    recipe: Recipelike | None = None

    def __post_init__(self) -> None:
        for name in ("query", "key", "value"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        options = {name: _frozen(value) for name, value in self.options.items()}
        object.__setattr__(self, "options", MappingProxyType(options))

    @cached_property
    def dtype(self) -> str:
        """The inputs' dtype by name."""
        return dtype_name(self.query.dtype)

    @cached_property
    def shape(self) -> tuple[int, int, int, int, int, int, int]:
        """(B, Hq, Hkv, L, S, Dk, Dv), whatever the rank."""
        batch, heads, queries, key_dim = lifted(self.query).shape
        _, kv_heads, keys, value_dim = lifted(self.value).shape
        return batch, heads, kv_heads, queries, keys, key_dim, value_dim

    @cached_property
    def features(self) -> frozenset[str]:
        """The words of LACKS that this problem asks for."""
        _, heads, kv_heads, queries, keys, key_dim, value_dim = self.shape
        asked = {
            "gqa": heads != kv_heads,
            "value_dim": key_dim != value_dim,
            "cross": queries != keys,
            "zero_size": 0 in self.shape,
            "rank2": self.query.ndim == 2,
            "rank3": self.query.ndim == 3,
            "one_key": keys == 1,
            "long_rows": keys > LONG,
            "nonpositive_scale": self.options.get("scale", 1.0) <= 0,
            "negative_window": any(bound is not None and bound < 0 for bound in self.options.get("window", ())),
            "bias_dtype": "bias" in self.options and dtype_name(self.options["bias"].dtype) != self.dtype,
            "lowest_bias": "bias" in self.options and _has_lowest(self.options["bias"]),
            "key_mask": "mask" in self.options and queries > 1 and _has_one_row(self.options["mask"]),
            "key_bias": "bias" in self.options and queries > 1 and _has_one_row(self.options["bias"]),
        }
        return frozenset(self.options) | {name for name, yes in asked.items() if yes} | {self.dtype}

    @property
    def rng(self) -> np.random.RandomState:
        """A fresh generator, seeded by the problem."""
        return generator(self.seed, 0xA77)

    def replace(self, **changes: Any) -> "Problem":
        """A copy with other fields."""
        return replace(self, **{"recipe": None, **changes})

    def with_options(self, **options: Any) -> "Problem":
        """A copy with these options set; None takes one away."""
        merged = {**self.options, **options}
        return self.replace(options={name: value for name, value in merged.items() if value is not None})

    @property
    def case(self) -> str:
        """The shortest JSON that ``read_case`` makes the problem of."""
        return (self.recipe or self).to_json()

    def to_json(self) -> str:
        """An exact JSON form: every bit of every element comes back, NaN payloads included."""
        arrays = {name: encode_array(getattr(self, name)) for name in ("query", "key", "value")}
        options = {n: encode_array(v) if isinstance(v, np.ndarray) else v for n, v in self.options.items()}
        return json.dumps({**arrays, "options": options, "seed": self.seed})

    @staticmethod
    def from_json(text: str) -> "Problem":
        """Read what ``to_json`` wrote. ValueError says what is damaged."""
        return read_problem(parse_object(text, "problem"))


def parse_object(text: str, what: str) -> dict[str, Any]:
    """The JSON object in ``text``; ValueError if it is none."""
    try:
        data = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{what}: wanted JSON, came text that breaks off at character {error.pos}: {error.msg}"
        ) from None
    except RecursionError:
        raise ValueError(f"{what}: wanted an object of a few levels, came brackets nested too deeply") from None
    except ValueError:
        raise ValueError(f"{what}: wanted JSON numbers, came NaN, Infinity or thousands of digits") from None
    if not isinstance(data, dict):
        raise ValueError(f"{what}: wanted a JSON object, came {type(data).__name__}")
    return data


def _refuse(word: str) -> None:
    raise ValueError(word)


def read_problem(data: Mapping[str, Any]) -> Problem:
    """A problem from its decoded JSON object. ValueError says what is damaged."""
    inputs, known = ("query", "key", "value"), ("query", "key", "value", "options", "seed")
    for name in inputs:
        if name not in data:
            raise ValueError(f"problem: wanted the field {name!r}, came only {shown(sorted(data))}")
    if set(data) - set(known):
        raise ValueError(f"problem: wanted the fields {', '.join(known)}, came {shown(sorted(set(data) - set(known)))}")
    query, key, value = (decode_array(data[name], name) for name in inputs)
    ranks, dtypes = {a.ndim for a in (query, key, value)}, {str(a.dtype) for a in (query, key, value)}
    if len(ranks) > 1 or not ranks <= {2, 3, 4}:
        raise ValueError(f"problem: wanted query, key and value of one rank, 2 to 4, came ranks {sorted(ranks)}")
    if len(dtypes) > 1 or not dtypes <= set(DTYPES):
        raise ValueError(f"problem: wanted query, key and value of one dtype of {DTYPES}, came {sorted(dtypes)}")
    _check_shapes(query, key, value)
    problem = Problem(query, key, value, seed=_read_seed(data.get("seed", 0)))
    return problem.replace(options=_read_options(data.get("options", {}), problem))


def _check_shapes(query: Array, key: Array, value: Array) -> None:
    q, k, v = lifted(query).shape, lifted(key).shape, lifted(value).shape
    heads_divide = q[1] % k[1] == 0 if k[1] else q[1] == 0
    if q[0] != k[0] or k[:3] != v[:3] or q[3] != k[3] or not heads_divide:
        wanted = "query (B, Hq, L, Dk), key (B, Hkv, S, Dk), value (B, Hkv, S, Dv) with Hkv dividing Hq"
        raise ValueError(f"problem: wanted {wanted}, came {query.shape}, {key.shape}, {value.shape}")
    check_volume(q[0], max(q[1], k[1]), q[2], k[2], q[3], v[3])


def check_volume(batch: int, heads: int, queries: int, keys: int, key_dim: int, value_dim: int) -> None:
    """ValueError if scores, inputs or output of such sizes would not fit into memory; a size of 0 counts as 1."""
    batch, heads, queries, keys, width = (max(n, 1) for n in (batch, heads, queries, keys, max(key_dim, value_dim)))
    if batch * heads * max(queries * keys, queries * width, keys * width) > LARGEST:
        came = shown((batch, heads, queries, keys, key_dim, value_dim))
        raise ValueError(f"problem: wanted sizes with at most {LARGEST} scores, came B, Hq, L, S, Dk, Dv = {came}")


def _read_options(data: object, problem: Problem) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ValueError(f"problem options: wanted an object, came {type(data).__name__}")
    options: dict[str, Any] = {}
    for name, value in data.items():
        if name in OPTIONS and value is None:
            continue
        if name in ARRAY_OPTIONS:
            options[name] = decode_array(value, name)
            _check_option(name, options[name], problem)
        elif name in PLAIN_OPTIONS:
            options[name] = _read_plain(name, value)
        else:
            raise ValueError(f"problem options: wanted names of the canonical signature, came {shown(name)}")
    if ("query_segments" in options) != ("key_segments" in options):
        raise ValueError("problem options: wanted query_segments and key_segments together, came one of them")
    return options


def _check_option(name: str, array: Array, problem: Problem) -> None:
    batch, heads, _, queries, keys, *_ = problem.shape
    rank, outer = problem.query.ndim, (batch,) if problem.query.ndim == 4 else ()
    shapes = {
        "mask": (batch, heads, queries, keys)[4 - rank :],
        "bias": (batch, heads, queries, keys)[4 - rank :],
        "alibi_slopes": (heads,),
        "sinks": (heads,),
        "key_lengths": outer,
        "query_segments": (*outer, queries),
        "key_segments": (*outer, keys),
    }
    kinds = {"mask": ("bool",), "bias": DTYPES, "alibi_slopes": DTYPES, "sinks": DTYPES}.get(name, INTEGERS)
    if str(array.dtype) not in kinds:
        raise ValueError(f"{name}: wanted a dtype of {', '.join(kinds)}, came {array.dtype}")
    wanted, came = shapes[name], array.shape
    if name in ("mask", "bias") and len(came) <= rank:
        came = tuple(w if n == 1 else n for n, w in zip(came, wanted[rank - len(came) :], strict=True))
        wanted = wanted[rank - len(came) :]
    if came != wanted:
        raise ValueError(f"{name}: wanted a shape that fits {shapes[name]}, came {array.shape}")
    if name == "key_lengths" and (array < 0).any():
        raise ValueError(f"{name}: wanted lengths of 0 or more, came {array.min()}")


def _read_plain(name: str, value: object) -> Any:
    if name == "scale":
        good, wanted = _finite(value), "a finite number"
    elif name == "softcap":
        good, wanted = _finite(value) and value >= 0, "a finite number, 0 or more"  # type: ignore[operator]  # a number
    elif name == "dropout_rate":
        good, wanted = _finite(value) and 0 <= value < 1, "a number from 0 to below 1"  # type: ignore[operator]  # a number
    elif name == "seed":
        good, wanted = type(value) is int and 0 <= value < 2**31, "a whole number from 0 to 2**31 - 1"
    elif name == "window":
        good = isinstance(value, list) and len(value) == 2
        good = good and all(b is None or (type(b) is int and abs(b) < 2**31) for b in value)  # type: ignore[attr-defined]  # a list
        wanted = "[left, right], each a whole number or null"
    else:
        good, wanted = isinstance(value, bool), "true or false"
    if not good:
        raise ValueError(f"{name}: wanted {wanted}, came {shown(value)}")
    return tuple(value) if isinstance(value, list) else value


def _finite(value: object) -> bool:
    """Whether it is a number that float64 holds."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _read_seed(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
        raise ValueError(f"problem seed: wanted a whole number from 0 to 2**32 - 1, came {shown(value)}")
    return value


def encode_array(array: Array) -> dict[str, Any]:
    """{"dtype", "shape", "data"}: numbers in C order; infinities as "inf", NaN as "nan:0x" and its bits."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": [_encode(x) for x in flat]}


def _encode(element: Any) -> Any:
    if element.dtype.kind in "biu":
        return element.item()
    number = float(element)
    if math.isnan(number):
        bits = int.from_bytes(element.tobytes(), "little")
        return f"nan:0x{bits:x}"
    return number if math.isfinite(number) else str(number)


def decode_array(data: object, name: str) -> Array:
    """The array that ``encode_array`` wrote. ValueError names the array and what is wrong."""
    if not isinstance(data, Mapping) or set(data) != {"dtype", "shape", "data"}:
        raise ValueError(f"{name}: wanted an object with dtype, shape and data, came {shown(data)}")
    dtype, shape, elements = data["dtype"], data["shape"], data["data"]
    if dtype not in (*DTYPES, "bool", *INTEGERS):
        raise ValueError(f"{name}: wanted a dtype of {', '.join((*DTYPES, 'bool', *INTEGERS))}, came {shown(dtype)}")
    if not isinstance(shape, list) or len(shape) > 4 or not all(type(n) is int and 0 <= n < 2**31 for n in shape):
        raise ValueError(f"{name}: wanted a shape of at most four whole numbers, came {shown(shape)}")
    if math.prod(max(n, 1) for n in shape) > LARGEST:
        raise ValueError(f"{name}: wanted at most {LARGEST} elements, came the shape {shape}")
    if not isinstance(elements, list) or len(elements) != math.prod(shape):
        came = len(elements) if isinstance(elements, list) else shown(elements)
        raise ValueError(f"{name}: wanted {math.prod(shape)} elements for shape {shape}, came {came}")
    array = np.zeros(len(elements), numpy_dtype(dtype))
    for index, element in enumerate(elements):
        array[index] = _decode(element, array.dtype, name)
    return array.reshape(shape)


def _decode(element: object, dtype: np.dtype[Any], name: str) -> Any:
    number: Any = None
    if dtype.kind == "b":
        number = element if isinstance(element, bool) else None
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        number = element if type(element) is int and limits.min <= element <= limits.max else None
    elif isinstance(element, str):
        number = _special(element, dtype)
    elif _finite(element):
        with np.errstate(over="ignore"):
            number = dtype.type(float(element))  # type: ignore[arg-type]  # a number
        number = number if np.isfinite(number) else None
    if number is None:
        raise ValueError(f"{name}: wanted {dtype} elements, came {shown(element)}")
    return number


def _special(word: str, dtype: np.dtype[Any]) -> Any:
    """The infinity or NaN that a word stands for; None if it stands for none."""
    if word in ("inf", "-inf"):
        return dtype.type(word)
    bits = re.fullmatch("nan:0x([0-9a-f]{1,16})", word)
    if bits is None or int(bits[1], 16) >= 256**dtype.itemsize:
        return None
    number = np.frombuffer(int(bits[1], 16).to_bytes(dtype.itemsize, "little"), dtype)[0]
    return number if math.isnan(float(number)) else None
