"""One experiment a convention or fact: a problem on which the hypotheses differ, and what came under each."""
