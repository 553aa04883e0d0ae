"""A backend on a workload: the call as an ordinary user makes it, with arguments that are native already."""

from typing import Any

import numpy as np

from attnspec.benchmarks.inputs import Inputs
from attnspec.benchmarks.workloads import Workload
from attnspec.specs.backend import Backend
from attnspec.specs.packing import NAME
from attnspec.specs.problem import Array, Problem


class Unranked(Exception):
    """Why a backend is not ranked on a workload: it is wrong, fell back, failed, or was skipped."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Subject:
    """The calls of one backend on one workload. Unranked "skipped" if it does not claim what that asks for."""

    def __init__(self, backend: Backend, workload: Workload) -> None:
        self.backend, self.workload, self.inputs = backend, workload, Inputs(workload)
        problem = self.inputs.problem(0)
        self.features = self._features(problem)
        _, extras, self.plain = backend.native(problem)
        self.extras = {} if self.packed else extras
        self.compiled = not self.packed and backend.runs_compiled(problem)
        if workload.backward:
            self.function = backend.output_of(tuple(self.extras), self.plain)
        else:
            self.function = backend.positional(tuple(self.extras), self.plain, self.compiled)

    @property
    def packed(self) -> bool:
        """Whether sequences go to ``attend_packed``; a backend without it gets segments in one row."""
        return bool(self.workload.lengths) and NAME in self.backend.functions

    def _features(self, problem: Problem) -> frozenset[str]:
        features = set(problem.features) | ({"gradient"} if self.workload.backward else set())
        if self.packed:
            features = (features - {"query_segments", "key_segments"}) | {NAME}
        lacks = [lack for lack in self.backend.declaration.lacks if lack <= features | {self.backend.device}]
        missing = sorted(f for f in features if not self.backend.supports(frozenset({f})))
        missing += sorted("+".join(sorted(lack)) for lack in lacks if len(lack) > 1)
        if missing:
            raise Unranked("skipped", f"does without {', '.join(missing)}")
        return frozenset(features)

    def arguments(self, number: int) -> list[Any]:
        """Native arguments of that number, fresh."""
        problem = self.inputs.problem(number)
        asarray = self.backend.asarray
        arrays = [asarray(array) for array in (problem.query, problem.key, problem.value)]
        if self.packed:
            return [self.backend.arrays.asarray(a, self.backend.device) for a in self._pack(problem)]
        return [*arrays, asarray(self.inputs.cotangent(number))] if self.workload.backward else arrays

    def _pack(self, problem: Problem) -> list[Array]:
        """Query, key and value (tokens, heads, width), and where each sequence begins, twice."""
        offsets = np.cumsum([0, *self.workload.lengths]).astype(np.int32)
        return [*(a[0].swapaxes(0, 1) for a in (problem.query, problem.key, problem.value)), offsets, offsets]

    def run(self, arguments: list[Any]) -> Any:
        """The call, waited for."""
        if self.packed:
            returned = self.backend.functions[NAME](*arguments, **self.plain)
        elif self.workload.backward:
            *inputs, cotangent = arguments
            constants = tuple(self.extras.values())
            output, gradients = self.backend.arrays.gradient(self.function, inputs, cotangent, constants)
            returned = (output, *gradients)
        else:
            returned = self.function(*arguments, *self.extras.values())
        self.backend.arrays.synchronize(returned)
        return returned

    def read(self, returned: Any) -> dict[str, Array]:
        """The output, and of forward and backward the gradients, in NumPy and BHLD. BackendError if they are none."""
        names = ("output", "query", "key", "value") if self.workload.backward else ("output",)
        parts = returned if self.workload.backward else (returned,)
        if self.packed:
            return {"output": self.backend.arrays.to_numpy(returned).swapaxes(0, 1)[None]}
        problem = self.inputs.problem(0)
        output = self.backend.read(parts[0], problem).output
        gradients = (self.backend.laid_out(self.backend.arrays.to_numpy(part)) for part in parts[1:])
        return dict(zip(names, (output, *gradients), strict=True))
