"""Packed sequences of unequal lengths, without padding, one module an array library."""
