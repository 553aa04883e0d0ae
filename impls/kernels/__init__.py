"""Which kernels of an array library run in a call: one module a library."""
