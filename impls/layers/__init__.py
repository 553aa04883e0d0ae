"""The layers above attention, written once over the array API standard, for NumPy, PyTorch, JAX and others like them.

Each layer is a frozen dataclass without state: ``layer.init(draw)`` makes its parameters, ``layer(parameters, x)``
applies it. Shapes: B batch entries, n tokens, S source tokens, width features.
"""

from attnspec.impls.layers.attention import SelfAttention as SelfAttention
from attnspec.impls.layers.convolution import Convolution as Convolution
from attnspec.impls.layers.core import core as core
from attnspec.impls.layers.decoder import Decoder as Decoder
from attnspec.impls.layers.decoder import DecoderLayer as DecoderLayer
from attnspec.impls.layers.dropout import dropout as dropout
from attnspec.impls.layers.embedding import Embedding as Embedding
from attnspec.impls.layers.embedding import LearnedPositions as LearnedPositions
from attnspec.impls.layers.embedding import SinusoidalPositions as SinusoidalPositions
from attnspec.impls.layers.encoder import Encoder as Encoder
from attnspec.impls.layers.encoder import EncoderLayer as EncoderLayer
from attnspec.impls.layers.feedforward import FeedForward as FeedForward
from attnspec.impls.layers.initialise import Draw as Draw
from attnspec.impls.layers.linear import Linear as Linear
from attnspec.impls.layers.masks import causal_mask as causal_mask
from attnspec.impls.layers.masks import padding_mask as padding_mask
from attnspec.impls.layers.masks import padding_mask_of_ids as padding_mask_of_ids
from attnspec.impls.layers.masks import truncate as truncate
from attnspec.impls.layers.multihead import MultiHead as MultiHead
from attnspec.impls.layers.norm import LayerNorm as LayerNorm
from attnspec.impls.layers.perhead import PerHead as PerHead
from attnspec.impls.layers.perhead import one_map as one_map
from attnspec.impls.layers.perhead import per_head as per_head
from attnspec.impls.layers.positions import rotary_embedding as rotary_embedding
from attnspec.impls.layers.recurrent import Recurrent as Recurrent
from attnspec.impls.layers.transformer import Transformer as Transformer
