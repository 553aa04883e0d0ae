"""torch.nn.attention.flex_attention, compiled by Inductor into one fused kernel."""

from typing import Any

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attnspec.impls.kernels.torch import flex_kernels
from attnspec.impls.peers.torch_flex_attention import all_of, mask_mods

ARRAYS = "torch"
KERNEL = "compiled"
DTYPES = ("float32", "float16", "bfloat16")  # on the CPU
LACKS = {
    "rank2",
    "rank3",
    "zero_size",
    "gradient",  # none on the CPU
    "double_gradient",
    "forward_gradient",
    "vectorize",
}
CONVENTIONS = {"masked_nonfinite": "propagates"}


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
    back to the unfused functions.
    Formula: Dong et al., Flex Attention, 2024, section 3.
    """
    shape = (*query.shape[:-1], key.shape[-2])
    hiding = mask_mods(mask, is_causal, None, None, None, None, shape)
    return compiled(
        query,
        key,
        value,
        block_mask=create_block_mask(all_of(hiding), *shape, device=query.device) if hiding else None,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )


compiled = torch.compile(flex_attention, dynamic=True, fullgraph=True)


kernels = flex_kernels
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 4096
