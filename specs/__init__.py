"""What attention must do: contract, problem, oracle, error bound, strategies, invariants, verification."""
