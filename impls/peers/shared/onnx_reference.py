"""onnx.reference.ReferenceEvaluator: a model in NumPy, node by node."""

from collections.abc import Callable
from typing import Any
from unittest import mock

from onnx.reference.op_run import OpRun


def operators(call: Callable[[], object]) -> set[str]:
    """The names of the operators that the evaluator runs during ``call``."""
    ran: set[str] = set()
    run = OpRun.run

    def recorded(self: Any, *arguments: Any, **keywords: Any) -> Any:
        ran.add(self.onnx_node.op_type)
        return run(self, *arguments, **keywords)

    with mock.patch.object(OpRun, "run", recorded):
        call()
    return ran
