"""Our layers and models give what PyTorch, Flax, Keras and transformers give, within what rounding explains."""

import importlib
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from write_parity import FILE, HEAD

from attnspec.cli import cli
from attnspec.errors import Unavailable
from attnspec.parity.case import worst
from attnspec.parity.catalogue import ENTRIES, Entry, chosen
from attnspec.parity.table import ARRAYS, DTYPES, Row, columns, measured

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")  # those of other people's packages


@pytest.fixture(scope="module")
def case_of():
    """Each comparison, prepared once."""
    made = {}

    def make(name):
        if name not in made:
            try:
                made[name] = ENTRIES[name].build(name)
            except Unavailable as error:
                pytest.skip(str(error))
        return made[name]

    return make


@pytest.mark.parametrize("arrays", ARRAYS)
@pytest.mark.parametrize("name", ENTRIES)
def test_ours_agrees_within_what_rounding_explains(case_of, name, arrays):
    pytest.importorskip(arrays)
    for dtype in DTYPES:
        assert case_of(name).ratio(arrays, dtype) <= 1, dtype


@pytest.mark.parametrize("name", ENTRIES)
def test_the_bound_is_far_below_the_states(case_of, name):
    """A bound that nothing can break is a defect: in float32 it is below a tenth of what the states are."""
    case = case_of(name)
    for wanted, error in zip(case.expected, case.errors, strict=True):
        assert (2**-24 * error).max() < wanted.std() / 10 or name.startswith("MiniLM")
        assert (2**-53 * error).max() < wanted.std() / 1e6


FAULTS = {
    "epsilon": ("BERT", {"epsilon": 1e-5}),
    "approximate GELU": ("BERT", {"activation": "gelu_tanh"}),
    "exact GELU": ("ALBERT", {"activation": "gelu"}),
    "one group": ("ALBERT", {"groups": 1}),
    "positions from 0": ("RoBERTa", {"padding": -1}),
    "fewer feed-forward layers": ("MobileBERT", {"feed_forwards": 3}),
    "heads": ("DistilBERT", {"heads": 4}),
}
"""Published differences between models of the family, each in the wrong place."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_no_rounding(fault):
    family = pytest.importorskip("attnspec.parity.transformers_models")
    name, change = FAULTS[fault]
    model = family.FAMILY[name][2]
    case = family.build(name)
    wrong = replace(model, **change)
    parameters = {name: array for name, array in _parameters(family, name).items() if name in wrong.shapes()}
    came = family.ours(wrong, parameters, family.token_inputs(model))
    assert replace(case, ours=came).ratio("numpy", "float64") > SMALLEST_FAULT
    assert replace(case, ours=came).ratio("numpy", "float32") > 1


SMALLEST_FAULT = 1e9
"""In units of the bound; the approximate GELU is the smallest, LayerNorm's epsilon of 1e-5 for 1e-12 the next."""


def _parameters(family, name):
    kind, sizes, model = family.FAMILY[name]
    module = family.randomised(family.theirs(kind, sizes))
    return family.load_pretrained(model, family.weights(module))


def test_mask_and_segments_matter():
    family = pytest.importorskip("attnspec.parity.transformers_models")
    case, model = family.build("BERT"), family.FAMILY["BERT"][2]
    for left_out in ("mask", "segments"):
        inputs = {name: array for name, array in family.token_inputs(model).items() if name != left_out}
        came = family.ours(model, _parameters(family, "BERT"), inputs)
        assert replace(case, ours=came).ratio("numpy", "float32") > 100


def test_other_shapes_are_told():
    family = pytest.importorskip("attnspec.parity.transformers_models")
    case = family.build("BERT")
    with pytest.raises(ValueError, match="wanted shapes"):
        replace(case, ours=lambda convert: case.ours(convert)[:-1]).ratio("numpy", "float64")


def test_nan_is_infinitely_far():
    assert worst(np.array([np.nan, 0.0]), np.array([1.0, 1.0])) == np.inf
    assert worst(np.array([1e-300]), np.array([0.0])) == np.inf
    assert worst(np.array([0.0, 1.0]), np.array([0.0, 4.0])) == 0.25


@pytest.mark.parametrize("module", sorted({entry.module for entry in ENTRIES.values()} - {"sentences"}))
def test_the_catalogue_names_each_comparison(module):
    found = importlib.import_module(f"attnspec.parity.{module}")
    names = found.FAMILY if module == "transformers_models" else found.CASES
    assert list(names) == [name for name, entry in ENTRIES.items() if entry.module == module]


def test_a_missing_package_is_told():
    entry = Entry("transformers", "transformers_models", ("no_such_package",))
    (row,) = measured({"BERT": entry}, ("numpy",))
    assert row.unavailable == "needs no-such-package, not installed (pip install 'attnspec[parity]')"
    assert row.ratios == {}


def test_names_are_found_in_any_case():
    assert list(chosen(("bert",))) == ["BERT"]
    with pytest.raises(ValueError, match=r"wanted a name, or how some begin, of .*'MobileBERT'.* did you mean 'BERT'"):
        chosen(("BERD",))
    with pytest.raises(ValueError, match="came ''"):
        chosen(("",))


def test_names_may_be_only_begun():
    assert list(chosen(("torch.nn.transformere", "bert", "bert"))) == [
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerEncoderLayer, norm first",
        "BERT",
    ]
    assert list(chosen(("torch.nn.transformer",))) == ["torch.nn.Transformer"]


def test_what_does_not_agree_exits_with_1(monkeypatch):
    monkeypatch.setattr("attnspec.parity.table.measured", lambda *_: [Row("BERT", "x 1", {"numpy float64": 2.0})])
    result = CliRunner().invoke(cli, ["parity", "bert"], standalone_mode=False)
    assert result.return_value == 1
    assert "BERT" in result.output


def test_the_table_is_of_these_comparisons():
    """Its digits may be another machine's; its rows, columns and verdicts not."""
    text = FILE.read_text(encoding="utf-8")
    assert text.startswith(HEAD), "run: python tests/write_parity.py"
    lines = text.removeprefix(HEAD).strip().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0] == ["compared with", "package", *columns(ARRAYS)]
    assert [row[0] for row in rows[2:]] == list(ENTRIES), "run: python tests/write_parity.py"
    assert [row[1].partition(" ")[0] for row in rows[2:]] == [entry.package for entry in ENTRIES.values()]
    assert all(re.fullmatch(r"0(\.\d+)?|\de-\d+", cell) for row in rows[2:] for cell in row[2:])
