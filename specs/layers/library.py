"""A layer library under test: a module that offers layers by the names and parameters below, in one array library.

ARRAYS names the array library. A layer has ``shapes()``, names of parameters to shapes, and is called with a dict of
parameters and its inputs. Linear weights are (outputs, inputs), as in PyTorch. What a module lacks is not tried, nor
what its layers take no parameter for.

Linear(inputs, outputs, bias)(p, x): weight, bias
LayerNorm(width, epsilon)(p, x): weight, bias
Embedding(count, width)(p, ids): weight; LearnedPositions(length, width)(p, x): weight; SinusoidalPositions(width)(p, x)
FeedForward(width, hidden, activation)(p, x): inner, outer; activation "relu", "gelu" or "gelu_tanh"
SelfAttention(width, key_width, value_width, bias)(p, x, mask=, is_causal=): query, key, value
MultiHead(width, heads, kv_heads=, key_width=, value_width=, source_width=, bias=, rotary=,
    rotary_base=)(p, x, source=, mask=, bias=, is_causal=): query, key, value, output; step(p, x, past) → output, past
PerHead(width, heads, key_width, value_width)(p, x, mask=, is_causal=): heads.i.query, …, output;
    per_head(layer, p), one_map(layer, p)
EncoderLayer(width, heads, hidden, activation=, norm_first=, epsilon=, bias=, kv_heads=, rotary=, dropout=)(p, x, mask=,
    is_causal=, seed=): attention, attention_norm, feed_forward, feed_forward_norm;
    Encoder(layer, count, final_norm=): layers.i, norm with norm_first unless final_norm says otherwise
DecoderLayer(…, no kv_heads, no rotary)(p, x, memory, mask=, memory_mask=, seed=): also cross_attention,
    cross_attention_norm; Decoder(layer, count, final_norm=)
Transformer(source_count, target_count, width, heads, hidden, count, activation=, norm_first=, dropout=, padding=)(p,
    source_ids, target_ids, seed=): source_embedding, target_embedding, encoder, decoder, output;
    greedy(p, source_ids, begin=, end=, length=, use_cache=), in which ``begin`` = ``end`` is an end;
    start(p, source_ids) → state; step(p, ids, state) → logits, state
Convolution(width, kernel)(p, x): weight, bias; Recurrent(width)(p, x): input, hidden
padding_mask(lengths, length), padding_mask_of_ids(ids, padding), causal_mask(length, like), truncate(ids, length, side)
dropout(x, rate, seed); Draw(like, rule, seed=, distribution=) for ``layer.init(draw)``
"""

import contextlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from attnspec.specs.arrays import ArrayLibrary
from attnspec.specs.catalogue import Inapplicable, Violation
from attnspec.specs.contract import first_line
from attnspec.specs.problem import Array

NAMES = (
    *("Linear", "LayerNorm", "Embedding", "LearnedPositions", "SinusoidalPositions", "FeedForward", "SelfAttention"),
    *("MultiHead", "PerHead", "EncoderLayer", "Encoder", "DecoderLayer", "Decoder", "Transformer", "Convolution"),
    *("Recurrent", "padding_mask", "padding_mask_of_ids", "causal_mask", "truncate", "dropout", "Draw"),
)
"""What a module may offer; one of these at least."""


class Missing(Inapplicable):
    """The library does not offer what the invariant is about."""


