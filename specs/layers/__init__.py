"""What the layers above attention must do: their definition with its error bound, and their invariants.

A layer library is a module with the names and parameters that ``library.py`` lists; nothing here imports one.
"""
