"""The softcap takes in the bias, declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"softcap_order": "after-bias"}


class Control(Steps):
    def run(self):
        self.capped, self.added = self.added, self.capped
        return super().run()


def attention(query, key, value, *, softcap=None, bias=None, alibi_slopes=None, return_weights=False):
    options = {"softcap": softcap, "bias": bias, "alibi_slopes": alibi_slopes, "return_weights": return_weights}
    return Control.attention(query, key, value, **options)
