"""Histories of caches, drawn and shrunk by Hypothesis: chunks, ragged ones and new beginnings in any order."""

from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from attnspec.specs.caching import Chunk, Decoder, claims
from attnspec.specs.catalogue import Violation

EXAMPLES, STEPS = 8, 5

SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    print_blob=False,
    verbosity=Verbosity.quiet,
)


class History(RuleBasedStateMachine):
    """Two caches and chunks of some of the ``lengths``; a subclass makes, feeds and checks them."""

    lengths: Sequence[int]

    def __init__(self) -> None:
        super().__init__()
        self.decoders = [self.new(which) for which in (0, 1)]

    def new(self, which: int) -> Decoder:
        """An empty cache for the first or the second problem."""
        raise NotImplementedError

    def append(self, decoder: Decoder, chunk: Chunk) -> None:
        """Feed the chunk and look at what comes."""
        raise NotImplementedError

    @precondition(lambda self: any(decoder.history for decoder in self.decoders))
    @rule(which=st.integers(0, 1))
    def begin_anew(self, which: int) -> None:
        """A new cache in the place of a used one."""
        self.decoders[which] = self.new(which)

    @rule(drawn=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 255)), min_size=3))
    def go_on(self, drawn: list[tuple[int, int, int]]) -> None:
        """Append chunks; a sequence gets less of one where it has no room, and by its two bits of ``missing``."""
        for which, kind, missing in drawn:
            decoder, size = self.decoders[which], self.lengths[kind % len(self.lengths)]
            left = decoder.problem.shape[4] - decoder.length
            if claims(decoder.backend, "lengths") and left.any():
                lengths = np.maximum(size - (missing >> 2 * np.arange(len(left))) % 4, 0)
                self.append(decoder, Chunk(size, tuple(map(int, np.minimum(lengths, left)))))
            elif size <= left.min():
                self.append(decoder, Chunk(size))


def run(history: type[History], number: int) -> None:
    """Raise what the smallest history that goes wrong raises, if there is one; ``number`` is Hypothesis's seed."""
    try:
        seed(number)(history)
        run_state_machine_as_test(history, settings=SETTINGS)
    except Flaky as error:
        raise Violation("the same history failed once and held once: the result depends on what went before") from error
