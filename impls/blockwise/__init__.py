"""What the blockwise backends are made of beside the algorithm."""
