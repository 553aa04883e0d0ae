"""ONNX Runtime on the CPU: sessions of one-node models, and what ran in them."""

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import onnxruntime

from attnspec.impls.peers.shared.onnx_model import Array, Node

FATAL = 4

onnxruntime.set_global_thread_pool_sizes(0, 0)  # as many as there are cores


def made(node: Node, profile: str = "") -> Any:
    """The node's model, ready to run on the CPU, with the options that ONNX Runtime has by itself."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL  # errors are raised too
    options.use_per_session_threads = False  # of hundreds of sessions each would keep threads of its own
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
    return onnxruntime.InferenceSession(node.model().SerializeToString(), options, providers=["CPUExecutionProvider"])


session = functools.lru_cache(maxsize=512)(made)


def run(node: Node, arrays: dict[str, Array]) -> Any:
    """The outputs that the node asks for. A dtype without a kernel raises what ONNX Runtime raises."""
    return session(node).run(None, arrays)


def operators(call: Callable[[], object]) -> set[str]:
    """The names of the operators that ran during ``call``, by ONNX Runtime's own profile."""
    profiled: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:

        def profiling(node: Node) -> Any:
            profiled.append(made(node, f"{folder}/{len(profiled)}"))
            return profiled[-1]

        with mock.patch(f"{__name__}.session", profiling):
            call()
        profiles = [json.loads(Path(one.end_profiling()).read_text()) for one in profiled]
    events = (event.get("args", {}) for profile in profiles for event in profile)
    return {event["op_name"] for event in events if "op_name" in event}