@dataclass(frozen=True, eq=False)
class Library:
    """The module, its array library and a device. NumPy arrays go in and come out."""

    name: str
    module: ModuleType
    arrays: ArrayLibrary
    device: str
    kept: dict[Any, Any] = field(default_factory=dict)
    """Compiled calls."""
    notice: Callable[[], None] = lambda: None
    """Is told before each call."""

    def has(self, name: str) -> Any:
        """What the module offers under the name. Missing if it does not."""
        if not hasattr(self.module, name):
            raise Missing(f"it has no {name}")
        return getattr(self.module, name)

    def make(self, name: str, *arguments: Any, **options: Any) -> Any:
        """A layer, or whatever a function of the module gives for arguments that are no arrays."""
        made = self.has(name)
        taken(name, made, arguments, options)
        try:
            return made(*arguments, **options)
        except Exception as error:
            raise Violation(f"{name}{arguments}: raised {type(error).__name__}: {first_line(error)}") from error

    def method(self, layer: Any, name: str) -> Any:
        """A method of the layer beside its call. Missing if it has none of that name."""
        if not hasattr(layer, name):
            raise Missing(f"{type(layer).__name__} has no {name}")
        return getattr(layer, name)

    def call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        """``function`` on native arrays, its result in NumPy. Violation if it raises."""
        taken(type(function).__name__, function, arguments, options)
        try:
            return self.back(self.run(function, self.native(arguments), self.native(options)))
        except (Violation, Inapplicable):
            raise
        except Exception as error:
            name = getattr(function, "__name__", type(function).__name__)
            raise Violation(f"{name}: raised {type(error).__name__}: {first_line(error)}") from error

    def run(self, function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The call, compiled where op by op costs far more: what holds arrays is given, the rest is fixed."""
        self.notice()
        if not self.arrays.RUNS_COMPILED:
            return function(*arguments, **options)
        named: dict[Any, Any] = {**dict(enumerate(arguments)), **options}
        given = {str(name): value for name, value in named.items() if self.is_native(value)}
        fixed = tuple((name, None if str(name) in given else value) for name, value in named.items())
        return self.compiled(function, fixed, tuple(given))(given)

    def compiled(self, function: Any, fixed: tuple[tuple[Any, Any], ...], given: tuple[str, ...]) -> Any:
        """The function of the arrays alone; kept, for a second one would be compiled again."""
        key = (function, fixed, given)
        with contextlib.suppress(TypeError):  # what has no hash
            if key in self.kept:
                return self.kept[key]

        def call(arrays: dict[str, Any]) -> Any:
            named = {name: arrays.get(str(name), value) for name, value in fixed}
            positional = [value for name, value in named.items() if isinstance(name, int)]
            return function(*positional, **{name: v for name, v in named.items() if not isinstance(name, int)})

        made = self.arrays.compile(call)
        with contextlib.suppress(TypeError):
            self.kept[key] = made
        return made

    def is_native(self, value: Any) -> bool:
        """Whether it is an array of the library, or a dict or tuple of them."""
        if isinstance(value, Mapping):
            return all(self.is_native(item) for item in value.values())
        return all(map(self.is_native, value)) if type(value) is tuple else self.arrays.is_array(value)

    def native(self, value: Any) -> Any:
        """NumPy's arrays in the array library, within tuples and dicts too; all else as it is."""
        if isinstance(value, np.ndarray):
            return self.arrays.asarray(value, self.device)
        if isinstance(value, Mapping):
            return {name: self.native(item) for name, item in value.items()}
        return tuple(self.native(item) for item in value) if type(value) is tuple else value

    def back(self, value: Any) -> Any:
        """Native arrays in NumPy, within tuples and dicts too."""
        if isinstance(value, Mapping):
            return {name: self.back(item) for name, item in value.items()}
        if type(value) is tuple:
            return tuple(self.back(item) for item in value)
        return self.arrays.to_numpy(value) if self.arrays.is_array(value) else value

    def refusal(self, function: Any, *arguments: Any, **options: Any) -> str:
        """The message of the ValueError that comes. Violation if another one or none does."""
        taken(getattr(function, "__name__", type(function).__name__), function, arguments, options)
        try:
            function(*self.native(arguments), **self.native(options))
        except ValueError as error:
            return str(error)
        except Exception as error:
            raise Violation(f"wanted a ValueError, came {type(error).__name__}: {first_line(error)}") from error
        raise Violation("wanted a ValueError, came a result")


def taken(name: str, function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Missing if the function has not these parameters: what it does not take, it does not claim."""
    try:
        inspect.signature(function).bind(*arguments, **options)
    except TypeError as error:
        raise Missing(f"{name}: {error}") from error
    except ValueError:  # built in, without a signature
        return


def float64(parameters: Mapping[str, Array]) -> dict[str, Array]:
    """The numbers of the parameters, for the definition."""
    return {name: np.asarray(array, np.float64) for name, array in parameters.items()}
