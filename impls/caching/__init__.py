"""Decoding with a cache of keys and values, a module for each array library; the backends import from here."""
