"""Faults and designs that several projects have in common, said once: what KNOWN_ISSUES give as the reason."""

ASSERTED = "meets a bare assert, an AssertionError that python -O leaves out; unreported"
JOINED = "the projections join the heads, and 0 · NaN of another head is NaN; by design"
MASK_CAST = "a mask of 0 and -inf is cast to booleans, which shows what it should hide; unreported"
ONE_KEY_REPEATED = "a key of one position is repeated in the scores, and the value is summed; unreported"
BROADCAST = (
    "tf.matmul corrupts memory where its arguments broadcast, as tf.vectorized_map lets those of the projections, with "
    "oneDNN: https://github.com/tensorflow/tensorflow/issues/117700"
)
