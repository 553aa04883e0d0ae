"""PyTorch's own modules and functions under our names: nothing of ours in them, and nothing may be found wrong."""

import torch
import torch.nn.functional as F
from torch.func import functional_call

ARRAYS = "torch"


class Layer:
    def shapes(self):
        return {name: tuple(array.shape) for name, array in self.state().items()}

    def init(self, draw):
        return {
            name: draw(shape) if len(shape) > 1 else draw.constant(shape, float("norm" in name and "weight" in name))
            for name, shape in self.shapes().items()
        }

    def state(self):
        return self.module.state_dict()

    def __call__(self, p, x):
        return functional_call(self.module, p, (x,))

    def refuse(self, p, *inputs):
        wanted, came = self.shapes(), {name: tuple(array.shape) for name, array in p.items()}
        wrong = [name for name in {**wanted, **came} if wanted.get(name) != came.get(name)]
        if wrong or len({array.dtype for array in (*p.values(), *inputs)}) > 1:
            raise ValueError(f"parameters: {wrong}, or several dtypes")
        if any(x.ndim != 3 or x.shape[2] != self.width for x in inputs):
            raise ValueError("x: another width")


class Linear(Layer):
    def __init__(self, inputs, outputs, bias=True):
        self.module = torch.nn.Linear(inputs, outputs, bias)


class LayerNorm(Layer):
    def __init__(self, width, epsilon=1e-5):
        self.module = torch.nn.LayerNorm(width, epsilon)

    def init(self, draw):
        return dict(self.module.state_dict())


class Embedding(Layer):
    def __init__(self, count, width):
        self.module = torch.nn.Embedding(count, width)

    def __call__(self, p, ids):
        try:
            return super().__call__(p, ids)
        except (IndexError, RuntimeError) as error:
            raise ValueError(str(error)) from error


KINDS = {"relu": torch.nn.ReLU(), "gelu": torch.nn.GELU(), "gelu_tanh": torch.nn.GELU("tanh")}


class FeedForward(Layer):
    def __init__(self, width, hidden, activation="relu"):
        names = {"inner": torch.nn.Linear(width, hidden), "activation": KINDS[activation]}
        self.module = torch.nn.Sequential()
        for name, module in (*names.items(), ("outer", torch.nn.Linear(hidden, width))):
            self.module.add_module(name, module)


