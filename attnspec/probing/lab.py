"""Where experiments are made: an adapter's text is run on problems, each call noted before it is made."""

import dataclasses
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from attnspec.loading import binding
from attnspec.probing.adapter import Adapter
from attnspec.probing.finding import FITS, Trial
from attnspec.probing.wrapper import ORIGINAL, function_source
from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.catalogue import Violation
from attnspec.specs.contract import Declaration
from attnspec.specs.conventions import Holding
from attnspec.specs.invariants.common import hold_result
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe
from attnspec.watch import Watch, Watched


@dataclass
class Lab:
    """The watch over all calls, and the backends made so far."""

    watch: Watch
    made: dict[str, Watched] = field(default_factory=dict)

    def backend(self, adapter: Adapter) -> Watched:
        """The adapter's text as a backend under its declaration."""
        declaration = Declaration(adapter.arrays, adapter.lacks, adapter.dtypes, None, adapter.conventions)
        text = function_source(adapter)
        key = f"{adapter.arrays} {text}"
        if key not in self.made:
            arrays, module = binding(adapter.arrays), {ORIGINAL: adapter.subject.function}
            exec(compile(text, adapter.subject.label, "exec"), module)
            watch = dataclasses.replace(self.watch, guise=f"{zlib.crc32(key.encode()):08x}")
            function: Callable[..., Any] = module["attention"]
            self.made[key] = Watched("probed", function, declaration, arrays, arrays.devices()[0], watch=watch)
        backend = self.made[key].assuming(
            lacks=declaration.lacks, dtypes=declaration.dtypes, conventions=declaration.conventions
        )
        assert isinstance(backend, Watched)
        return backend

    def attempt(self, adapter: Adapter, problem: Problem, value: Any, holding: Holding | None = None) -> Trial:
        """Whether the adapter gives what the oracle gives, ``value`` being what is tried with it."""
        return attempt(self.backend(adapter), problem, value, holding)


def recipe_of(problem: Problem) -> Recipe:
    """The recipe that the problem was made by."""
    assert isinstance(problem.recipe, Recipe)
    return problem.recipe


def _hold(backend: Backend, problem: Problem) -> float:
    return hold_result(backend, problem, backend.solve(problem))


def attempt(backend: Backend, problem: Problem, value: Any, holding: Holding | None = None) -> Trial:
    """The same for a backend."""
    try:
        ratio = (holding or _hold)(backend, problem)
    except (Violation, BackendError) as error:
        return Trial(value, False, str(error))
    return Trial(value, True, f"{FITS}, err/bound {ratio:.2g}")
