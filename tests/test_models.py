"""What the papers say of the models that no package has, and of what BERT's relatives do otherwise."""

from itertools import pairwise

import numpy as np
import pytest

from attnspec.impls.layers import Draw
from attnspec.impls.models.albert import Albert
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.gru import Gru
from attnspec.impls.models.mobilebert import MobileBert
from attnspec.impls.models.roberta import Roberta
from attnspec.impls.models.sembert import Roles, SemBert, Words
from attnspec.impls.models.sesamebert import SesameBert, SqueezeExcitation, blur, gaussian_kernel
from attnspec.impls.models.spread import PIECE, spread

BERT = Bert(vocabulary=30, width=12, layers=2, heads=3, hidden=20, length=10)
IDS = np.array([[4, 7, 9, 11, 3], [5, 6, 0, 0, 0]])
MASK = IDS != 0
RNG = np.random.default_rng(0)


def drawn(model, seed=0):
    return model.init(Draw(np.zeros(()), "xavier", seed))


@pytest.mark.parametrize(("size", "sigma"), [(1, 0.5), (3, 1.0), (5, 2.0)])
def test_the_kernel_sums_to_one(size, sigma):
    kernel = gaussian_kernel(size, sigma)
    assert len(kernel) == size
    assert sum(kernel) == pytest.approx(1, abs=1e-15)
    assert kernel == kernel[::-1]
    assert all(a < b for a, b in pairwise(kernel[: size // 2 + 1]))


@pytest.mark.parametrize(("size", "sigma"), [(2, 1.0), (0, 1.0), (3, 0.0)])
def test_what_is_no_kernel_is_refused(size, sigma):
    with pytest.raises(ValueError, match="wanted an odd size and a positive sigma"):
        gaussian_kernel(size, sigma)


def test_a_constant_stays_what_it_is_when_blurred():
    constant = np.ones((2, 5, 1)) * RNG.normal(size=(2, 1, 4))
    for mask in (None, MASK):
        assert np.abs(blur(constant, gaussian_kernel(3, 1.0), mask) - constant).max() < 1e-15


def test_a_blur_is_the_weighted_mean_of_the_neighbours():
    x, (left, middle, right) = RNG.normal(size=(1, 5, 4)), gaussian_kernel(3, 1.0)
    came = blur(x, [left, middle, right])
    assert came[0, 2] == pytest.approx(left * x[0, 1] + middle * x[0, 2] + right * x[0, 3])
    assert came[0, 0] == pytest.approx((middle * x[0, 0] + right * x[0, 1]) / (middle + right))


def test_padding_does_not_leak_into_a_blur():
    x = RNG.normal(size=(2, 5, 4))
    poisoned = np.where(MASK[:, :, None], x, 1e9)
    kernel = gaussian_kernel(3, 1.0)
    assert np.array_equal(blur(x, kernel, MASK)[MASK], blur(poisoned, kernel, MASK)[MASK])


def test_sesamebert_without_blur_is_bert():
    model = SesameBert(BERT, size=1)
    parameters = drawn(model)
    wanted = BERT.states({n: a for n, a in parameters.items() if not n.startswith("excitation")}, IDS, mask=MASK)
    came = model.states(parameters, IDS, mask=MASK)
    assert all(np.array_equal(a, b) for a, b in zip(came, wanted, strict=False))
    assert len(came) == len(wanted) + 1


def test_sesamebert_blurs():
    parameters = drawn(SesameBert(BERT))
    sharp, blurred = (SesameBert(BERT, size).states(parameters, IDS, mask=MASK) for size in (1, 3))
    assert np.array_equal(sharp[0], blurred[0])
    assert np.abs(sharp[1] - blurred[1]).max() > 0.01


def test_layers_that_matter_alike_are_summed_alike():
    """With W₂ and b₂ of 0 every layer has the weight σ(0) = ½."""
    layer, states = SqueezeExcitation(3, 2), RNG.normal(size=(2, 3, 5, 4))
    parameters = drawn(layer) | {"outer.weight": np.zeros((3, 2)), "outer.bias": np.zeros(3)}
    assert np.abs(layer(parameters, states) - states.sum(1) / 2).max() < 1e-15


def test_layers_are_weighed_between_0_and_1_and_without_padding():
    layer, states = SqueezeExcitation(3, 2), RNG.normal(size=(2, 3, 5, 4))
    weights = layer.weights(drawn(layer), states, mask=MASK)
    assert ((weights > 0) & (weights < 1)).all()
    poisoned = np.where(MASK[:, None, :, None], states, 1e9)
    assert np.abs(layer.weights(drawn(layer), poisoned, mask=MASK) - weights).max() < 1e-6


WORDS = np.array([[-1, 0, 0, 1, -1], [-1, 0, -1, -1, -1]])
LABELS = np.array([[[1, 2], [0, 3]], [[1, 0], [0, 0]]])
SEM = SemBert(BERT, labels=5, predicates=2, role_width=4, outputs=3)


def states_of(parameters):
    return SEM.states(parameters, IDS, words=WORDS, labels=LABELS, mask=MASK)


def test_words_without_roles_are_berts():
    """With an embedding of 0, and so a GRU that stays at 0, the joined states are BERT's words beside 0."""
    parameters = drawn(SEM)
    parameters["roles.embedding.weight"] = np.zeros((5, 4))
    *bert, joined = states_of(parameters)
    wanted = BERT.states({n[5:]: a for n, a in parameters.items() if n.startswith("bert.")}, IDS, mask=MASK)
    assert all(np.array_equal(a, b) for a, b in zip(bert, wanted, strict=True))
    assert np.array_equal(joined[:, :, 12:], np.zeros((2, 2, 3)))
    assert np.abs(joined[:, :, :12]).max() > 0


def test_roles_are_told_apart():
    parameters = drawn(SEM)
    joined = states_of(parameters)[-1]
    others = SEM.states(parameters, IDS, words=WORDS, labels=LABELS[:, ::-1], mask=MASK)[-1]
    assert np.array_equal(joined[:, :, :12], others[:, :, :12])
    assert np.abs(joined[:, :, 12:] - others[:, :, 12:]).max() > 1e-3


def test_a_word_is_the_maximum_over_its_own_tokens():
    layer, x = Words(4, kernel=2), RNG.normal(size=(1, 5, 4))
    parameters, words = drawn(layer), np.array([[-1, 0, 0, 1, -1]])
    came = layer(parameters, x, words, 3)
    weight, zero = parameters["dense.weight"], np.zeros(4)
    pairs = {0: [(x[0, 1], x[0, 2]), (x[0, 2], zero)], 1: [(x[0, 3], zero)]}
    for word, some in pairs.items():
        wanted = np.max([np.maximum(weight @ np.concatenate(pair), 0) for pair in some], axis=0)
        assert came[0, word] == pytest.approx(wanted, abs=1e-14)
    assert np.array_equal(came[0, 2], zero)  # a word that has no token


def test_the_number_of_predicates_is_checked():
    layer = Roles(5, 2, 4, 3)
    with pytest.raises(ValueError, match=r"labels \(B, 2, w\) of integers, came int64 \(1, 3, 2\)"):
        layer(drawn(layer), np.zeros((1, 3, 2), int))


@pytest.mark.parametrize("backwards", [False, True])
def test_the_gru_is_pytorchs(backwards):
    torch = pytest.importorskip("torch")
    theirs = torch.nn.GRU(4, 6, batch_first=True, bidirectional=backwards).double()
    end = "l0_reverse" if backwards else "l0"
    names = {"input": "ih", "hidden": "hh"}
    kinds = ("weight", "bias")
    state = theirs.state_dict()
    parameters = {f"{n}.{k}": state[f"{k}_{names[n]}_{end}"].numpy() for n in names for k in kinds}
    x = RNG.normal(size=(2, 5, 4))
    wanted = theirs(torch.from_numpy(x))[0].detach().numpy()
    wanted = wanted[..., 6:] if backwards else wanted
    assert np.abs(Gru(4, 6, backwards)(parameters, x) - wanted).max() < 1e-14


def test_robertas_positions_count_what_is_no_padding():
    ids = np.array([[5, 6, 1, 7, 1]])
    assert Roberta(30, 12, 1, 3, 20).counted(ids).tolist() == [[2, 3, 1, 4, 1]]


def test_albert_has_one_layer_for_all():
    one, many = (Albert(30, 6, 12, layers, 3, 20) for layers in (1, 12))
    assert one.shapes() == many.shapes()
    assert len(many.states(drawn(many), IDS)) == 13


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bert(30, 12, 2, 5, 20), "heads that divide 12, came 5"),
        (lambda: MobileBert(30, 12, 2, 4, 20, inner=6), "heads that divide 6, came 4"),
        (lambda: BERT(drawn(BERT), np.zeros((1, 11), int)), r"ids \(B, n\), n ≤ 10, came \(1, 11\)"),
        (lambda: BERT(drawn(BERT), np.zeros(4, int)), r"ids \(B, n\) of integers, came int64 \(4,\)"),
        (lambda: BERT(drawn(BERT), IDS + 30), "token ids from 0 to 29"),
        (lambda: BERT({}, IDS), "did not come: embeddings.tokens.weight"),
        (lambda: BERT(drawn(BERT), IDS, segments=IDS), "token ids from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_models_without_segments_refuse_them():
    model = Bert(30, 12, 1, 3, 20, 10, segments=0)
    with pytest.raises(ValueError, match="no segments"):
        model(drawn(model), IDS, segments=IDS * 0)


def test_models_without_a_pooler_do_not_pool():
    model = Bert(30, 12, 1, 3, 20, 10, pooler=False)
    parameters = drawn(model)
    with pytest.raises(ValueError, match="wanted a model with a pooler"):
        model.pool(parameters, model(parameters, IDS))


def test_a_batch_in_pieces_is_the_batch():
    """Pieces of 51 sequences and a last one of 48, with padding of their own."""
    ids = RNG.integers(1, 30, (150, 10))
    mask = np.arange(10) < RNG.integers(1, 11, (150, 1))
    parameters = drawn(BERT)
    assert ids.size > 2 * PIECE
    assert np.abs(spread(BERT, parameters, ids, mask=mask) - BERT(parameters, ids, mask=mask)).max() < 1e-13
