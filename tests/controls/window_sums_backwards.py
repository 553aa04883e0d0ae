"""Under a window the values are summed from the last key to the first: other last bits than under causality."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}
REPORTS = ("M10",)


class Control(Steps):
    def weighted(self, weights, visible):
        if self.window is None:
            return super().weighted(weights, visible)
        self.value = self.value[:, :, ::-1]
        return super().weighted(weights[..., ::-1], visible[..., ::-1])


attention = Control.attention
