"""One page to look at: what was verified, which mutants were killed, how fast and how accurate the backends are."""
