"""Verify any attention implementation against an exact oracle, with computed error bounds."""
