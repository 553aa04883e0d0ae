"""The public bug reports that the catalogue is measured by: what broke in released attention code, 2017 to 2026.

The id's letter is the class, one of CLASSES. ``docs/coverage.md`` says what stands for each.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """One public report: owner/repo#number, its title, and the symptom in one sentence.

    ``kind`` marks those that are no fault of attention: "false alarm", "equivalent" or "convention".
    """

    link: str
    title: str
    symptom: str
    kind: str | None = None

    @property
    def url(self) -> str:
        """Where the report stands."""
        return "https://github.com/" + self.link.replace("#", "/issues/")


CLASSES = {
    "A": "fully masked rows",
    "B": "causal flag and alignment",
    "C": "mask semantics",
    "D": "NaN and Inf leaking or hidden",
    "E": "scale",
    "F": "softmax axis and normalisation",
    "G": "head split, merge, GQA map, batch axis",
    "H": "layout and shape edges",
    "I": "dropout and returned weights",
    "J": "gradients",
    "K": "precision and overflow",
    "L": "softcap, sinks, LSE",
    "M": "sliding window",
    "N": "positions",
    "O": "KV cache, paging, packing",
    "P": "transforms, state, determinism",
}
"""The title of each class of reports."""

UNCOVERED: dict[str, str] = {}
"""Reports that no mutant and no control stands for, and why."""

REPORTS: dict[str, Report] = {
    "A2": Report(
        "pytorch/pytorch#103749",
        "SDPA NaN with padding mask",
        "A query whose keys are all masked gives NaN, which spreads in the next layer.",
    ),
    "A3": Report(
        "pytorch/pytorch#41508",
        "MultiheadAttention gradients become NaN",
        "Padding and attention mask together empty a row: NaN in every parameter gradient.",
    ),
    "A6": Report(
        "pytorch/pytorch#63271",
        "multi_head_attention_forward: 3-D attn_mask merged wrongly",
        "Key padding also masks the padded queries, whose rows then are empty and NaN.",
    ),
    "A7": Report(
        "openvinotoolkit/openvino#35959",
        "SDPA bool mask converted to NaN output",
        "A boolean mask that hides everything gives NaN.",
    ),
    "A8": Report(
        "ml-explore/mlx#2395",
        "Safe softmax for SDPA",
        "A row without visible keys gives an unexplained number, another one on each path.",
    ),
    "A9": Report(
        "tracel-ai/cubecl#1070",
        "Flash attention: fix all-masked rows",
        "The comparator takes NaN for a match, so a NaN in empty rows goes unseen.",
    ),
    "A10": Report(
        "Xilinx/brevitas#1591",
        "QSDPA forward/backward NaN",
        "NaN blanked after the softmax: the output is right, the gradients stay NaN.",
    ),
    "A11": Report(
        "Dao-AILab/flash-attention#1778",
        "seq_q longer than seq_k with causal",
        "Bottom-right causality with more queries than keys leaves the first rows empty.",
    ),
    "A13": Report(
        "pytorch/pytorch#109517",
        "Mem-efficient kernel NaN for certain mask patterns",
        "A bias of the lowest finite number over part of the keys gives NaN gradients.",
    ),
    "B1": Report(
        "pytorch/pytorch#103082",
        "Ambiguity of causal mask in SDPA",
        "With one query and cached keys, top-left causality sees the first key only.",
    ),
    "B2": Report(
        "ml-explore/mlx#2835",
        "SDPA does not match PyTorch when lengths differ",
        "Causality is bottom-right here and top-left elsewhere when L ≠ S.",
    ),
    "B3": Report(
        "ml-explore/mlx#2967",
        "Use lower-right causal alignment consistently",
        "Causality is bottom-right for L < S and top-left for L > S.",
    ),
    "B5": Report(
        "microsoft/onnxruntime#29020",
        "is_causal alignment differs between CPU and CUDA",
        "The same node aligns its causal diagonal differently on two devices.",
    ),
    "B6": Report(
        "onnx/onnx#8054",
        "Attention: causal with nonpad_kv_seqlen",
        "With an external cache the causal offset is 0, so a step sees only the first key.",
    ),
    "B8": Report(
        "pytorch/pytorch#99282",
        "is_causal ignored when need_weights=True",
        "Causality is ignored when the weights are requested.",
    ),
    "B11": Report(
        "facebookresearch/xformers#103",
        "Causal mask skipped when no att_mask is passed",
        "Causality is ignored unless a mask is given too.",
    ),
    "B12": Report(
        "google/flax#5591",
        "NNX MHA: is_causal in decode attends only to position 0",
        "A decoding step adds a second, top-left causal mask over its cache.",
    ),
    "B13": Report(
        "huggingface/transformers#30652",
        "Llama sdpa with output_attentions loses causal mask",
        "The path that returns weights loses the causal mask.",
    ),
    "B14": Report(
        "huggingface/transformers#48769",
        "Doge: sdpa attends to future tokens",
        "The model's own mask keeps the kernel's causality from being set.",
    ),
    "B16": Report(
        "jax-ml/jax#19237", "Pallas flash attention causal flag has no effect", "The causal flag changes nothing."
    ),
    "B17": Report(
        "jax-ml/jax#17314",
        "Pallas loop upper bound too small when block_q > block_k",
        "The loop over key tiles ends too early when query tiles are larger than key tiles.",
    ),
    "B19": Report(
        "Mikyx-1/TinyLLM#18",
        "Causal mask skipped in multi-token prefill with cache",
        "A cache is taken to mean one query, so several queries see the future.",
    ),
    "B22": Report(
        "EleutherAI/gpt-neox#1178",
        "kv_cache with flash attention",
        "Top-left causality left on while decoding: a step sees only the first key.",
    ),
    "B23": Report(
        "openvinotoolkit/openvino#37653",
        "GroupQueryAttention: causal attribute not parsed",
        "Causality set to off is not read and stays on.",
    ),
    "C1": Report(
        "lucidrains/x-transformers#160",
        "Incorrect boolean mask in flash path",
        "One helper's mask means blocked, the kernel's means allowed.",
    ),
    "C3": Report(
        "InseeFrLab/torchTextClassifiers#92",
        "LabelAttention mask inverted",
        "The mask is inverted: padding is attended, real tokens are not.",
    ),
    "C4": Report(
        "tensorflow/text#894",
        "Tutorial mask vs tf.keras MHA mask",
        "A mask in which 1 means ignore goes to a layer in which it means attend.",
    ),
    "C5": Report(
        "harvard-edge/cs249r_book#1785",
        "GPT causal mask convention",
        "An additive mask goes to a routine that wants 0 and 1: allowed keys get -1e9.",
    ),
    "C6": Report(
        "pytorch/pytorch#107084",
        "MHA fast path ignores additive float mask",
        "A bias is cast to boolean, so every non-zero one hides its key.",
    ),
    "C8": Report(
        "huggingface/transformers#41443",
        "Bool attention mask in eager_attention_forward",
        "A boolean mask is added to the scores as 0 and 1.",
    ),
    "C9": Report(
        "huggingface/diffusers#14349",
        "Bool attn_mask passed raw to cuDNN op",
        "A boolean mask is read as an additive bias and hides nothing.",
    ),
    "C12": Report("Shujun-He/RibonanzaNet#5", "Attention not masked out", "Masked scores are filled with -1e-9."),
    "C13": Report(
        "huggingface/transformers#14859",
        "Extended attention mask uses -1e4",
        "Masked scores get -1e4, which large scores fall below.",
    ),
    "C14": Report(
        "TransformerLensOrg/TransformerLens#319",
        "IGNORE value to -inf",
        "Masked scores are filled with -1e5, which real scores fall below.",
    ),
    "C15": Report(
        "opendilab/DI-engine#333",
        "Transformer mask bug",
        "The result of the masking is dropped, so the mask does nothing.",
    ),
    "C16": Report(
        "huggingface/pytorch-image-models#2236",
        "eva: mask applied after softmax",
        "The mask is applied to the probabilities, after the softmax.",
    ),
    "C17": Report(
        "hyunwoongko/transformer#40",
        "Attention pad mask",
        "The padding mask lies on the query axis: no key is ever masked.",
    ),
    "C20": Report(
        "patrick-kidger/equinox#190",
        "Attention with mask mapped over wrong axis",
        "Mapping over heads maps the wrong axis of the mask.",
    ),
    "C22": Report(
        "openvinotoolkit/openvino#21217",
        "CPU SDPA accuracy",
        "Masks that are not (B, 1, L, S), and single key/value heads, go wrong.",
    ),
    "C23": Report(
        "keras-team/keras#20488",
        "attention_mask computation in MHA",
        "A mask of lower rank is expanded along the wrong axes.",
    ),
    "C24": Report(
        "tensorflow/tensorflow#60626",
        "MHA._compute_attention_mask for rank > 3",
        "Automatic masks land at fixed axes, wrong for inputs of higher rank.",
    ),
    "C27": Report(
        "autosome-ru/vigg_ribonanza#1",
        "Masking not converted to 2-D",
        "A one-dimensional mask multiplies the query axis, after the softmax.",
    ),
    "C28": Report(
        "jax-ml/jax#23349",
        "dot_product_attention ignores key_value_seq_lengths",
        "Key lengths are ignored unless query lengths are given too.",
    ),
    "C30": Report(
        "tinygrad/tinygrad#2425",
        "Causal mask off by constant",
        "Allowed places of the causal mask get +1 instead of 0, which softmax cancels.",
        kind="equivalent",
    ),
    "D2": Report(
        "Dao-AILab/flash-attention#1745",
        "FA3 propagates NaN from KV-cache padding",
        "NaN in the unused tail of a cache reaches the output.",
    ),
    "D3": Report(
        "vllm-project/vllm#53628",
        "Sliding-window prefix NaNs",
        "NaN in keys beyond the window reaches the output through 0·NaN.",
    ),
    "D4": Report(
        "pytorch/pytorch#141128",
        "CPU SDPA returns zeros for NaN queries",
        "Rows of NaN queries become zeros, which hides the NaN.",
    ),
    "D5": Report(
        "ggml-org/llama.cpp#6438",
        "FlashAttention CUDA fixes",
        "The running maximum starts at -inf: a fully masked first tile gives NaN.",
    ),
    "D7": Report(
        "microsoft/onnxruntime#20521",
        "GQA CPU NaN",
        "A step with several samples and separate cache buffers sometimes gives NaN.",
    ),
    "E2": Report(
        "chelsea0x3b/dfdx#171",
        "MHA divides by wrong scalar",
        "The scale is taken from the model's width, not from one head's.",
    ),
    "E4": Report(
        "Graylab/DL4Proteins-notebooks#12",
        "Attention uses wrong scaling dimension",
        "The scale is taken from the embedding width, not from the head size.",
    ),
    "E5": Report(
        "omihub777/ViT-CIFAR#11",
        "Use per-head dimension for scaling",
        "The scale is taken from all features together, not from one head's.",
    ),
    "E7": Report(
        "BobMcDear/attorch#14",
        "Every head resolves to head 0; scale hard-coded 0.5",
        "Every head reads head 0 on transposed views, and the scale is always 0.5.",
    ),
    "E8": Report("flagos-ai/FlagGems#424", "Attention blow-up", "The scale grows by log2(e) with every key tile."),
    "E10": Report(
        "pytorch/pytorch#184122",
        "MPS: scale not in graph cache key",
        "The scale is missing from a cache's key: the first one stays.",
    ),
    "E11": Report(
        "intel/ipex-llm#12619",
        "Pass attn_scale to fix head_dim padding",
        "The scale is taken from the padded head size.",
    ),
    "F1": Report(
        "labmlai/annotated_deep_learning_paper_implementations#146",
        "Softmax axis in DDPM UNet attention",
        "The softmax runs over the queries instead of the keys.",
    ),
    "F3": Report(
        "PetrochukM/PyTorch-NLP#2",
        "Attention softmax dimension",
        "The softmax runs over the batch, so that all weights are 1.",
    ),
    "F4": Report(
        "FudanNLP/fastNLP#254",
        "DotAttention softmax for 4-D input",
        "The softmax axis is fixed at 2, which is wrong with four axes.",
    ),
    "F5": Report(
        "bytedance/lightseq#74",
        "Warp reduce bug in softmax",
        "The running maximum starts too high, so all-negative scores go wrong.",
    ),
    "G2": Report(
        "reczoo/FuxiCTR#30", "MHA bug for num_heads > 1", "Heads are split by a view without a transpose, along time."
    ),
    "G3": Report(
        "649453932/Chinese-Text-Classification-Pytorch#10",
        "Is the Transformer wrong?",
        "Heads are merged by a view after they were folded into the batch.",
    ),
    "G4": Report(
        "gazelle93/Transformer-Various-Positional-Encoding#1",
        "Bug in MHA",
        "Heads are folded as (B, H) and unfolded as (H, B).",
    ),
    "G6": Report(
        "IBM/TabFormer#14",
        "Batch and sequence axes swapped",
        "Batch and sequence axes are swapped: samples attend to each other.",
    ),
    "G8": Report(
        "onnx/onnx#7274", "GQA repeat interleave", "Key/value heads are tiled where they should be repeated in groups."
    ),
    "G9": Report(
        "tracel-ai/burn#5783",
        "attention: GQA, causal alignment, softcap/bias order",
        "Grouped heads, causal alignment and softcap order differ between two paths.",
    ),
    "G10": Report(
        "EricLBuehler/candle-vllm#52", "Removal of repeat_kv", "Grouped heads go wrong only for 1 < Hkv < Hq."
    ),
    "G11": Report(
        "XunhaoLai/native-sparse-attention-triton#27",
        "flash_attention_varlen backward: wrong head division",
        "The grouped backward pass divides heads wrongly, and dQ is wrong when Dv ≠ Dk.",
    ),
    "H1": Report(
        "pytorch/pytorch#181133", "MPS wrong for permuted q/k/v", "Permuted inputs are read as if they were contiguous."
    ),
    "H5": Report(
        "pytorch/pytorch#191937",
        "Efficient kernel wrong for stride-0 k/v when Lk % 32 == 1",
        "Expanded keys and values, with stride 0, are read wrongly.",
    ),
    "H6": Report(
        "pytorch/pytorch#184330",
        "SDPA returns 0 for q/k head dim 0",
        "A key width of 0 gives zeros instead of the mean of the values.",
    ),
    "H8": Report("pytorch/pytorch#141219", "Core dump in CPU flash op", "An empty input crashes the kernel."),
    "H10": Report(
        "pytorch/pytorch#130196", "Nested tensor MHA corner case", "A batch of one sequence of length 1 loses an axis."
    ),
    "H12": Report(
        "jax-ml/jax#27224",
        "Pallas GPU only right for multiples of block size",
        "Only multiples of the tile size are right: the last tile mixes in junk.",
    ),
    "H13": Report(
        "pytorch/xla#8671",
        "kv_seq_len must divide block_k_major",
        "Lengths that the tile size does not divide go wrong unless padded.",
    ),
    "H14": Report(
        "NVIDIA/TensorRT#2541", "Cross-attention plugin with 1500 keys", "Keys past a fixed number are left out."
    ),
    "H15": Report(
        "flashinfer-ai/flashinfer#4347",
        "Paged kernel incorrect with page sizes > 128",
        "Pages above a certain size give wrong results.",
    ),
    "H16": Report(
        "pytorch/pytorch#97111",
        "TransformerEncoder truncates output",
        "Keys masked in every sample make the output shorter.",
    ),
    "H17": Report(
        "pytorch/pytorch#186434",
        "CK GQA with one query gives garbage",
        "Grouped heads with a single query give garbage.",
    ),
    "I1": Report("karpathy/nanoGPT#240", "Do not drop out in eval mode", "Dropout stays on in evaluation."),
    "I3": Report(
        "meta-pytorch/torchtune#1791",
        "Dropout not handled in SDPA",
        "Dropout that is documented as ignored in evaluation is applied.",
    ),
    "I4": Report(
        "wenet-e2e/wenet#2699",
        "Dropout not disabled for eval with SDPA",
        "Several attention classes drop out in evaluation.",
    ),
    "I5": Report(
        "NVIDIA/torch-harmonics#221",
        "Disable AttentionS2 dropout in eval",
        "Both scaling branches drop out in evaluation.",
    ),
    "I6": Report(
        "patrick-kidger/equinox#287", "deterministic=True ignored", "A deterministic flag is accepted and dropped."
    ),
    "I8": Report(
        "facebookresearch/fairseq#3365",
        "need_head_weights ignored",
        "The returned weights are averaged over heads although all were asked for.",
    ),
    "I10": Report(
        "facebookresearch/xformers#173",
        "Dropout uses the address of the seed",
        "The seed's address is used as the seed: no two runs agree.",
    ),
    "J1": Report(
        "pytorch/pytorch#196678",
        "cuDNN backward NaN grad_q at length % 128 == 64",
        "The padded half of a tile overflows in the backward pass: NaN in dQ.",
    ),
    "J4": Report(
        "pytorch/pytorch#153799",
        "FlexAttention NaN in backward",
        "Two kinds of masking with a ragged length give NaN gradients.",
    ),
    "J5": Report(
        "fla-org/flash-linear-attention#836",
        "dq error for several sequences with D=100",
        "The forward pass is right, dQ is not: padded head columns are not masked.",
    ),
    "J6": Report(
        "Dao-AILab/flash-attention#2402",
        "Softcap formula and backward",
        "The cap is s·tanh(s) instead of c·tanh(s/c), and its value is cached.",
    ),
    "J8": Report(
        "pytorch/pytorch#133671",
        "CPU flash backward differs from math",
        "Two backward passes differ because the upstream gradient's strides did.",
        kind="false alarm",
    ),
    "K2": Report(
        "pytorch/pytorch#60940",
        "fp16 attention overflow (#60939)",
        "Half-precision scores overflow, and the softmax gives NaN.",
    ),
    "K3": Report(
        "ultralytics/ultralytics#24990",
        "Pre-scale query to prevent fp16 overflow",
        "Scaling after the product lets half-precision scores overflow.",
    ),
    "K4": Report("tinygrad/tinygrad#4985", "Float in SDPA", "Half-precision products of long vectors overflow."),
    "K6": Report(
        "pytorch/executorch#20089",
        "Accumulate softmax in fp32",
        "A running sum in half precision stops growing in long rows.",
    ),
    "K10": Report(
        "facebookresearch/xformers#677",
        "Output differs from PyTorch",
        "Two layouts of the same numbers are compared.",
        kind="false alarm",
    ),
    "K11": Report(
        "pytorch/pytorch#187227",
        "32-bit offset overflow with attn_bias",
        "A row offset overflows 32 bits in large masks.",
    ),
    "K12": Report(
        "ml-explore/mlx#2894",
        "Wrong with bool masks above 2^31 elements",
        "A mask index overflows beyond 2^31 elements.",
    ),
    "K13": Report(
        "Dao-AILab/flash-attention#2260",
        "int32 overflow in backward",
        "An offset is multiplied in 32 bits before it is widened.",
    ),
    "K14": Report(
        "Dao-AILab/flash-attention#772",
        "KV cache of 4096 updates wrong batch rows",
        "A batch stride overflows, and other samples' rows are written.",
    ),
    "L1": Report(
        "onnx/onnx#7865", "Softcap in Attention op", "The softcap comes after the mask, so that -inf becomes -c."
    ),
    "L3": Report(
        "ggml-org/llama.cpp#29034",
        "Softcap handling for padded KV tiles",
        "Tile padding is set before the softcap and gets weight.",
    ),
    "L4": Report(
        "pytorch/pytorch#181645", "Flex FLASH LSE off by ln 2", "A natural log-sum-exp is multiplied by ln 2 again."
    ),
    "L6": Report(
        "vllm-project/vllm#43919",
        "LSE base mismatch in DCP decode",
        "Partial results in different bases of the logarithm are merged.",
    ),
    "L7": Report(
        "deepseek-ai/FlashMLA#106", "Golden LSE calculation", "The reference's own log-sum-exp is in the wrong base."
    ),
    "M2": Report(
        "huggingface/transformers#29623",
        "Sliding window differs between back ends",
        "The window holds one key more on one path than on another.",
    ),
    "M4": Report("zml/zml#763", "Sliding window off by one", "The window's left bound is off by one."),
    "M5": Report(
        "keras-team/keras-hub#2186",
        "Gemma2 flash never uses sliding mask",
        "The window is never applied on the fused path.",
    ),
    "M6": Report("jax-ml/jax#32300", "local_window_size ignored without mask", "The window is ignored without a mask."),
    "M7": Report(
        "jax-ml/jax#39576", "cuDNN non-causal window attends to the future", "The window's right bound is ignored."
    ),
    "M8": Report(
        "EricLBuehler/mistral.rs#2094", "Paged decode ignores sliding window", "The window is ignored while decoding."
    ),
    "M10": Report(
        "Dao-AILab/flash-attention#1133",
        "Correctness of window_size",
        "A window of S - 1 differs from causality in the last bits.",
        kind="false alarm",
    ),
    "N1": Report("lucidrains/rotary-embedding-torch#11", "Bug in cache", "The rotation's cache ignores the offset."),
    "N4": Report(
        "mlfoundations/open_lm#4", "Problem in position embedding", "The rotation runs over heads instead of positions."
    ),
    "N5": Report(
        "RobertCsordas/moeut#6",
        "RoPE positions for incremental output",
        "A step's rotation uses the position before the cache is joined.",
    ),
    "N6": Report(
        "labmlai/annotated_deep_learning_paper_implementations#215",
        "Bug in rotary embeddings",
        "Rotation tables are not cut to the rotated part.",
    ),
    "N7": Report(
        "ml-explore/mlx#3071",
        "ALiBi slopes for non-power-of-2 heads",
        "ALiBi slopes of head counts that are no power of two follow the plain rule.",
    ),
    "N8": Report("paiml/aprender#2143", "ALiBi exponent off by one", "The exponent of the ALiBi slopes is off by one."),
    "N9": Report(
        "NVIDIA/TensorRT-LLM#1611",
        "Non-power-of-two ALiBi heads",
        "Two published rules of ALiBi slopes for odd head counts compete.",
        kind="convention",
    ),
    "N10": Report(
        "vllm-project/vllm#945",
        "ALiBi in PagedAttention",
        "The ALiBi distance is off by one throughout a row, which softmax cancels.",
        kind="equivalent",
    ),
    "N13": Report(
        "labmlai/annotated_deep_learning_paper_implementations#185",
        "Transformer-XL shift",
        "The relative shift by padding and viewing drops the wrong end.",
    ),
    "N14": Report(
        "espnet/espnet#2684",
        "Conformer relative shift unmasked",
        "A causal relative shift is used without a mask: later keys get other rows' scores.",
    ),
    "N15": Report(
        "huggingface/transformers#14832",
        "TransformerXL mask off by one",
        "The first memory slot is said to be masked always.",
    ),
    "N17": Report(
        "shenweichen/DeepCTR#379",
        "sin-cos position problem",
        "Neighbouring channels of the encoding use different frequencies.",
    ),
    "N18": Report(
        "gc-os-ai/pyaptamer#526", "PositionalEncoding fails for odd d_model", "The encoding fails for an odd width."
    ),
    "N20": Report(
        "tanjimin/C.Origami#42", "PositionalEncoding model code", "The position is taken from the batch axis."
    ),
    "N21": Report(
        "unslothai/unsloth#4078",
        "position_ids for left-padded batches",
        "All samples share one position vector, wrong with padding on the left.",
    ),
    "O3": Report(
        "harvard-edge/cs249r_book#1953",
        "Cached step excludes current token",
        "A step does not attend to its own token.",
    ),
    "O4": Report(
        "awslabs/keys_values#140",
        "Evicting KV cache corrupts generation",
        "A full ring buffer is overwritten out of order.",
    ),
    "O5": Report(
        "time-series-foundation-models/lag-llama#84",
        "Broken kv_cache",
        "Cached decoding resets, masks and rotates wrongly.",
    ),
    "O6": Report(
        "huggingface/transformers#37574",
        "Wrong SWA cache update at window size",
        "A cache as long as the window keeps the wrong keys.",
    ),
    "O8": Report(
        "scouzi1966/maclocal-api#92",
        "Rotating cache merge breaks positions",
        "Merging caches of different lengths shifts their positions.",
    ),
    "O10": Report(
        "NVIDIA-NeMo/RL#2105",
        "cu_seqlens not propagated",
        "Sequence boundaries are dropped on the way: packed samples see each other.",
    ),
    "O11": Report(
        "fla-org/flash-linear-attention#842",
        "Respect cu_seqlens with attention_mask",
        "A mask of ones overrides the given sequence boundaries.",
    ),
    "O12": Report(
        "NVIDIA/TransformerEngine#1930",
        "Packing plus context parallel",
        "Odd lengths are rounded down: the last token is left out.",
    ),
    "O13": Report(
        "pytorch/pytorch#177378",
        "Flex on jagged inputs crosses sequences",
        "Tokens of other packed sequences are visible.",
    ),
    "O15": Report(
        "NVIDIA/FasterTransformer#270",
        "Decoder cross attention depends on padding",
        "Longer padding of the same memory changes the result.",
    ),
    "O16": Report(
        "mosaicml/examples#257",
        "Slicing for padding plus cache",
        "Positions are cut before they are counted, wrong with padding and a cache.",
    ),
    "P1": Report(
        "pytorch/pytorch#191203",
        "Inductor attention fusion with Tensor scale",
        "Compilation fails on a pattern that runs eagerly.",
    ),
    "P2": Report(
        "pytorch/pytorch#132301",
        "Triton flash x compile silently incorrect",
        "The compiled program rounds where the eager one does not.",
    ),
    "P3": Report("pytorch/pytorch#148545", "Compiled SDPA NaN on second shape", "A second shape recompiles to NaN."),
    "P4": Report(
        "pytorch/pytorch#188764", "vmap with attention mask (#161310)", "A mapped call does not map its mask."
    ),
    "P5": Report(
        "flashinfer-ai/flashinfer#2084",
        "Tensor scales multiplied in place",
        "The caller's scale is multiplied in place by every call.",
    ),
    "P8": Report(
        "pytorch/pytorch#141126",
        "Flex wrong for simple block-sparse mask",
        "A block-sparse mask gives other results than the same mask written out.",
    ),
    "P11": Report(
        "Dao-AILab/flash-attention#54",
        "All zeros on cuda:1",
        "The kernel runs on the default device and leaves zeros on another.",
    ),
    "P12": Report(
        "SHI-Labs/NATTEN#191", "Double backward support", "There is no second derivative; it should fail loudly."
    ),
}
