"""What numpy_blockwise is made of beside the algorithm."""
