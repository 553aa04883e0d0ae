"""torch.nn.attention.flex_attention, compiled by Inductor into one fused kernel."""

import math
from typing import Any

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import pad

from attnspec.impls.kernels.torch import flex_kernels
from attnspec.impls.peers import torch_flex_attention as eager

ARRAYS = "torch"
KERNEL = "compiled"
DTYPES = ("float32",)  # each one is compiled anew
LACKS = eager.LACKS
BROADCAST = "what is missing is read beyond the end: https://github.com/pytorch/pytorch/issues/172225"
KNOWN_ISSUES = {
    "rejection.lengths": "the compiled kernel looks at no length but the key's; unreported",
    "rejection.heads": BROADCAST,
    "rejection.batch": BROADCAST,
    "rejection.mask_dtype": eager.KNOWN_ISSUES["rejection.mask_dtype"],
    "purity.views": "of some layouts of a captured mask Inductor makes no kernel; unreported",
    "masking.nan_query_shows": "a score of NaN counts as hidden, which gives zeros; unreported",
}
CONVENTIONS = {"masked_nonfinite": "propagates", "value_range": "sum"}

WIDTH = 16
"""Arrays are filled up with zeros to a multiple of so many columns: each head dimension costs a compilation, of some
seconds, and the C++ for a head dimension of 1 is none that the compiler takes."""


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    mask is bool (True attends) and broadcasts to (B, Hq, L, S). What the compiler does not take raises: nothing falls
    back to the unfused functions. ValueError if query and key have different widths, which filling up would hide.
    Formula: Dong et al., Flex Attention, 2024, section 3.
    """
    width = query.shape[-1]
    if width != key.shape[-1]:
        raise ValueError(f"key: wanted width {width}, as query has, came {key.shape[-1]}, in torch flex_attention")
    shape = (*query.shape[:-1], key.shape[-2])
    hiding = eager.mask_mods(mask, is_causal, None, None, None, None, shape)
    output = compiled(
        *(pad(array, (0, -array.shape[-1] % WIDTH)) for array in (query, key, value)),
        block_mask=create_block_mask(eager.all_of(hiding), *shape, device=query.device) if hiding else None,
        scale=1 / math.sqrt(width) if scale is None else scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    return output[..., : value.shape[-1]]


compiled = torch.compile(flex_attention, dynamic=True, fullgraph=True)


kernels = flex_kernels
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 4096
# One graph for sizes that happen to be equal or to be 1, and for those that are not.
torch.fx.experimental._config.use_duck_shape = False
torch.fx.experimental._config.backed_size_oblivious = True
