"""SesameBERT: BERT that looks at neighbours through a Gaussian blur, and at all its layers at once.

Su & Cheng, *SesameBERT: Attention for Anywhere* (2019), section 3: squeeze and excitation over the layers (Hu et al.,
2018), and Gaussian blurring of the context. Here the context is what keys and values come from, and at the ends of a
sequence the kernel is cut to the tokens that are there and sums to 1 again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace, device

from attnspec.impls.layers.encoder import EncoderLayer
from attnspec.impls.layers.feedforward import relu
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array
from attnspec.impls.layers.residual import residual
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.model import Model, States, keys_of


def gaussian_kernel(size: int, sigma: float) -> list[float]:
    """exp(−t²/2σ²), t from −(size − 1)/2 to (size − 1)/2, divided by the sum. ValueError for an even size or σ ≤ 0."""
    if size < 1 or size % 2 == 0 or sigma <= 0:
        raise ValueError(f"gaussian_kernel: wanted an odd size and a positive sigma, came {size} and {sigma}")
    weights = [math.exp(-((t / sigma) ** 2) / 2) for t in range(-(size // 2), size // 2 + 1)]
    return [weight / sum(weights) for weight in weights]


def blur(x: Array, kernel: list[float], mask: Array | None = None) -> Array:
    """``x`` (B, n, width) averaged with its neighbours by ``kernel``, of tokens that ``mask`` (B, n) shows."""
    xp, (batch, length, _) = array_namespace(x), x.shape
    shown = xp.ones((batch, length, 1), dtype=x.dtype, device=device(x))
    shown = shown if mask is None else shown * xp.astype(mask, x.dtype)[:, :, None]
    reach = len(kernel) // 2
    sums = [_taps(y, kernel, reach) for y in (x * shown, shown)]
    there = sums[1] > 0  # a token far inside the padding sees none, and stays as it is
    return xp.where(there, sums[0] / xp.where(there, sums[1], xp.ones_like(sums[1])), x)


def _taps(x: Array, kernel: list[float], reach: int) -> Array:
    """Σ_t kernel_t·x_{i+t}, zeros beyond the ends."""
    xp = array_namespace(x)
    ends = xp.zeros((x.shape[0], reach, x.shape[2]), dtype=x.dtype, device=device(x))
    padded = xp.concat([ends, x, ends], axis=1)
    return sum((padded[:, t : t + x.shape[1], :] * weight for t, weight in enumerate(kernel)), start=0 * x)


@dataclass(frozen=True)
class GaussianLayer(EncoderLayer):
    """BERT's encoder layer whose keys and values are those of the blurred states; queries stay sharp."""

    size: int = 3
    sigma: float = 1.0

    def check(self) -> None:
        """ValueError for a kernel that is none."""
        gaussian_kernel(self.size, self.sigma)

    def __call__(self, parameters: Mapping[str, Array], x: Array, *, mask: Array | None = None) -> Array:  # type: ignore[override]
        """Apply it. ``mask`` (B, n) is True at tokens that are no padding."""
        part = self.bind(parameters, x)
        source = blur(x, gaussian_kernel(self.size, self.sigma), mask)

        def attend(y: Array) -> Array:
            return part["attention"](y, source=source, mask=keys_of(mask))

        x = residual(x, attend, part["attention_norm"], norm_first=False)
        return residual(x, part["feed_forward"], part["feed_forward_norm"], norm_first=False)


@dataclass(frozen=True)
class SqueezeExcitation(Layer):
    """States (B, n, width) of ``layers`` layers to their sum (B, n, width), each weighted by how much it matters.

    Squeeze: the mean over tokens and features. Excite: σ(W₂·relu(W₁·z)), ``narrow`` numbers in between. Hu et al.,
    *Squeeze-and-Excitation Networks* (2018), equations 2 to 4, with layers for channels.
    """

    layers: int
    narrow: int

    def parts(self) -> dict[str, Layer]:
        """inner and outer, the two linear maps."""
        return {"inner": Linear(self.layers, self.narrow), "outer": Linear(self.narrow, self.layers)}

    def __call__(self, parameters: Mapping[str, Array], states: Array, *, mask: Array | None = None) -> Array:
        """Weigh and sum states (B, layers, n, width). ``mask`` (B, n): tokens of padding are not squeezed."""
        xp = array_namespace(states)
        weights = self.weights(parameters, states, mask=mask)  # (B, layers)
        return xp.sum(states * weights[:, :, None, None], axis=1)

    def weights(self, parameters: Mapping[str, Array], states: Array, *, mask: Array | None = None) -> Array:
        """(B, layers), each between 0 and 1."""
        part, xp = self.bind(parameters, states), array_namespace(states)
        squeezed = xp.mean(states, axis=3)  # (B, layers, n)
        shown = xp.ones_like(squeezed) if mask is None else xp.astype(mask, states.dtype)[:, None, :] + 0 * squeezed
        z = xp.sum(squeezed * shown, axis=2) / xp.sum(shown, axis=2)
        excited = part["outer"](relu(part["inner"](z[:, None, :])))[:, 0, :]
        return 1 / (1 + xp.exp(-excited))


@dataclass(frozen=True)
class SesameBert(Model):
    """ids (B, n) to states (B, n, width): those of ``bert``, blurred, and last the weighted sum of all its layers.

    size and sigma: of the kernel, 1 being no blur; narrow: between the two maps of the excitation.
    """

    bert: Bert
    size: int = 3
    sigma: float = 1.0
    narrow: int = 4

    def parts(self) -> dict[str, Layer]:
        """bert's own parts under their own names, and excitation."""
        bert = self.bert
        layer = GaussianLayer(
            bert.width,
            bert.heads,
            bert.hidden,
            bert.activation,
            epsilon=bert.epsilon,
            attention=bert.attention,
            size=self.size,
            sigma=self.sigma,
        )
        blurred: dict[str, Layer] = {f"layers.{i}": layer for i in range(bert.layers)}
        return {**bert.parts(), **blurred, "excitation": SqueezeExcitation(bert.layers, self.narrow)}

    def states(
        self,
        parameters: Mapping[str, Array],
        ids: Array,
        *,
        mask: Array | None = None,
        segments: Array | None = None,
    ) -> States:
        """The states of ``ids`` (B, n). ValueError for parameters, ids or shapes that do not fit."""
        part, xp = self.bind(parameters, ids), array_namespace(ids)
        self.want_tokens(ids, self.bert.longest, mask, segments=segments)
        states = [part["embeddings"](ids, segments=segments)]
        for i in range(self.bert.layers):
            states.append(part[f"layers.{i}"](states[-1], mask=mask))
        return [*states, part["excitation"](xp.stack(states[1:], axis=1), mask=mask)]
