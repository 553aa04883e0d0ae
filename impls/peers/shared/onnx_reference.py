"""onnx.reference.ReferenceEvaluator: a model in NumPy, node by node."""

from collections.abc import Callable
from typing import Any
from unittest import mock

from onnx.reference.op_run import OpRun


def operators(call: Callable[[], object]) -> set[str]:
    """The names of the operators that the evaluator runs during ``call``."""
    ran: set[str] = set()
    checked = OpRun._check_and_fix_outputs

    def recorded(self: Any, results: Any) -> Any:
        ran.add(self.onnx_node.op_type)
        return checked(self, results)

    with mock.patch.object(OpRun, "_check_and_fix_outputs", recorded):  # each kind of operator has a run of its own
        call()
    return ran
