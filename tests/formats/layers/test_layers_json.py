"""JSON lines with every layer: nothing is lost on the way to them and back."""

import json
import random
from importlib.resources import files
from typing import Any

import pytest
import spacy
from numpy.testing import assert_array_equal
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.tokens._serialize import ALL_ATTRS
from spacy.vocab import Vocab

import spacy_biaffine
from spacy_biaffine.doc.graphs import Arc, Frame, Relation, Role
from spacy_biaffine.doc.scores import (
    set_ent_scores,
    set_scored_spans,
    set_token_label,
    set_token_scores,
)
from spacy_biaffine.doc.stored_graphs import graph_group
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.conllu.api import docs_from_conllu, to_conllu
from spacy_biaffine.formats.convert.plan import plan
from spacy_biaffine.formats.convert.run import convert
from spacy_biaffine.formats.layers.read import from_layers_json
from spacy_biaffine.formats.layers.write import layers_text, to_layers_json


def rich_doc() -> Doc:
    doc = spacy.blank("en")("Olga  can't sell Nord Bank. She left. ")
    size = len(doc)
    heads = [2, 0, 4, 4, 4, 6, 4, 4, 9, 9, 9]
    doc = Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        heads=heads,
        deps=["dep"] * size,
        tags=["X", *[""] * (size - 1)],
        pos=["PROPN"] * size,
        morphs=["Number=Sing", "", *["Case=Nom|Number=Plur"] * (size - 2)],
        lemmas=["a"] * size,
    )
    doc[2].norm_ = "could"
    olga = Span(doc, 0, 1, "PER", kb_id="Q1")
    bank = Span(doc, 5, 7, "ORG", span_id="e7")
    doc.set_ents([olga, bank], blocked=[doc[9:10]], missing=[doc[10:11]], default="outside")
    set_ent_scores(doc, dict(zip(doc.ents, [0.5, 0.25], strict=True)))
    set_scored_spans(doc, "sc", [olga, Span(doc, 0, 3, "X", span_id="n1")], [0.125, 1 / 3])
    doc.spans["empty"] = []
    doc.spans["noted"] = SpanGroup(doc, name="noted", attrs={"id": 7, "by": ["me"]}, spans=[bank])
    doc._.relations = [
        Relation(olga, bank, "owns", 0.75),
        Relation(Span(doc, 8, 9, "PER"), bank, "", None),
    ]
    doc._.dep_graph = [Arc(None, doc[4], "root", 0.1), Arc(doc[4], doc[0], "subj", 0.2)]
    roles = (Role("A0", (doc[0:1], doc[8:9]), 0.5), Role("A1", (doc[5:7],), None))
    doc._.frames = [
        Frame((doc[4:5], doc[2:4]), "sell.01", roles, 0.5),
        Frame((doc[9:10],), None, ()),
    ]
    doc._.word_frames = []
    set_token_scores(doc, head_prob=[0.1] * size)
    set_token_label(doc[0], "NP", "super")
    doc.cats = {"news": 1.0}
    return doc


def plain(text: str) -> Doc:
    return spacy.blank("en")(text)


def unspaced() -> Doc:
    return Doc(Vocab(), words=["a", "b"])


def partial_sentences() -> Doc:
    return Doc(Vocab(), words=["a", "b", "c"], sent_starts=[None, True, None])


def no_entities() -> Doc:
    doc = plain("Rain fell")
    doc.set_ents([], default="outside")
    doc._.relations = []
    doc._.frames = []
    return doc


DOCS = {
    "rich": rich_doc,
    "plain": lambda: plain("Rain fell."),
    "blanks": lambda: plain("  Rain\n\nfell. "),
    "one token": lambda: plain("Rain"),
    "one sentence": lambda: Doc(Vocab(), words=["a"], heads=[0], deps=["root"]),
    "empty": lambda: plain(""),
    "unknown spaces": unspaced,
    "some sentence starts": partial_sentences,
    "empty layers": no_entities,
}


