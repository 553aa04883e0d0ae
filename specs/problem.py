"""One attention input, as a value: query, key, value and options, with an exact JSON form.

Shapes, everywhere in the suite: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, Dk key
dimension, Dv value dimension. Rank 4 is (B, H, L, D), rank 3 (H, L, D), rank 2 (L, D).
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from attnspec.specs.contract import ARRAY_OPTIONS, DTYPES, PLAIN_OPTIONS

Array = NDArray[Any]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype called ``name``; bfloat16 comes from ml_dtypes. ValueError for an unknown name."""
    try:
        return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
    except TypeError as error:
        raise ValueError(f"dtype: wanted a NumPy dtype or bfloat16, came {name!r}") from error


def lifted(array: Array) -> Array:
    """A view with four axes: missing batch and head axes of size 1 in front."""
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = np.array(value, order="C")
        value.flags.writeable = False
    return value


@dataclass(frozen=True, eq=False)
class Problem:
    """query (B, Hq, L, Dk), key (B, Hkv, S, Dk), value (B, Hkv, S, Dv), all of one rank and dtype; read-only.

    ``options`` holds only those that are set. ``seed`` fixes whatever an invariant chooses at random.
    """

    query: Array
    key: Array
    value: Array
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("query", "key", "value"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        options = {name: _frozen(value) for name, value in self.options.items()}
        object.__setattr__(self, "options", MappingProxyType(options))

    @property
    def dtype(self) -> str:
        """The inputs' dtype by name."""
        return str(self.query.dtype)

    @property
    def shape(self) -> tuple[int, int, int, int, int, int, int]:
        """(B, Hq, Hkv, L, S, Dk, Dv), whatever the rank."""
        batch, heads, queries, key_dim = lifted(self.query).shape
        _, kv_heads, keys, value_dim = lifted(self.value).shape
        return batch, heads, kv_heads, queries, keys, key_dim, value_dim

    @property
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
        }
        return frozenset(self.options) | {name for name, yes in asked.items() if yes} | {self.dtype}

    @property
    def rng(self) -> np.random.RandomState:
        """A fresh generator, seeded by the problem; RandomState because its stream never changes."""
        return np.random.RandomState([self.seed, 0xA77])

    def replace(self, **changes: Any) -> "Problem":
        """A copy with other fields."""
        return replace(self, **changes)

    def with_options(self, **options: Any) -> "Problem":
        """A copy with these options set; None takes one away."""
        merged = {**self.options, **options}
        return replace(self, options={name: value for name, value in merged.items() if value is not None})

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
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{what}: wanted JSON, came text that breaks off at character {error.pos}: {error.msg}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{what}: wanted a JSON object, came {type(data).__name__}")
    return data


def read_problem(data: Mapping[str, Any]) -> Problem:
    """A problem from its decoded JSON object. ValueError says what is damaged."""
    for name in ("query", "key", "value"):
        if name not in data:
            raise ValueError(f"problem: wanted the field {name!r}, came only {sorted(data)}")
    query, key, value = (decode_array(data[name], name) for name in ("query", "key", "value"))
    ranks, dtypes = {a.ndim for a in (query, key, value)}, {str(a.dtype) for a in (query, key, value)}
    if len(ranks) > 1 or not ranks <= {2, 3, 4}:
        raise ValueError(f"problem: wanted query, key and value of one rank, 2 to 4, came ranks {sorted(ranks)}")
    if len(dtypes) > 1 or not dtypes <= set(DTYPES):
        raise ValueError(f"problem: wanted query, key and value of one dtype of {DTYPES}, came {sorted(dtypes)}")
    _check_shapes(query, key, value)
    return Problem(query, key, value, _read_options(data.get("options", {})), _read_seed(data.get("seed", 0)))


def _check_shapes(query: Array, key: Array, value: Array) -> None:
    q, k, v = lifted(query).shape, lifted(key).shape, lifted(value).shape
    heads_divide = q[1] % k[1] == 0 if k[1] else q[1] == 0
    if q[0] != k[0] or k[:3] != v[:3] or q[3] != k[3] or not heads_divide:
        wanted = "query (B, Hq, L, Dk), key (B, Hkv, S, Dk), value (B, Hkv, S, Dv) with Hkv dividing Hq"
        raise ValueError(f"problem: wanted {wanted}, came {query.shape}, {key.shape}, {value.shape}")


def _read_options(data: object) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ValueError(f"problem options: wanted an object, came {type(data).__name__}")
    options: dict[str, Any] = {}
    for name, value in data.items():
        if name not in ARRAY_OPTIONS + PLAIN_OPTIONS:
            raise ValueError(f"problem options: wanted names of the canonical signature, came {name!r}")
        if name in ARRAY_OPTIONS:
            options[name] = decode_array(value, name)
        else:
            options[name] = tuple(value) if isinstance(value, list) else value
    return options


def _read_seed(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
        raise ValueError(f"problem seed: wanted a whole number from 0 to 2**32 - 1, came {value!r}")
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
    if not isinstance(data, Mapping) or not {"dtype", "shape", "data"} <= set(data):
        raise ValueError(f"{name}: wanted an object with dtype, shape and data, came {data!r:.60}")
    dtype, shape = numpy_dtype(str(data["dtype"])), data["shape"]
    if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"{name}: wanted a shape of whole numbers, came {shape!r}")
    elements = data["data"]
    if not isinstance(elements, list) or len(elements) != math.prod(shape):
        count = len(elements) if isinstance(elements, list) else elements
        raise ValueError(f"{name}: wanted {math.prod(shape)} elements for shape {shape}, came {count!r:.60}")
    array = np.zeros(len(elements), dtype)
    for index, element in enumerate(elements):
        array[index] = _decode(element, dtype, name)
    return array.reshape(shape)


def _decode(element: object, dtype: np.dtype[Any], name: str) -> Any:
    if isinstance(element, str) and element.startswith("nan:"):
        try:
            return np.frombuffer(int(element[4:], 16).to_bytes(dtype.itemsize, "little"), dtype)[0]
        except (ValueError, OverflowError):
            raise ValueError(f"{name}: wanted the bits of a {dtype} NaN, came {element!r}") from None
    if element in ("inf", "-inf"):
        return float(str(element))
    if isinstance(element, bool) is not (dtype.kind == "b") or not isinstance(element, int | float):
        raise ValueError(f"{name}: wanted {dtype} elements, came {element!r}")
    return element
