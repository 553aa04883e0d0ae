"""A failure as a script and a text that need only the framework and NumPy, for whoever maintains it."""
