"""transformers' flex_attention_forward without the compiler: PyTorch's unfused reading of the same functions."""

from typing import Any

from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from transformers.integrations.flex_attention import WrappedFlexAttention, flex_attention_forward

from attnspec.impls.kernels.torch import flex_kernels
from attnspec.impls.peers import torch_flex_attention as flex

ARRAYS = "torch"
KERNEL = "unfused"
DTYPES = flex.DTYPES
PACKAGES = ("transformers",)
LACKS = flex.LACKS
KNOWN_ISSUES = {name: reason for name, reason in flex.KNOWN_ISSUES.items() if name != "return_lse+bias_dtype"}
CONVENTIONS = flex.CONVENTIONS


class Module:
    """What the function reads of a model: whether it is in training."""

    training = False


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    mask is bool (True attends) and becomes the models' block mask, bias is floating and becomes their position bias;
    both broadcast to (B, Hq, L, S). ValueError for other than four axes.
    Formula: Dong et al., Flex Attention, 2024, section 3.
    """
    shape = (*query.shape[:-1], key.shape[-2])
    hiding = flex.mask_mods(mask, False, None, None, None, None, shape)
    output, _ = flex_attention_forward(
        Module(),
        query,
        key,
        value,
        create_block_mask(flex.all_of(hiding), *shape, device=query.device) if hiding else None,
        scaling=scale,
        softcap=softcap or None,  # 0 would be divided by
        position_bias=None if bias is None else bias.expand(shape),
    )
    return output.transpose(1, 2)  # (B, L, Hq, Dv) to (B, Hq, L, Dv)


kernels = flex_kernels
WrappedFlexAttention(Module.training)._compiled_flex_attention = flex_attention  # the one that all models share
