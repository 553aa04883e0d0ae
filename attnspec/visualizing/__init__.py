"""Pictures of where the tokens of a sentence attend, in a model whose weights are real."""
