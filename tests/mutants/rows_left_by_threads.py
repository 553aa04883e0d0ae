"""The rows are divided among the threads; those that are left over stay 0."""

from threadpoolctl import threadpool_info

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.thread_count"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
        if threads > 1 and self.shape[2] > 100:
            output[..., self.shape[2] // threads * threads :, :] = 0
        return output


attention = Mutant.attention
