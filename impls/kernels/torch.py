"""Which of PyTorch's operators a call runs: proof that it went the way that was asked for."""

from collections.abc import Callable
from typing import Any

from torch.profiler import ProfilerActivity, profile

SDPA = {
    "aten::_scaled_dot_product_flash_attention": "flash",
    "aten::_scaled_dot_product_flash_attention_for_cpu": "flash",
    "aten::_scaled_dot_product_efficient_attention": "efficient",
    "aten::_scaled_dot_product_cudnn_attention": "cudnn",
    "aten::_scaled_dot_product_attention_math": "math",
}
"""The operators below scaled_dot_product_attention, and what torch.nn.attention.SDPBackend calls them."""


def operators(call: Callable[[], Any]) -> set[str]:
    """The names of the operators that run in ``call``, such as "aten::bmm"; what it raises passes through."""
    with profile(activities=[ProfilerActivity.CPU], acc_events=True) as profiled:
        call()
    return {event.key for event in profiled.key_averages()}


def sdpa_kernels(call: Callable[[], Any]) -> set[str]:
    """The kernels of scaled_dot_product_attention that run in ``call``."""
    return {SDPA[name] for name in operators(call) & SDPA.keys()}
