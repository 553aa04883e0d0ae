"""Which of PyTorch's operators a call runs: proof that it went the way that was asked for."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import torch
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


def flex_kernels(call: Callable[[], Any]) -> set[str]:
    """How flex_attention answers ``call``: "compiled", by a graph of Inductor's, or "unfused"."""
    return {"compiled" if any("CompiledFxGraph" in name for name in operators(call)) else "unfused"}


_TURN = threading.Lock()


def turn() -> contextlib.AbstractContextManager[Any]:
    """For calls inside of ``sdpa_kernel``, which sets and sets back what holds for all threads: one at a time.

    Of two that cross, the last to leave would leave its own kernel to the whole process. A compiler sees no threads.
    """
    return contextlib.nullcontext() if torch.compiler.is_compiling() else _TURN
