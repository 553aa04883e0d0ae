"""Our layers learn what needs the order, with PyTorch and with JAX, and cannot without positions."""

import importlib
import math
from functools import partial

import numpy as np
import pytest

from attnspec.cli import _code
from attnspec.impls.layers import Draw
from attnspec.learning.command import WANTED
from attnspec.learning.model import model
from attnspec.learning.task import END, PADDING, Task, is_held_out, spelled
from attnspec.learning.training import accuracy, learn

TASK = Task(shortest=3, longest=4)

STEPS = 250


@pytest.mark.parametrize(("shortest", "longest"), [(0, 3), (4, 3), (3, 11), (-1, 2)])
def test_lengths_that_no_sequence_has_are_refused(shortest, longest):
    with pytest.raises(ValueError, match=f"Task: wanted 1 to 10 digits, .*, came {shortest} to {longest}"):
        Task(shortest, longest)


CEILING = np.mean([1 / math.factorial(n) for n in (3, 4)])
"""Without order at most one arrangement of the same digits is right: the expected share over both lengths."""


@pytest.mark.parametrize("arrays", ["torch", "jax"])
def test_what_was_held_out_is_translated(arrays):
    pytest.importorskip(arrays)
    pytest.importorskip("torch" if arrays == "torch" else "optax")
    run = learn(arrays, TASK, steps=STEPS, held_out=500)
    assert run.accuracy > WANTED
    assert run.losses[-1] < run.losses[0] / 50


def test_without_positions_it_is_not():
    """By chance no more than the ceiling, and four standard deviations of 500 draws."""
    pytest.importorskip("torch")
    run = learn("torch", TASK, positions=False, steps=STEPS, held_out=500)
    assert run.losses[-1] < run.losses[0] / 2  # it learns which words there are, and not their order
    assert run.accuracy < CEILING + 4 * math.sqrt(CEILING * (1 - CEILING) / 500)


@pytest.mark.parametrize("positions", [True, False])
def test_without_positions_order_is_invisible(positions):
    """Whatever the weights, the logits are those of the same digits in another order."""
    some, rng = model(positions), np.random.default_rng(0)
    parameters = some.init(Draw(np.zeros(())))
    batch = TASK.batch(rng, 8, held_out=False)
    sources = batch.sources[(batch.sources != PADDING).all(1)]
    targets = batch.targets[: len(sources)]
    apart = np.abs(some(parameters, sources, targets) - some(parameters, sources[:, ::-1], targets)).max()
    assert apart > 1e-2 if positions else apart < 1e-13


def test_the_same_seed_gives_the_same_run():
    pytest.importorskip("torch")
    first, again, other = (learn("torch", TASK, steps=3, held_out=5, seed=seed).losses for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_libraries_begin_alike():
    """One seed draws the same weights and batches, so that the first losses differ by rounding."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("optax")
    batch, losses = TASK.batch(np.random.default_rng(0), 8, held_out=False), []
    for arrays in ("torch", "jax"):
        module = importlib.import_module(f"attnspec.learning.{arrays}_training")
        parameters = module.Training(model(), 1e-3, 2, seed=0).parameters
        given = (batch.sources, batch.targets)
        native = [torch.from_numpy(x) for x in given] if arrays == "torch" else given
        loss = partial(module.cross_entropy, model())
        compiled = loss if arrays == "torch" else pytest.importorskip("jax").jit(loss)
        losses.append(compiled(parameters, *native).item())
    first, second = losses
    assert first == pytest.approx(second, rel=1e-5)


def test_what_is_held_out_is_never_trained_on():
    rng = np.random.default_rng(0)
    trained, held_out = (TASK.batch(rng, 2000, held_out=held) for held in (False, True))
    assert len(trained.sources) == len(held_out.sources) == 2000
    assert not set(map(tuple, trained.sources)) & set(map(tuple, held_out.sources))
    assert is_held_out(held_out.sources).all()
    both = is_held_out(TASK._draw(rng, 20000)).mean()
    assert 0.08 < both < 0.12


def test_a_translation_is_the_words_backwards():
    source = np.array([[6, 4, 7, PADDING]])
    (target,) = TASK.translated(source).targets
    assert spelled(target) == "four one three"
    assert target.tolist() == [1, 7, 4, 6, END, PADDING]


def test_one_wrong_word_makes_a_translation_wrong():
    batch = TASK.batch(np.random.default_rng(0), 4, held_out=True)
    wrong = batch.targets.copy()
    wrong[0, 1] += 1
    assert accuracy(wrong, batch) == 0.75


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder: exit code, what it printed, and what it complained of."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["attnspec", "learn", *words])
        code = _code()
        return (code, *capsys.readouterr())

    return call


def test_the_command_draws_the_losses(run, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    code, printed, _ = run("torch", "--steps", "2")
    assert code == 1  # two steps are too few
    assert "of 1000 held-out sequences translated without a mistake, after 2 steps" in printed
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("numpy",), "learn: wanted torch or jax, which give gradients, came 'numpy'"),
        (("torch", "--steps", "0"), "0 is not in the range"),
        (("torch", "--steps", "2", "--png", "no/such.png"), "came 'no/such.png' (No such file or directory)"),
    ],
)
def test_what_cannot_be_is_one_line(run, words, message):
    pytest.importorskip("torch")
    code, _, complaint = run(*words)
    assert code == 2
    assert message in complaint
    assert complaint.count("\n") == 1


def test_a_missing_package_is_one_line(run, monkeypatch):
    monkeypatch.setattr("attnspec.learning.command.NEEDS", {"jax": ("no_such_package",), "torch": ()})
    code, _, complaint = run("jax")
    assert (code, complaint.count("\n")) == (2, 1)
    assert "pip install 'attnspec[learn]'" in complaint
