"""What Keras documents of its attention and one of its backends does not do."""

_OPS = "https://keras.io/api/ops/nn/"
_MULTIHEAD = "https://keras.io/api/layers/attention_layers/multi_head_attention/"
_GROUPED = "https://keras.io/api/layers/attention_layers/group_query_attention/"

OPS = {
    "rejection.lengths": ("value: The value array with the same shape of `key`.", _OPS),
    "rejection.mask_dtype": (
        "It is a boolean mask where `True` indicates the element should take part in attention. For an additive mask, "
        "users should pass it to bias.",
        _OPS,
    ),
}
NO_HEADS = (
    "When `K` equals `N`, multi-headed attention (MHA) is performed. Otherwise, grouped query attention (GQA) is "
    "performed if `N` is a multiple of `K`.",
    _OPS,
)
LOWEST = (
    "mask: Optional mask array used to filter out logits. It is a boolean mask where `True` indicates the element "
    "should take part in attention.",
    _OPS,
)
ONE_KEY_HEAD = ("multi-query attention (MQA) is performed if `K==1` (a special case of GQA).", _OPS)
MULTIHEAD = {
    "rejection.mask_dtype": (
        "attention_mask: a boolean mask of shape `(B, T, S)`, that prevents attention to certain positions.",
        _MULTIHEAD,
    ),
}
GROUPED = {
    "rejection.lengths": (
        "value: Value tensor of shape `(batch_dim, source_seq_len, feature_dim)` […] "
        "key: Optional key tensor of shape `(batch_dim, source_seq_len, feature_dim)`.",
        _GROUPED,
    ),
    "rejection.mask_dtype": (
        "attention_mask: A boolean mask of shape `(batch_dim, target_seq_len, source_seq_len)`, that prevents "
        "attention to certain positions.",
        _GROUPED,
    ),
}
MAPPED = {
    "purity.vectorized": (
        "This method works similar to tf.map_fn but is optimized to run much faster, possibly with a much larger "
        "memory footprint.",
        "https://www.tensorflow.org/api_docs/python/tf/vectorized_map",
    ),
}
"""Of tf.vectorized_map."""
