"""Online softmax in NumPy over tiles of four keys (Milakov & Gimelshein 2018), for faults at and between tiles."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32", "value_range": "sum"}


class Tiles(Steps):
    """Keeps each row's maximum, sum and unnormalised output (B, Hq, L, ·), and rescales them from tile to tile."""

    SIZE = 4

    def run(self):
        scores, visible = self.added(self.capped(self.scores())), self.visible()
        value = self.per_query_head(self.value)
        state = self.start(value)
        for start in range(0, self.shape[3], self.SIZE):
            keys = slice(start, start + self.SIZE)
            state = self.step(state, scores[..., keys], visible[..., keys], value[:, :, keys])
        output, lse = self.end(*state)
        weights = np.where(visible, np.exp(scores - np.where(np.isneginf(lse), 0, lse)), 0)
        return self.finish(output, weights, lse[..., 0])

    def start(self, value):
        """Maximum, sum and output before the first tile; a sink is a key without a value."""
        rows = np.zeros((*self.shape[:3], 1), value.dtype)
        output = np.zeros((*self.shape[:3], value.shape[3]), value.dtype)
        if self.sinks is None:
            return rows - np.inf, rows, output
        return rows + self.sinks.astype(value.dtype)[:, None, None], rows + 1, output

    def step(self, state, scores, visible, value):
        """The state after one more tile (B, Hq, L, keys)."""
        top, total, output = state
        new = np.maximum(top, np.where(visible, scores, -np.inf).max(3, keepdims=True))
        shift = np.where(np.isneginf(new), 0, new)
        terms = np.where(visible, np.exp(scores - shift), 0)
        shrink = np.exp(top - shift)
        total = total * shrink + terms.sum(3, keepdims=True)
        return new, total, output * shrink + self.product(terms, value, visible)

    def product(self, terms, value, visible):
        odd = ~np.isfinite(value)
        seen = visible.astype(value.dtype) @ odd.astype(value.dtype) > 0
        return np.where(seen, np.nan, terms @ np.where(odd, 0, value))

    def end(self, top, total, output):
        """Output, and log-sum-exp (B, Hq, L, 1)."""
        shift = np.where(np.isneginf(top), 0, top)
        return output / np.where(total == 0, 1, total), np.log(total) + shift


attention = Tiles.attention
