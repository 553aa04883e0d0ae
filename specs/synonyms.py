"""What other interfaces call the arguments and keywords of the contract; the one list of their names.

Gathered from PyTorch, JAX, Flax, Keras, flash-attn, xformers, transformers, MLX, ONNX, TensorRT-LLM and FlashInfer.
"""

INPUTS = {
    "query": ("query", "q", "queries", "xq", "query_states", "query_layer", "q_states"),
    "key": ("key", "k", "keys", "xk", "key_states", "key_layer", "k_states"),
    "value": ("value", "v", "values", "xv", "value_states", "value_layer", "v_states"),
}
"""query, key and value → their names, lower case."""

SYNONYMS = {
    "mask": ("attn_mask", "attention_mask", "att_mask", "bool_mask", "src_mask"),
    "bias": ("attn_bias", "attention_bias", "attn_mask", "attention_mask", "mask", "additive_mask", "score_bias"),
    "is_causal": ("causal", "use_causal_mask", "apply_causal_mask", "causal_mask", "unidirectional"),
    "scale": ("sm_scale", "softmax_scale", "scaling", "scale_factor", "qk_scale", "attn_scale", "temperature"),
    "softcap": ("logits_soft_cap", "attn_logits_soft_cap", "soft_cap", "logit_softcap", "logit_cap", "softcapping"),
    "window": ("window_size", "local_window_size", "sliding_window", "sliding_window_size", "local_window"),
    "alibi_slopes": ("slopes", "alibi", "alibi_slope"),
    "sinks": ("sink", "s_aux", "attention_sinks", "attn_sinks", "sink_logits", "learnable_sink"),
    "key_lengths": (
        "key_value_seq_lengths",
        "kv_seq_lengths",
        "kv_lengths",
        "kv_lens",
        "seq_lens",
        "lengths",
        "nonpad_kv_seqlen",
        "cache_seqlens",
        "valid_lens",
    ),
    "query_segments": ("query_segment_ids", "q_segment_ids", "q_segments"),
    "key_segments": ("key_segment_ids", "kv_segment_ids", "kv_segments", "key_value_segment_ids"),
    "dropout_rate": ("dropout_p", "dropout", "dropout_prob", "attn_dropout", "p_dropout"),
    "seed": ("dropout_seed", "rng_seed", "random_seed"),
    "return_weights": (
        "need_weights",
        "return_attn_weights",
        "return_attention_weights",
        "return_attention_scores",
        "output_attentions",
        "return_attn_probs",
        "return_probs",
    ),
    "return_lse": (
        "return_residual",
        "return_residuals",
        "return_softmax_lse",
        "return_logsumexp",
        "return_attn_probs",
        "with_lse",
    ),
}
"""A keyword of the contract → what others call it beside its own name."""

GROUPED = ("enable_gqa", "use_gqa", "gqa")
"""What others call a flag that allows fewer key/value heads; the contract has none."""


def meant_by(parameter: str) -> tuple[str, ...]:
    """The keywords of the contract that a parameter of this name may be, in the order of the contract."""
    return tuple(option for option, names in SYNONYMS.items() if parameter.lower() in (option, *names))
