"""Somebody else's project, with attention of its own."""
