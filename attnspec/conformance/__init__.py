"""The table of what was verified: every implementation by every family of invariants, out of the JSON of runs."""
