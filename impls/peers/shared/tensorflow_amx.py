"""A fault of the library behind TensorFlow's products in bfloat16, on processors with AMX tiles alone."""

from pathlib import Path

_CPU = Path("/proc/cpuinfo")

LEAK = "with bfloat16 on AMX tiles NaN leaks into the row beside it, in tf.matmul alone too; unreported"
LEAKS: bool = _CPU.exists() and "amx_tile" in _CPU.read_text()
"""TensorFlow does not tell whether it uses them."""
