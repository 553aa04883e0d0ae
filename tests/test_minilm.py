"""The MiniLM that a package brings along: tokens, sentence embeddings, and what is said where it is missing."""

import numpy as np
import pytest

from attnspec.impls.models import minilm

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")
try:
    minilm.folder()
except ValueError as error:
    pytest.skip(str(error), allow_module_level=True)

SENTENCES = [
    "The animal didn't cross the street because it was too tired",
    "The beast stayed on its side of the road, being exhausted",
    "Interest rates rose by half a percent",
]


@pytest.fixture(scope="module")
def weights():
    return minilm.parameters()


@pytest.fixture(scope="module")
def embedded(weights):
    return minilm.embed(weights, *minilm.token_ids(SENTENCES))


@pytest.mark.filterwarnings("default")
def test_embeddings_are_those_of_transformers(embedded):
    """Both in float32, so that the difference is rounding's: of a length of 1, less than a millionth."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    transformers.utils.logging.disable_progress_bar()
    model = transformers.BertModel.from_pretrained(minilm.folder()).eval()
    tokenizer = transformers.BertTokenizer.from_pretrained(minilm.folder())
    given = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    assert np.array_equal(given["input_ids"].numpy(), minilm.token_ids(SENTENCES)[0])
    with torch.no_grad():
        states = model(**given).last_hidden_state
    shown = given["attention_mask"][:, :, None]
    mean = (states * shown).sum(1) / shown.sum(1)
    wanted = torch.nn.functional.normalize(mean).numpy()
    assert np.linalg.norm(embedded - wanted, axis=1).max() < 1e-6


def test_embeddings_are_the_same_with_pytorch(embedded):
    """With JAX too: test_parity has it."""
    pytest.importorskip("torch")
    given = (minilm.native(array, "torch") for array in minilm.token_ids(SENTENCES))
    came = np.asarray(minilm.embed(minilm.parameters("torch"), *given))
    assert np.linalg.norm(came - embedded, axis=1).max() < 1e-6


def test_embeddings_are_near_where_sentences_mean_the_same(embedded):
    nearness = embedded @ embedded.T
    assert np.abs(np.diag(nearness) - 1).max() < 1e-5
    assert nearness[0, 1] > 0.5 > 0.2 > nearness[0, 2]


def test_padding_changes_nothing(weights, embedded):
    alone = minilm.embed(weights, *minilm.token_ids(SENTENCES[2:]))
    assert np.linalg.norm(alone[0] - embedded[2]) < 1e-6


def test_long_sentences_keep_their_end():
    ids, mask = minilm.token_ids(["word " * 300, "word"])
    assert ids.shape == (2, minilm.LONGEST)
    assert [ids[0, 0], ids[0, -1]] == minilm.token_ids([""])[0][0].tolist()  # [CLS] and [SEP]
    assert mask.sum(1).tolist() == [minilm.LONGEST, 3]


def test_no_sentences_are_refused():
    with pytest.raises(ValueError, match="wanted sentences, came none"):
        minilm.token_ids([])


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    with pytest.raises(ValueError, match=r"no-such-package.*pip install 'attnspec\[models\]'"):
        minilm.folder()
