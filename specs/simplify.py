"""From a problem that fails to the smallest one: Hypothesis shrinks over sizes, options, numbers and seed."""

from collections.abc import Callable, Iterable

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, NoSuchExample

from attnspec.specs.contract import DTYPES
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS
from attnspec.specs.values import DISTRIBUTIONS

SIMPLER_DTYPES = tuple(sorted(DTYPES, key=lambda dtype: dtype != "float32"))


def simplest(recipe: Recipe, fails: Callable[[Recipe], bool], attempts: int = 400) -> Recipe:
    """A recipe no larger than ``recipe`` for which ``fails`` still holds; the same one each time."""
    try:
        return find(
            simpler(recipe),
            fails,
            settings=settings(
                max_examples=attempts,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate, Phase.shrink],
                suppress_health_check=list(HealthCheck),
            ),
        )
    except (NoSuchExample, Flaky):  # found by nothing but the recipe itself, or not twice
        return recipe


@st.composite
def simpler(draw: st.DrawFn, recipe: Recipe) -> Recipe:
    """Recipes with sizes up to, options among, and numbers no stranger than those of ``recipe``."""
    full, old = recipe.shape, dict(recipe.settings)
    kv_heads = draw(_up_to(full.kv_heads))
    group = draw(_up_to(full.heads // max(full.kv_heads, 1)))
    shape = Shape(
        batch=draw(_up_to(full.batch)),
        heads=kv_heads * group,
        kv_heads=kv_heads,
        queries=draw(_up_to(full.queries)),
        keys=draw(_up_to(full.keys)),
        key_dim=draw(_up_to(full.key_dim)),
        value_dim=draw(_up_to(full.value_dim)),
        rank=full.rank if full.rank == 4 or draw(st.booleans()) else 4,
    )
    settings = {option: draw(st.sampled_from((None, *_before(SETTINGS[option], old[option])))) for option in old}
    return Recipe(
        shape,
        draw(st.sampled_from(_before(SIMPLER_DTYPES, recipe.dtype))),
        draw(st.sampled_from(_before(DISTRIBUTIONS, recipe.values))),
        draw(st.integers(0, recipe.seed)),
    ).with_settings(**settings)


def _up_to(size: int) -> st.SearchStrategy[int]:
    return st.integers(min(size, 1), size)


def _before(names: Iterable[str], last: str) -> list[str]:
    """The names up to and with ``last``, in order."""
    ordered = list(names)
    return ordered[: ordered.index(last) + 1]
