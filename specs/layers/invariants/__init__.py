"""The invariants of layers, a module for each kind of layer or property."""
