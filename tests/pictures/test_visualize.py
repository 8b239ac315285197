"""Pictures of a tagger, and the command that draws them."""

import numpy as np
import pytest
import spacy
from factories import LAN, TOK2VEC, examples_of, gold_docs
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from spacy import displacy
from spacy.displacy.render import DEFAULT_LABEL_COLORS
from spacy.tokens import Span
from typer.testing import CliRunner

from spacy_biaffine.cli import app
from spacy_biaffine.models.tagger_model import attention_of, label_embeddings
from spacy_biaffine.pictures.plots import (
    MAX_LABELS,
    draw_attention,
    draw_embeddings,
    principal_components,
)


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    model = {**LAN, "lstm_layers": 3, "tok2vec": TOK2VEC}
    nlp.add_pipe("label_attention_tagger", config={"model": model})
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    return nlp


def test_attention_of_a_doc(nlp):
    pipe = nlp.get_pipe("label_attention_tagger")
    doc = nlp.make_doc("Cold rain  fell.")
    layers = attention_of(pipe.model, doc)
    assert [weights.shape for weights in layers] == [(4, len(pipe.labels))] * 3
    for weights in layers:
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    (tags,) = pipe.predict([doc])
    assert layers[-1].argmax(axis=1).tolist() == tags.labels[tags.labels >= 0].tolist()


def test_label_embeddings(nlp):
    pipe = nlp.get_pipe("label_attention_tagger")
    vectors = label_embeddings(pipe.model)
    assert vectors.shape == (len(pipe.labels), 2 * LAN["lstm_hidden"])


@pytest.mark.parametrize("suffix", [".svg", ".png"])
@pytest.mark.parametrize("n_labels", [1, 3, MAX_LABELS + 100])
def test_pictures(tmp_path, suffix, n_labels):
    rng = np.random.default_rng(0)
    layers = [rng.dirichlet(np.ones(n_labels), size=2).astype("f") for _ in range(2)]
    labels = [f"L{n}" for n in range(n_labels)]
    files = tmp_path / f"attention{suffix}", tmp_path / f"embeddings{suffix}"
    draw_attention(layers, ["été", "$x_1$"], labels, files[0])
    draw_embeddings(rng.normal(size=(n_labels, 8)).astype("f"), labels, files[1])
    assert all(file.stat().st_size > 1000 for file in files)


@pytest.mark.parametrize("letters", [3, 70])
def test_names_are_readable(letters, monkeypatch):
    """All names are within the picture, and none lies upon another one or upon a heat map.

    The extent of a Text: that of an annotation would have its line, too.
    """
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: figures.append(figure))
    rng = np.random.default_rng(0)
    labels = [f"{n:x>{letters}}" for n in range(MAX_LABELS)]
    layers = [rng.dirichlet(np.ones(MAX_LABELS), size=4).astype("f") for _ in range(2)]
    draw_attention(layers, ["a", "word", "W" * letters, "."], labels, "-")
    draw_embeddings(rng.normal(size=(MAX_LABELS, 8)).astype("f"), labels, "-")
    for figure, per_axes in zip(figures, (MAX_LABELS + 4, MAX_LABELS), strict=True):
        FigureCanvasAgg(figure).draw()
        maps = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        names = [
            Text.get_window_extent(text)
            for axes in maps
            for text in (*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels())
        ]
        assert len(names) == len(maps) * per_axes
        for number, box in enumerate(names):
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
            assert not any(box.shrunk(0.9, 0.7).overlaps(other) for other in names[:number])
            assert len(maps) == 1 or not any(box.overlaps(axes.bbox) for axes in maps)


def test_principal_components():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(30, 2)) * [5, 2]
    directions, _ = np.linalg.qr(rng.normal(size=(6, 2)))
    places = principal_components((plane @ directions.T + 7).astype("f"))
    assert places.shape == (30, 2)
    distances = np.linalg.norm(plane[:, None] - plane[None], axis=-1)
    found = np.linalg.norm(places[:, None] - places[None], axis=-1)
    np.testing.assert_allclose(found, distances, atol=1e-3)


def test_command(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    arguments = [str(tmp_path / "model"), "Cold rain fell", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["attention", *arguments, "--format", "png"])
    assert result.exit_code == 0, result.output
    names = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert names == ["attention.png", "embeddings.png"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("  ", [], "no words"),
        ("Rain", ["-c", "tagger"], "no label_attention_tagger called 'tagger'"),
        ("Rain", ["-c", "tagger"], "Try --component label_attention_tagger."),
    ],
)
def test_command_that_cannot_be_done(nlp, tmp_path, text, options, message):
    nlp.to_disk(tmp_path / "model")
    result = CliRunner().invoke(app, ["attention", str(tmp_path / "model"), text, *options])
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())


def test_command_without_a_pipeline():
    result = CliRunner().invoke(app, ["attention", "no_such_pipeline", "Rain"])
    assert result.exit_code == 1
    assert "Can't find model 'no_such_pipeline'" in " ".join(result.output.split())


def test_displacy_colors_of_corpora_types():
    """Through the entry point: types that displaCy does not know have their color."""
    doc = spacy.blank("en")("Birds sing")
    doc.ents = [Span(doc, 0, 1, "Peop"), Span(doc, 1, 2, "Unheard-of")]
    html = displacy.render(doc, style="ent")
    assert html.count(DEFAULT_LABEL_COLORS["PERSON"]) == 1
