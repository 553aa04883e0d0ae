"""Attention in PyTorch over blocks of queries and keys: memory O(L + S), gradients by computing the scores again.

Source: Dao, FlashAttention-2 (2023), algorithms 1 and 2, over Milakov & Gimelshein's online softmax (2018).
Shapes: B batch entries, K key/value heads, G query heads that share one, L queries, S keys, D and Dv widths. A tile is
the scores (B, K, G, block of queries, block of keys); those that causality or the window hides as a whole are skipped.
"""

import math
from typing import Any

import torch

from attnspec.impls.blockwise.call import Window, five_axes, reach
from attnspec.impls.blockwise.torch import Plan, exponentials, logits, part, reduced
from attnspec.impls.packing.torch import by_sequence
from attnspec.impls.torch_naive import check

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {"forward_gradient", "attend_packed+alibi_slopes"}
CONVENTIONS = {"intermediate_dtype": "float32", "masked_nonfinite": "propagates", "value_range": "sum"}

Array = Any


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: Window | None = None,
    sinks: Array | None = None,
    key_lengths: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    return_lse: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Without B, or without B and H, everything is without it; the output has the inputs' floating dtype, and half
    precision is computed in float32. Options are those of ``torch_naive.attention``. ValueError for malformed input.
    """
    arrays = {"mask": mask, "bias": bias, "key_lengths": key_lengths}
    arrays |= {"query_segments": query_segments, "key_segments": key_segments}
    given = {name: array for name, array in arrays.items() if array is not None}
    check(query, key, value, {**given, "sinks": sinks} if sinks is not None else given, window)
    dtype, lead, high = query.dtype, query.shape[:-1], torch.promote_types(query.dtype, torch.float32)
    query, key, value = (a.to(high).reshape((1,) * (4 - a.ndim) + tuple(a.shape)) for a in (query, key, value))
    (batch, heads, queries, dim), kv_heads, keys = query.shape, key.shape[1], key.shape[2]
    left, right = reach(window, is_causal, queries + keys)
    plan = Plan(queries, keys, left, right, float(softcap or 0))

    scaled = query * (1 / math.sqrt(dim or 1) if scale is None else scale)
    grouped = scaled.reshape(batch, kv_heads, heads // max(kv_heads, 1), queries, dim)
    options = five_axes(given, batch, kv_heads, queries, keys)
    options = {name: array.to(high) if name == "bias" else array for name, array in options.items()}
    nothing = query.new_full((heads,), -math.inf) if sinks is None else sinks.to(high)
    arguments = (options.get(name) for name in OPTIONS)
    output, lse = Blockwise.apply(plan, grouped, key, value, nothing.reshape(grouped.shape[1:3]), *arguments)
    output = output.reshape(*lead, value.shape[3]).to(dtype)
    return (output, lse.reshape(lead)) if return_lse else output


attend_packed = by_sequence(attention)


OPTIONS = ("bias", "mask", "key_lengths", "query_segments", "key_segments")


def named(*arrays: Array | None) -> dict[str, Array]:
    """Those of OPTIONS that are given."""
    return {name: array for name, array in zip(OPTIONS, arrays, strict=True) if array is not None}


class Blockwise(torch.autograd.Function):  # type: ignore[misc]  # Any, installed or not
    """Output (B, K, G, L, Dv) and log-sum-exp (B, K, G, L) of scaled queries (B, K, G, L, D), sinks (K, G)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        plan: Plan,
        query: Array,
        key: Array,
        value: Array,
        sinks: Array,
        bias: Array | None,
        mask: Array | None,
        key_lengths: Array | None,
        query_segments: Array | None,
        key_segments: Array | None,
    ) -> tuple[Array, Array]:
        options = named(bias, mask, key_lengths, query_segments, key_segments)
        output, lse = query.new_empty((*query.shape[:-1], value.shape[3])), query.new_empty(query.shape[:-1])
        for rows in plan.blocks():
            sink = sinks[:, :, None].expand(query[:, :, :, rows].shape[:-1])
            top = sink.clamp(min=torch.finfo(query.dtype).min)  # where -inf would give NaN differences
            weight, total = torch.exp(sink - top), torch.zeros_like(output[:, :, :, rows])
            for keys, edge in plan.tiles(rows):
                scores, _, unseen = logits(plan, query[:, :, :, rows], key, options, rows, keys, edge)
                new = torch.maximum(top, scores.amax(dim=4))
                weights = exponentials(scores.sub_(new[..., None]), unseen)
                fade = torch.exp(top - new)
                weight = weight * fade + weights.sum(dim=4)
                total = total.mul_(fade[..., None]).add_(weights @ value[:, :, None, keys])
                top = new
            output[:, :, :, rows] = total / weight.masked_fill(weight == 0, 1)[..., None]
            lse[:, :, :, rows] = top + torch.log(weight)
        return output, lse

    @staticmethod
    def setup_context(context: Any, inputs: tuple[Any, ...], output: tuple[Array, Array]) -> None:
        context.plan, *arrays = inputs
        context.save_for_backward(*arrays, *output)

    @staticmethod
    def backward(context: Any, back: Array, slope_lse: Array) -> tuple[Any, ...]:
        """FlashAttention-2, algorithm 2: weights again from the log-sum-exp, a tile at a time."""
        query, key, value, sinks, *arrays, output, lse = context.saved_tensors
        plan, options = context.plan, named(*arrays)
        level = lse.masked_fill(lse == -math.inf, 0)
        dquery, dkey, dvalue, dsinks = (torch.zeros_like(array) for array in (query, key, value, sinks))
        dbias = torch.zeros_like(options["bias"]) if "bias" in options else None
        for rows in plan.blocks():
            some, above = query[:, :, :, rows], back[:, :, :, rows]
            spent = (above * output[:, :, :, rows]).sum(dim=4) - slope_lse[:, :, :, rows]
            dsinks = dsinks - (torch.exp(sinks[:, :, None] - level[:, :, :, rows]) * spent).sum(dim=(0, 3))
            for keys, edge in plan.tiles(rows):
                scores, slope, _ = logits(plan, some, key, options, rows, keys, edge)
                weights = scores.sub_(level[:, :, :, rows, None]).exp_()
                dvalue[:, :, keys] += (weights.mT @ above).sum(dim=2)
                dlogits = (above @ value[:, :, None, keys].mT).sub_(spent[..., None]).mul_(weights)
                if dbias is not None:
                    part(dbias, rows, keys).add_(reduced(dlogits, dbias))
                dscores = dlogits if slope is None else dlogits * slope
                dquery[:, :, :, rows] += dscores @ key[:, :, None, keys]
                dkey[:, :, keys] += (dscores.mT @ some).sum(dim=2)
        return None, dquery, dkey, dvalue, dsinks, dbias, *(None for _ in OPTIONS[1:])
