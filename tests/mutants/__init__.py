"""Correct implementations with one planted fault each; ``KILLED_BY`` names the invariant that is there for it."""
