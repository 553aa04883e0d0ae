"""One backend on one workload, in the process that runs it: what is known before it is timed, and the rounds."""

import math
import time
from collections.abc import Iterable
from typing import Any

from attnspec.benchmarks.peak_memory import available, peak, resident, returned
from attnspec.benchmarks.sampling import error, pairs
from attnspec.benchmarks.subject import Subject, Unranked
from attnspec.benchmarks.workloads import Workload
from attnspec.memory import GIB
from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.problem import Array

ROUND = 0.005
"""Seconds that a round takes at least, by calling again with other inputs."""

SETS, SETS_BYTES = 64, 2**26
"""Sets of inputs of a round at most, and bytes of all of them unless one set is larger."""

COPIES = 8
"""Arrays of scores in float32 that an attention may well hold, twice that with gradients. Whether there is memory for
more is measured before; for fewer it is not."""

AFTER, LONG = 3, 1.0
"""Calls before the first round beside the one that is weighed: one to compile, two to see how long one takes, unless
weighing shows that it takes so many seconds."""


class Trial:
    """A backend on a workload, with ``memory`` GiB for it. Unranked wherever it must not be ranked."""

    def __init__(self, backend: Backend, workload: Workload, memory: float) -> None:
        self.backend, self.workload, self.memory = backend, workload, memory
        self.subject, self.iterations = Subject(backend, workload), 1

    def prepared(self) -> dict[str, Any]:
        """What the result says of it beside times, and the seconds of a call."""
        compiled = self.backend.arrays.RUNS_COMPILED  # what the compiler keeps is none of the call's
        with returned():
            self._weigh()
            if not compiled:
                self._try(self.workload.shrunk(32))
            before = resident()
            came, first = self._timed([0])
            output = self._read(came)
            del came
            start = time.perf_counter()
            held = self._held(resident() if compiled else before + sum(a.nbytes for a in output.values()))
            later = time.perf_counter() - start
        if later < LONG:
            later = min(self._timed([number])[1] for number in range(1, AFTER))
        self.iterations = self._repeated(later)
        calls: dict[str, Any] = {"compiled": compiled, "compile_seconds": max(first - later, 0.0)}
        told = {"peak_memory": held, "kernels": self._kernels(), "error_over_bound": self._checked(0, output)}
        return {**calls, **told, **self._work(), "iterations": self.iterations}

    def round(self, number: int) -> tuple[float, float]:
        """Seconds of a call with numbers that none has seen before, and error ÷ bound of the last output."""
        first = AFTER + number * self.iterations
        came, seconds = self._timed(range(first, first + self.iterations))
        return seconds, self._checked(first + self.iterations - 1, self._read(came))

    def _timed(self, numbers: Iterable[int]) -> tuple[Any, float]:
        """What came of the last call, and the seconds of one."""
        sets = [self.subject.arguments(number) for number in numbers]
        with self.backend.guarded(self.subject.features):
            start = time.perf_counter()
            for arguments in sets:
                returned = self.subject.run(arguments)
            return returned, (time.perf_counter() - start) / len(sets)

    def _read(self, returned: Any) -> dict[str, Array]:
        try:
            return self.subject.read(returned)
        except BackendError as cause:
            raise Unranked("wrong", str(cause)) from cause

    def _checked(self, number: int, came: dict[str, Array]) -> float:
        """Error ÷ bound, which is 1 at most."""
        found = error(self.backend, self.subject.inputs, number, came)
        if found.ratio > 1:
            raise Unranked("wrong", f"a sampled element {found}")
        return found.ratio

    def _try(self, workload: Workload) -> None:
        """A small call, after which threads and their buffers are there."""
        small = Subject(self.backend, workload)
        with self.backend.guarded(small.features):
            small.run(small.arguments(0))

    def _held(self, before: int) -> int:
        """Bytes beyond inputs and outputs that a call holds at its peak."""
        arguments = self.subject.arguments(0)
        with self.backend.guarded(self.subject.features):
            most = peak(lambda: self.subject.run(arguments))
        return max(most - before - self.subject.inputs.bytes, 0)

    def _weigh(self) -> None:
        """Skipped if the memory does not suffice, as far as a call on a quarter of the length tells."""
        w, free = self.workload, max(min(available(), self.memory * GIB - resident()), 0)
        most = w.batch * w.heads * w.queries * w.keys * 4 * COPIES * (2 if w.backward else 1)
        if most <= free:
            return
        self._try(w.shrunk(4))
        small, before = Subject(self.backend, w.shrunk(4)), resident()
        with self.backend.guarded(small.features):
            arguments = small.arguments(1)
            need = 16 * max(peak(lambda: small.run(arguments)) - before, 0)
        if need > free:
            wanted = f"wanted {need / GIB:.2g} GiB of memory, 16 times what a quarter of the length takes"
            raise Unranked("skipped", f"{wanted}, came {free / GIB:.2g} GiB")

    def _kernels(self) -> list[str]:
        """The kernels that run in the timed call, the one that it means to run among them."""
        if self.backend.kernels is None:
            return []
        arguments, wanted = self.subject.arguments(0), self.backend.declaration.kernel
        with self.backend.guarded(self.subject.features):
            names = sorted(self.backend.kernels(lambda: self.subject.run(arguments)))
        if wanted is not None and wanted not in names:
            raise Unranked("fell back", f"wanted the kernel {wanted}, came {', '.join(names) or 'none'}")
        return names

    def _work(self) -> dict[str, Any]:
        """Operations of the two products over what is visible, backward 2.5 times as many more; bytes in and out."""
        flops = 4 * pairs(self.subject.inputs, self.backend.conventions) * self.workload.width
        return {"flops": int(flops * (3.5 if self.workload.backward else 1)), "bytes": self.subject.inputs.bytes}

    def _repeated(self, seconds: float) -> int:
        """How often a round calls."""
        fit = max(SETS_BYTES // self.subject.inputs.bytes, 1)
        return min(math.ceil(ROUND / max(seconds, 1e-9)), SETS, fit)