def through_docbin(doc: Doc, vocab: Vocab) -> Doc:
    (again,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(vocab)
    return again


def assert_same(one: Doc, other: Doc) -> None:
    """All that a DocBin keeps."""
    vocab = Vocab()
    one, other = through_docbin(one, vocab), through_docbin(other, vocab)
    assert one.text == other.text
    assert one.has_unknown_spaces == other.has_unknown_spaces
    for attribute in {*ALL_ATTRS, "SPACY"} - {"NORM"}:
        assert_array_equal(one.to_array([attribute]), other.to_array([attribute]), attribute)
    # A vocab without a language has no norms.
    assert [t.norm_ or t.text.lower() for t in one] == [t.norm_ or t.text.lower() for t in other]
    assert one.cats == other.cats
    assert set(one.spans) == set(other.spans)
    for layer in ("relations", "dep_graph", "frames", "word_frames"):
        assert str(one._.get(layer)) == str(other._.get(layer))
    for key, group in one.spans.items():
        if key.startswith(graph_group("")):
            continue
        assert list(map(facts, group)) == list(map(facts, other.spans[key]))
        assert dict(group.attrs) == dict(other.spans[key].attrs), key


def facts(span: Span) -> tuple[Any, ...]:
    return span.start, span.end, span.label_, span.kb_id_, span.id_


@pytest.mark.parametrize("name", DOCS)
def test_nothing_is_lost(name: str) -> None:
    doc = DOCS[name]()
    record = to_layers_json(doc)
    again = from_layers_json(json.loads(layers_text(doc)), Vocab())
    assert_same(doc, again)
    assert to_layers_json(again) == record
    schema_of(record)


def schema_of(record: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    text = files("spacy_biaffine").joinpath("formats/layers/schema.json").read_text("utf8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(record)


def test_unknown_is_not_none() -> None:
    assert set(to_layers_json(plain("Rain"))) == {"format", "text", "tokens"}
    record = to_layers_json(no_entities())
    assert record["entities"] == record["relations"] == record["frames"] == []
    assert "word_frames" not in record


def test_what_conllu_keeps_is_kept() -> None:
    text = "# sent_id = 1\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tX=Y\n" + "".join(
        f"{n}\t{word}\t_\t_\t_\t_\t{h}\tdep\t_\tM=1\n" for n, word, h in ((1, "a", 0), (2, "b", 1))
    )
    (doc,) = docs_from_conllu(text + "\n", Vocab())
    again = from_layers_json(json.loads(layers_text(doc)), Vocab())
    assert_same(doc, again)
    assert to_conllu(again) == to_conllu(doc)


def test_many_docs_from_spacy_to_json_and_back(tmp_path: Any) -> None:
    chance = random.Random(3)
    docs = [random_doc(chance) for _ in range(100)]
    write_docbin(docs, tmp_path / "a.spacy")
    for source, target in (("a.spacy", "b.layers.jsonl"), ("b.layers.jsonl", "c.spacy")):
        (job,) = plan([tmp_path / source], tmp_path / target)
        assert not +convert(job, {}).lost
    again = list(read_docbin(tmp_path / "c.spacy", Vocab()))
    assert len(again) == len(docs)
    for one, other in zip(docs, again, strict=True):
        assert_same(one, other)


def random_doc(chance: random.Random) -> Doc:
    """Each layer is there or not."""
    size = chance.randrange(1, 9)
    words = [chance.choice(["Rain", "fell", "é", "雨", "🌧", "\n", "a b"]) for _ in range(size)]
    doc = Doc(Vocab(), words=words, spaces=[chance.random() < 0.6 for _ in words])

    def span(label: str = "") -> Span:
        start = chance.randrange(size)
        return Span(doc, start, chance.randrange(start, size) + 1, label)

    def some() -> range:
        return range(chance.randrange(3))

    if chance.random() < 0.5:
        heads = [chance.randrange(max(i, 1)) if i else 0 for i in range(size)]
        deps = [chance.choice(["x", "y"]) for _ in words]
        doc = Doc(doc.vocab, words=words, heads=heads, deps=deps)
    if chance.random() < 0.5:
        doc.set_ents([span("A")], default=chance.choice(["outside", "missing"]))
    if chance.random() < 0.5:
        doc.spans["sc"] = [span("B") for _ in some()]
    if chance.random() < 0.5:
        doc._.relations = {Relation(span("A"), span("B"), "r") for _ in some()}
    if chance.random() < 0.5:
        doc._.frames = [Frame((span(),), None, (Role("A0", (span(), span())),)) for _ in some()]
    return doc


def test_without_importing_spacy() -> None:
    """The functions of the package are there, and what they need comes when they are called."""
    doc = rich_doc()
    record = spacy_biaffine.to_layers_json(doc)
    assert_same(spacy_biaffine.from_layers_json(record, Vocab()), doc)


def good() -> dict[str, Any]:
    return json.loads(layers_text(rich_doc()))


BAD: dict[str, tuple[Any, str]] = {
    "no format": ({"format": None}, 'needs "format"'),
    "unknown key": ({"entites": []}, "unknown keys: entites"),
    "tokens": ({"tokens": 3}, "needs a list as tokens"),
    "gap": ({"tokens": [{"start": 0, "end": 4}]}, "no token has"),
    "token order": ({"tokens": [{"start": 4, "end": 3}]}, "start < end"),
    "cut": ({"entities": [{"start": 0, "end": 3, "label": "A"}]}, r"\[0, 3\) 'Olg' cuts a token"),
    "outside": ({"spans": {"a": [{"start": 0, "end": 99, "label": "A"}]}}, "is not in the text"),
    "overlap": (
        {"entities": [{"start": 0, "end": 4, "label": "A"}] * 2},
        "overlaps another one; put overlapping spans into a group",
    ),
    "relation": ({"relations": [{"head": 0, "tail": 99, "label": "x"}]}, "id of a span as tail"),
    "an id twice": (
        {"spans": {"a": [{"id": 0, "start": 0, "end": 4, "label": "Z"}]}},
        "has the id 0, which another span has",
    ),
    "arc": ({"dep_graph": [{"head": 99, "dependent": 0, "label": "x"}]}, "from 0 to 10 as head"),
    "frame": ({"frames": [{"predicate": [], "sense": None, "roles": []}]}, "need spans"),
    "scores": ({"token_scores": {"a": [1.0]}}, "a list of 11 values as a"),
    "sentences": ({"sentences": [{"start": 0, "end": 4}]}, "sentences up to token 1 of 11"),
    "attrs": ({"span_attrs": {"x": {}}}, "of no group: x"),
    "cats": ({"cats": {"x": "y"}}, "number as x"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told(name: str) -> None:
    change, message = BAD[name]
    with pytest.raises(ValueError, match="a.jsonl:7: .*" + message):
        from_layers_json({**good(), **change}, Vocab(), "a.jsonl:7")


def test_what_json_has_no_place_for() -> None:
    doc = plain("Rain")
    doc.spans["sc"] = [doc[0:0]]
    with pytest.raises(ValueError, match="no characters"):
        to_layers_json(doc)
    doc.spans["sc"] = SpanGroup(doc, name="sc", attrs={"x": b"a"})
    with pytest.raises(ValueError, match="can't hold the attrs of the span group sc"):
        to_layers_json(doc)
