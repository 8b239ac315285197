"""The attention of encoders that read trees, and its picture."""

import re

import numpy as np
import pytest
import spacy
from factories import TOK2VEC, examples_of, gold_docs
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_biaffine.cli import app
from spacy_biaffine.encoders.tree_attention import tree_attention_of, tree_encoder

pytest.importorskip("matplotlib")

from spacy_biaffine.pictures.plots import draw_tree_attention

LAYERS = {
    "@architectures": "spacy-biaffine.SynG2GLayers.v1",
    "size": 8,
    "layers": 3,
    "heads": 2,
    "tok2vec": TOK2VEC,
}


def make(tok2vec):
    nlp = spacy.blank("en")
    sizes = {"@architectures": "spacy-biaffine.SyntaxSRL.v1", "span_size": 8, "role_size": 8}
    nlp.add_pipe("syntax_srl", config={"model": {**sizes, "tok2vec": tok2vec}})
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    return nlp


def attention(nlp, doc: Doc):
    return tree_attention_of(tree_encoder(nlp.get_pipe("syntax_srl").model), doc)


def test_words(tmp_path):
    nlp = make(LAYERS)
    doc = Doc(nlp.vocab, ["a", " ", "$b$", "c"], heads=[2, 0, 2, 2], deps=["x", "", "ROOT", "y"])
    found = attention(nlp, doc)
    assert found.nodes == ["a", "$b$", "c"]
    assert found.relations.tolist() == [[0, 1, 0], [2, 0, 2], [0, 1, 0]]
    assert found.layers.shape == (3, 3, 3)
    np.testing.assert_allclose(found.layers.sum(axis=2), 1, atol=1e-5)
    for form in ("svg", "png"):
        path = tmp_path / f"tree.{form}"
        draw_tree_attention(found.relations, found.layers, found.nodes, path)
        assert path.stat().st_size > 1000


def test_every_layer_is_drawn(tmp_path):
    layers = np.full((6, 2, 2), 0.5, dtype=np.float32)
    path = tmp_path / "tree.svg"
    draw_tree_attention(np.array([[0, 1], [2, 0]]), layers, ["a", "b"], path)
    titles = re.findall(r"<!-- (relations|layer \d+) -->", path.read_text(encoding="utf-8"))
    assert titles == ["relations", *(f"layer {number}" for number in range(1, 7))]


def test_pieces(tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    from tiny_bert import DEPTH, save_bert

    save_bert(tmp_path)
    nlp = make({"@architectures": "spacy-biaffine.SynG2GTransformer.v1", "name": str(tmp_path)})
    doc = Doc(nlp.vocab, ["rain", "xy"], heads=[1, 1], deps=["x", "ROOT"])
    found = attention(nlp, doc)
    assert found.nodes == ["[CLS]", "rain", "x", "##y", "[SEP]"]
    assert np.argwhere(found.relations == 1).tolist() == [[1, 2], [3, 2]]
    assert found.layers.shape == (DEPTH, 5, 5)


def test_encoders_without_trees():
    assert tree_encoder(make(TOK2VEC).get_pipe("syntax_srl").model) is None


@pytest.mark.filterwarnings("ignore:.*no dependency tree")
def test_command(tmp_path):
    make(LAYERS).to_disk(tmp_path / "model")
    command = ["attention", str(tmp_path / "model"), "Rain fell", "-o", str(tmp_path)]
    result = CliRunner().invoke(app, [*command, "-c", "syntax_srl"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "attention.svg").exists()
    assert not (tmp_path / "embeddings.svg").exists()
    assert CliRunner().invoke(app, command).exit_code == 1
