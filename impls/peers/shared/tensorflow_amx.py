"""Faults of the library behind TensorFlow's products in bfloat16, on processors with AMX tiles alone."""

from pathlib import Path

_CPU = Path("/proc/cpuinfo")

HERE: bool = _CPU.exists() and "amx_tile" in _CPU.read_text()
"""Whether the processor has them; TensorFlow does not tell."""

LEAK = (
    "with bfloat16 on AMX tiles NaN leaks into the row beside it, in tf.matmul alone too: "
    "https://github.com/uxlfoundation/oneDNN/issues/5717"
)
