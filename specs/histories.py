"""Histories of caches, drawn and shrunk by Hypothesis: chunks, ragged ones and new beginnings in any order."""

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from attnspec.specs.caching import Chunk, Decoder, Store, claims
from attnspec.specs.catalogue import Violation

EXAMPLES, STEPS = 25, 8

SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    print_blob=False,
    verbosity=Verbosity.quiet,
)


class History(RuleBasedStateMachine):
    """Two caches of one kind and a check of each append; a subclass says which."""

    stores: Sequence[Store]
    sizes: Sequence[int]

    def new(self, which: int, store: Store) -> Decoder:
        """An empty cache for the first or the second problem."""
        raise NotImplementedError

    def append(self, decoder: Decoder, chunk: Chunk) -> None:
        """Feed the chunk and look at what comes."""
        raise NotImplementedError

    @initialize(kind=st.integers(0, 2))
    def begin(self, kind: int) -> None:
        """Two empty caches."""
        self.store = self.stores[kind % len(self.stores)]
        self.decoders = [self.new(which, self.store) for which in (0, 1)]

    @rule(which=st.integers(0, 1))
    def begin_anew(self, which: int) -> None:
        """A new cache in the place of a used one."""
        self.decoders[which] = self.new(which, self.store)

    @rule(which=st.integers(0, 1), kind=st.integers(0, 2), missing=st.lists(st.integers(0, 5), min_size=4, max_size=4))
    def go_on(self, which: int, kind: int, missing: list[int]) -> None:
        """Append a chunk; where there is no room, or ``missing`` says so, it is ragged."""
        decoder, size = self.decoders[which], self.sizes[kind % len(self.sizes)]
        left = decoder.problem.shape[4] - decoder.length
        if claims(decoder.backend, "lengths"):
            wanted = np.maximum(size - np.asarray(missing[: len(left)]), 0)
            self.append(decoder, Chunk(size, tuple(map(int, np.minimum(wanted, left)))))
        elif size <= left.min():
            self.append(decoder, Chunk(size))


def run(history: Callable[[], History]) -> None:
    """Raise what the smallest history that goes wrong raises, if there is one."""
    try:
        run_state_machine_as_test(history, settings=SETTINGS)  # type: ignore[no-untyped-call]
    except Flaky as error:
        raise Violation("the same history failed once and held once: the result depends on what went before") from error
