"""Causality is declared to end at the last key, but starts at the first: a decoding step sees one key."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"causal_alignment": "bottom-right"}
KILLED_BY = "convention.causal_alignment"
REPORTS = ("B1", "B6", "B22")

attention = Steps.attention
