"""transformers' eager_attention_forward as Llama has it: products and a softmax in float32, with weights."""

from typing import Any

from transformers.models.llama.modeling_llama import eager_attention_forward

from attnspec.impls.peers.shared.torch_amx import LEAK, LEAKS

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("transformers",)
LACKS = {"rank2", "rank3"}
KNOWN_ISSUES = {
    "rejection.heads": "more key heads than query heads give a result without heads; unreported",
    "rejection.integers": "the result of integers is cut to integers; unreported",
    "rejection.mask_shape": "a bias with a fifth axis gives the result one; unreported",
    **({"masking.nan_query_shows": LEAK, "masking.nan_bias_shows": LEAK} if LEAKS else {}),
}
CONVENTIONS = {
    "empty_row_bias": "nan",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
}


class Module:
    """What the function reads of a model: how many query heads share a key's, and whether it is in training."""

    training = False

    def __init__(self, groups: int) -> None:
        self.num_key_value_groups = groups


def attention(
    query: Any, key: Any, value: Any, *, bias: Any = None, scale: float | None = None, return_weights: bool = False
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    bias is floating and broadcasts to (B, Hq, L, S): the attention_mask that the models add. return_weights adds
    (B, Hq, L, S). The function has no scale of its own.
    Formula: Vaswani et al. 2017, equation 1.
    """
    output, weights = eager_attention_forward(
        Module(query.shape[-3] // max(key.shape[-3], 1)),
        query,
        key,
        value,
        bias,
        scaling=query.shape[-1] ** -0.5 if scale is None else scale,
    )
    output = output.transpose(1, 2)  # (B, L, Hq, Dv) to (B, Hq, L, Dv)
    return (output, weights) if return_weights else output
