"""``python -m spacy biaffine render``, and the pictures that only it draws."""

import builtins
from xml.etree import ElementTree

import pytest
import spacy
from cli_cases import call, pipeline
from factories import gold_docs
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import Frame, Role, set_frames
from spacy_biaffine.doc.layers import entity_groups
from spacy_biaffine.pictures.displacy import MOST_LETTERS, entities_html, frames_svg, trees_svg

CONLLU = "1\tRain\t_\tNOUN\tNN\t_\t2\tnsubj\t_\t_\n2\tfell\t_\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.spacy"
    DocBin(docs=gold_docs(Vocab())).to_disk(path)
    return path


@pytest.fixture
def conllu(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(CONLLU * 3, encoding="utf8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    pipeline().to_disk(path)
    return path


def texts(svg, name):
    nodes = ElementTree.fromstring(svg).iter()
    return ["".join(n.itertext()) for n in nodes if n.get("class") == f"displacy-{name}"]


def test_trees():
    doc = gold_docs(Vocab())[0]
    first, second = trees_svg(doc)
    assert texts(first, "word") == ["Cold", "rain", "fell", "all", "night", "."]
    assert texts(first, "tag") == ["JJ", "NN", "VBD / ROOT", "DT", "NN", "."]
    assert sorted(texts(first, "label")) == ["amod", "det", "nsubj", "obl", "punct"]
    assert texts(second, "word") == ["Nobody", "slept", "."]


def test_labels_over_text_from_right_to_left_stand_upright():
    """Labels follow their arcs, so all arcs are drawn from left to right."""
    vocab = spacy.blank("ar").vocab
    doc = Doc(vocab, words=["a", "b", "c"], heads=[1, 1, 1], deps=["x", "ROOT", "y"])
    (svg,) = trees_svg(doc)
    nodes = list(ElementTree.fromstring(svg).iter())
    arcs = [node.get("d") for node in nodes if node.get("class") == "displacy-arc"]
    starts = [(float(arc.split(",")[0][1:]), float(arc.split()[-1].split(",")[0])) for arc in arcs]
    assert len(starts) == 2
    assert all(start < end for start, end in starts)
    assert {node.get("side") for node in nodes if node.get("side")} == {"left"}


def test_words_without_an_arc_are_joined_in_pictures_of_frames():
    words = ["Well", ",", "then", "rain", "fell", "on", "the", "town", "."]
    doc = Doc(Vocab(), words=words)
    set_frames(doc, [Frame((doc[4:5],), "fall.01", (Role("A1", (doc[3:4],)),))])
    (svg,) = frames_svg(doc)
    assert texts(svg, "word") == ["Well , then", "rain", "fell", "on the town ."]


def test_trees_without_blanks_and_with_what_xml_can_not_hold():
    words = ["<a>", "\n", "b\x00\x1b\x9f\uffff", "\t"]
    doc = Doc(Vocab(), words=words, heads=[2, 0, 2, 2], deps=["A&B", "dep", "ROOT", "dep"])
    (svg,) = trees_svg(doc)
    assert texts(svg, "word") == ["<a>", "b␀␛��"]
    assert texts(svg, "label") == ["A&B"]


def test_sentences_of_one_word_and_without_a_tree():
    doc = Doc(Vocab(), words=["Rain", "Snow"], deps=["ROOT", "ROOT"], heads=[0, 1])
    assert [texts(svg, "word") for svg in trees_svg(doc)] == [["Rain"], ["Snow"]]
    doc[0].dep_ = ""
    assert [texts(svg, "word") for svg in trees_svg(doc)] == [["Snow"]]
    assert trees_svg(Doc(Vocab(), words=["a"])) == trees_svg(Doc(Vocab())) == []


def test_long_words_are_shortened():
    words = ["x" * 10_000, "y" * MOST_LETTERS]
    (svg,) = trees_svg(Doc(Vocab(), words=words, heads=[1, 1], deps=["a", "ROOT"]))
    shown = texts(svg, "word")
    assert len(shown[0]) < MOST_LETTERS
    assert shown[1] == words[1]


def test_right_to_left():
    words = ["شرب", "محمد"]
    docs = [
        Doc(vocab, words=words, heads=[0, 0], deps=["ROOT", "nsubj"])
        for vocab in (spacy.blank("ar").vocab, Vocab())
    ]
    places = [
        [float(node.get("x")) for node in ElementTree.fromstring(svg).iter() if node.get("x")]
        for svg in (trees_svg(doc)[0] for doc in docs)
    ]
    assert places[0][0] > places[0][-1]
    assert places[1][0] < places[1][-1]


def test_entities():
    doc = Doc(Vocab(), words=["<b>", "x\x00"], ents=["B-<i>", "O"])
    doc.spans["sc"] = [Span(doc, 0, 2, "<u>"), Span(doc, 1, 2, "B&C")]
    flat, nested = entities_html(doc), entities_html(doc, "sc")
    for html in (flat, nested):
        assert "&lt;b&gt;" in html
        assert "x␀" in html
        assert not any(tag in html for tag in ("<b>", "<i>", "<u>"))
    assert "&lt;i&gt;" in flat
    assert "&lt;u&gt;" in nested
    assert "B&amp;C" in nested


def test_groups_of_entities():
    assert entity_groups(gold_docs(Vocab())[0]) == ["sc"]
    (doc,) = pipeline().pipe(["Rain fell ."])
    assert entity_groups(doc) == ["sc"]


def test_page(gold, tmp_path):
    out = tmp_path / "new" / "all.html"
    code, output = call("render", gold, out)
    assert code == 0
    html = out.read_text(encoding="utf8")
    # Trees, relations, graphs and frames.
    assert html.count("<svg") == (2 + 1 + 1 + 2) + (1 + 1 + 1 + 2)
    assert html.count('class="entities"') == html.count('class="spans"') == 2
    assert "15 pictures" in output
    assert '<li value="2"><a href="#2" dir="auto">Yesterday letters' in html
    assert html.index("Cold rain fell all night . Nobody slept .</h2>") < html.index("<svg")


def test_folder(gold, tmp_path):
    out = tmp_path / "pictures"
    code, output = call("render", gold, out, "--layer", "trees", "--layer", "entities")
    assert code == 0
    assert sorted(file.name for file in out.iterdir()) == [
        "0001-entities-1.html",
        "0001-entities-2.html",
        "0001-trees-1.svg",
        "0001-trees-2.svg",
        "0002-entities-1.html",
        "0002-entities-2.html",
        "0002-trees-1.svg",
        "index.html",
    ]
    assert "7 pictures in 8 files" in output
    index = (out / "index.html").read_text(encoding="utf8")
    assert '<a href="0002-trees-1.svg">0002-trees-1.svg</a>' in index
    assert "Yesterday letters came" in index
    assert "amod" in texts((out / "0001-trees-1.svg").read_text(encoding="utf8"), "label")


def test_first(conllu, tmp_path):
    out = tmp_path / "one.svg"
    code, output = call("render", conllu, out, "--first", 1)
    assert code == 0
    assert texts(out.read_text(encoding="utf8"), "word") == ["Rain", "fell"]
    assert "has more Docs than were drawn" in output
    code, output = call("render", conllu, tmp_path / "all.html", "--first", 3)
    assert (tmp_path / "all.html").read_text(encoding="utf8").count("<svg") == 3
    assert "more Docs" not in output


def test_png(conllu, tmp_path):
    pytest.importorskip("resvg_py")
    out = tmp_path / "one.png"
    assert call("render", conllu, out, "--first", 1)[0] == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert call("render", conllu, tmp_path / "pngs", "--format", "png")[0] == 0
    names = sorted(file.name for file in (tmp_path / "pngs").iterdir())
    assert names == [*(f"000{n}-trees-1.png" for n in (1, 2, 3)), "index.html"]


def test_png_without_its_library(conllu, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "resvg_py":
            raise ImportError("No module named 'resvg_py'")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    code, output = call("render", conllu, tmp_path / "one.png", "--first", 1)
    assert code == 1
    assert 'pip install -e ".[png]" in a clone' in output


@pytest.mark.parametrize("kind", ["text", "input", "tokens"])
def test_model(model, conllu, tmp_path, kind):
    text = tmp_path / "a.txt"
    text.write_text("Rain fell", encoding="utf8")
    source = {"text": text, "input": "-", "tokens": conllu}[kind]
    out = tmp_path / "out.html"
    options = ("--model", model, "--layer", "trees")
    code, _ = call("render", source, out, *options, input="Rain fell")
    assert code == 0
    html = out.read_text(encoding="utf8")
    assert html.count("<svg") == (3 if kind == "tokens" else 1)
    assert ">fell<" in html
    assert ">NOUN<" not in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.spacy", "a.html"], "none.spacy does not exist"),
        (["a.txt", "a.html"], "say which pipeline annotates it with --model"),
        (["-", "a.html"], "say which pipeline annotates it with --model"),
        (["gold.spacy", "a.jpg"], "wanted NAME.html"),
        (["gold.spacy", "a.svg"], "there are 15 pictures, too many for a.svg"),
        (["one.spacy", "a.svg"], "entities are drawn as HTML"),
        (["one.spacy", "a.html", "--layer", "trees"], "has nothing to draw: no trees"),
    ],
)
def test_mistakes(gold, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    DocBin(docs=[Doc(Vocab(), words=["Rain"], ents=["B-X"])]).to_disk("one.spacy")
    (tmp_path / "a.txt").write_text("Rain", encoding="utf-8")
    code, output = call("render", *arguments)
    assert code == 1
    assert message in output
    assert not any((tmp_path / name).exists() for name in ("a.html", "a.svg", "a.jpg"))