class Convolution(Layer):
    def __init__(self, width, kernel=3):
        self.module = torch.nn.Conv1d(width, width, kernel, padding=kernel // 2)

    def __call__(self, p, x):
        return super().__call__(p, x.mT).mT


RNN = {"input.weight": "weight_ih_l0", "input.bias": "bias_ih_l0", "hidden.weight": "weight_hh_l0"}


class Recurrent(Layer):
    def __init__(self, width):
        self.module = torch.nn.RNN(width, width, batch_first=True)

    def state(self):
        theirs = super().state()
        return {ours: theirs[name] for ours, name in RNN.items()}

    def __call__(self, p, x):
        renamed = {name: p[ours] for ours, name in RNN.items()}
        return functional_call(self.module, {**renamed, "bias_hh_l0": 0 * p["input.bias"]}, (x,))[0]


class MultiHead(Layer):
    """torch.nn.functional.multi_head_attention_forward, which has no groups."""

    def __init__(self, width, heads, *, source_width=None):
        if heads < 1 or width % heads:
            raise ValueError(f"heads: {heads} does not divide {width}")
        self.width, self.heads, self.source_width = width, heads, source_width or width

    def shapes(self):
        sizes = {"query": self.width, "key": self.source_width, "value": self.source_width, "output": self.width}
        weights = {f"{name}.weight": (self.width, size) for name, size in sizes.items()}
        return {**weights, **{f"{name}.bias": (self.width,) for name in sizes}}

    def __call__(self, p, x, *, source=None, mask=None, is_causal=False):
        try:
            return self.attend(p, x, x if source is None else source, mask, is_causal)
        except (AssertionError, RuntimeError) as error:
            raise ValueError(str(error)) from error

    def attend(self, p, x, source, mask, is_causal):
        n, s = x.shape[1], source.shape[1]
        hidden = torch.ones(n, s, dtype=torch.bool).triu(1) if is_causal else torch.zeros(n, s, dtype=torch.bool)
        if mask is not None:
            hidden = hidden | ~mask.broadcast_to(x.shape[0], self.heads, n, s)
            hidden = hidden.reshape(-1, n, s)
        output, _ = F.multi_head_attention_forward(
            x.swapaxes(0, 1),
            source.swapaxes(0, 1),
            source.swapaxes(0, 1),
            self.width,
            self.heads,
            None,
            torch.cat([p[f"{name}.bias"] for name in ("query", "key", "value")]),
            None,
            None,
            False,
            0.0,
            p["output.weight"],
            p["output.bias"],
            attn_mask=hidden,
            need_weights=False,
            use_separate_proj_weight=True,
            q_proj_weight=p["query.weight"],
            k_proj_weight=p["key.weight"],
            v_proj_weight=p["value.weight"],
        )
        return output.swapaxes(0, 1)


ENCODER = {
    "self_attn.out_proj": "attention.output",
    "multihead_attn.out_proj": "cross_attention.output",
    "self_attn": "attention",
    "multihead_attn": "cross_attention",
    "linear1": "feed_forward.inner",
    "linear2": "feed_forward.outer",
    "norm1": "attention_norm",
    "norm2": "feed_forward_norm",
}
DECODER = {**ENCODER, "norm2": "cross_attention_norm", "norm3": "feed_forward_norm"}


class EncoderLayer(Layer):
    """torch.nn.TransformerEncoderLayer."""

    KIND = torch.nn.TransformerEncoderLayer
    NAMES = ENCODER

    def __init__(self, width, heads, hidden, activation="relu", norm_first=False, epsilon=1e-5, dropout=0.0):
        if heads < 1 or width % heads:
            raise ValueError(f"heads: {heads} does not divide {width}")
        self.width, self.epsilon, self.norm_first = width, epsilon, norm_first
        self.module = self.KIND(width, heads, hidden, dropout, activation, epsilon, True, norm_first).eval()

    def shapes(self):
        found = {}
        for name, array in self.state().items():
            ours, shape = self.ours(name), tuple(array.shape)
            for part in ("query", "key", "value") if "in_proj_" in name else ():
                found[ours.replace("in_proj_", f"{part}.")] = (self.width, *shape[1:])
            if "in_proj_" not in name:
                found[ours] = shape
        return found

    def ours(self, name):
        theirs = max((theirs for theirs in self.NAMES if name.startswith(theirs)), key=len)
        return self.NAMES[theirs] + name[len(theirs) :]

    def theirs(self, p):
        found = {}
        for name in self.state():
            parts = [self.ours(name).replace("in_proj_", f"{part}.") for part in ("query", "key", "value")]
            found[name] = torch.cat([p[part] for part in parts]) if "in_proj_" in name else p[self.ours(name)]
        return found

    def hidden(self, mask, x, other, is_causal):
        n, s = x.shape[1], other.shape[1]
        later = torch.full((n, s), is_causal).triu(1)
        if mask is None:
            return later
        return (later | ~mask.broadcast_to(x.shape[0], self.module.self_attn.num_heads, n, s)).reshape(-1, n, s)

    def __call__(self, p, x, *, mask=None, is_causal=False):
        self.refuse(p, x)
        options = {"src_mask": self.hidden(mask, x, x, is_causal)}
        if mask is not None and mask.shape[1:3] == (1, 1) and not is_causal:
            options = {"src_key_padding_mask": ~mask[:, 0, 0]}
        return functional_call(self.module, self.theirs(p), (x,), options)


class DecoderLayer(EncoderLayer):
    """torch.nn.TransformerDecoderLayer."""

    KIND = torch.nn.TransformerDecoderLayer
    NAMES = DECODER

    def __call__(self, p, x, memory, *, mask=None, memory_mask=None):
        own, other = self.hidden(mask, x, x, True), self.hidden(memory_mask, x, memory, False)
        options = {"tgt_mask": own, "memory_mask": other}
        return functional_call(self.module, self.theirs(p), (x, memory), options)


class Encoder(Layer):
    def __init__(self, layer, count):
        self.layer, self.count = layer, count
        self.norm = LayerNorm(layer.width, layer.epsilon) if layer.norm_first else None

    def shapes(self):
        layers = {f"layers.{i}.{n}": shape for i in range(self.count) for n, shape in self.layer.shapes().items()}
        norm = {} if self.norm is None else {f"norm.{name}": shape for name, shape in self.norm.shapes().items()}
        return {**layers, **norm}

    def __call__(self, p, x, *memory, **masks):
        for i in range(self.count):
            x = self.layer(within(p, f"layers.{i}."), x, *memory, **masks)
        return x if self.norm is None else self.norm(within(p, "norm."), x)


Decoder = Encoder


def within(p, prefix):
    return {name.removeprefix(prefix): array for name, array in p.items() if name.startswith(prefix)}


class Draw:
    """torch.nn.init."""

    def __init__(self, like, rule, *, seed=0, distribution="normal"):
        torch.manual_seed(seed)
        self.like = like
        if rule == "gaussian":
            limit = 0.02 * 3**0.5
            normal = distribution == "normal"
            fill, *numbers = (torch.nn.init.normal_, 0, 0.02) if normal else (torch.nn.init.uniform_, -limit, limit)
            self.fill = lambda weight: fill(weight, *numbers)
        else:
            self.fill = getattr(torch.nn.init, f"{rule}_{distribution}_")
        self.options = {"nonlinearity": "relu"} if rule == "kaiming" else {}

    def __call__(self, shape):
        return self.fill(torch.empty(shape, dtype=self.like.dtype), **self.options)

    def constant(self, shape, value):
        return torch.full(shape, value, dtype=self.like.dtype)
