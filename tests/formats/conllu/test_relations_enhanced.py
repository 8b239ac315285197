"""Enhanced dependencies on doc._.dep_graph, and layers beside a treebank."""

import json
from pathlib import Path

import pytest
from conllu_samples import CONTRACTED, GRAPH, SHORT, block, doc, docs, row
from relation_cases import arcs, docs_in, relations, run, spans
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import DEP_GRAPH, has_graph
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.conllu.api import read_conllu
from spacy_biaffine.formats.conllu.kept import kept_sentences
from spacy_biaffine.formats.relations.api import RelationReport, add_layers, set_enhanced

SAMPLER = Path(__file__).parents[3] / "assets" / "treebank"


SHORT_WITH_DEPS = block(
    row(1, "Rain", 2, "nsubj", deps="2:x"), row(2, "fell", 0, "root", deps="0:root")
)
PARTLY = block(row(1, "Snow", 2, "nsubj", deps="2:x"), row(2, "fell", 0, "root"))
WITHOUT = block(row(1, "Hail", 2, "nsubj"), row(2, "fell", 0, "root"))


def enhanced(read: Doc) -> list[tuple[int | None, int, str]]:
    set_enhanced(read)
    return arcs(read)


def test_paths_over_empty_nodes_become_arcs():
    (read,) = docs(SHORT_WITH_DEPS + GRAPH, n_sents=2)
    assert enhanced(read)[2:] == [
        (3, 2, "nsubj"),
        (3, 2, "conj:and>dep:of:x"),
        (None, 3, "root"),
        (3, 4, "conj:and>cc"),
        (3, 5, "conj:and>nsubj"),
        (3, 6, "advmod:late"),
    ]
    again = Doc(Vocab()).from_bytes(read.to_bytes())
    assert arcs(again) == arcs(read)


def test_longer_paths_circles_and_equal_arcs():
    text = block(
        row("0.1", "e", deps="0:root"),
        row(1, "a", 0, "root", deps="0.1:x|2.1:y|2.2:y"),
        row(2, "b", 1, "dep", deps="1:d|1:d"),
        row("2.1", "e", deps="2.2:p|1:q"),
        row("2.2", "e", deps="2.1:r"),
    )
    assert enhanced(doc(text)) == [
        (None, 0, "root>x"),
        (0, 0, "q>y"),
        (0, 0, "q>r>y"),
        (0, 1, "d"),
    ]


@pytest.mark.parametrize("read", [doc(SHORT), Doc(Vocab()), Doc(Vocab(), ["a"])])
def test_no_enhanced_graph(read):
    set_enhanced(read)
    assert not has_graph(read, DEP_GRAPH)


def test_malformed_deps_of_an_empty_node():
    read = doc(block(row(1, "a", 0, "root", deps="0:root"), row("1.1", "e", deps="nsubj")))
    with pytest.raises(ValueError, match=r"node 1\.1: DEPS 'nsubj' is not HEAD:LABEL"):
        set_enhanced(read)


WALK = {
    "sent_id": "walk-1",
    "tokens": ["Wir", "gehen", "zu", "dem", "See", "."],
    "entities": [{"type": "LOC", "start": 3, "end": 5}, {"type": "PER", "start": 0, "end": 1}],
    "relations": [{"type": "at", "head": 1, "tail": 0}],
    "frames": [
        {
            "predicate": [1],
            "sense": "go.01",
            "roles": [
                {"label": "ARG1", "start": 0, "end": 1},
                {"label": "ARG4", "start": 2, "end": 3},
                {"label": "C-ARG4", "start": 4, "end": 5},
                {"label": "C-ARGM", "start": 5, "end": 6},
            ],
        }
    ],
}


@pytest.fixture
def layers(tmp_path):
    def to_file(*records) -> Path:
        path = tmp_path / "layers.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf8")
        return path

    return to_file


def test_layers(layers):
    report = RelationReport()
    other = CONTRACTED.replace("walk-1", "walk-2")
    other_layers = {**WALK, "sent_id": "walk-2", "entities": [], "relations": []}
    path = layers(other_layers, WALK)
    (read,) = add_layers(docs(other + CONTRACTED, n_sents=2), path, report=report)
    assert spans(read) == [("Wir", "PER"), ("dem See", "LOC")]
    assert [span.start for span in read.ents] == [6, 9]
    assert relations(read) == [("Wir", "at", "dem See")]
    first, second = read._.frames
    assert second.predicate == (read[7:8],)
    assert second.sense == "go.01"
    assert [(role.label, [piece.text for piece in role.spans]) for role in first.roles] == [
        ("ARG1", ["Wir"]),
        ("ARG4", ["zu", "See"]),
        ("C-ARGM", ["."]),
    ]
    assert (report.texts, report.entities, report.relations, report.frames) == (1, 2, 1, 2)


@pytest.mark.parametrize("absent", ["entities", "relations", "frames"])
def test_an_absent_layer_is_not_an_empty_one(layers, absent):
    """It is on no Doc one of whose sentences lacks it, and the others are."""
    empty = {**WALK, "sent_id": "walk-2", "entities": [], "relations": [], "frames": []}
    lacking = {key: value for key, value in empty.items() if key != absent}
    if absent == "entities":
        lacking.pop("relations")
    text = CONTRACTED.replace("walk-1", "walk-2") + CONTRACTED
    for n_sents, path in ((1, layers(lacking, WALK)), (2, layers(lacking, WALK))):
        read, *rest = add_layers(docs(text, n_sents=n_sents), path)
        assert read.has_annotation("ENT_IOB") == ("entities" in lacking)
        assert has_graph(read, "relations") == ("relations" in lacking)
        assert has_graph(read, "frames") == ("frames" in lacking)
        assert all(doc.has_annotation("ENT_IOB") and doc._.relations for doc in rest)
    (read,) = add_layers(docs(CONTRACTED.replace("walk-1", "walk-2")), layers(empty))
    assert read.has_annotation("ENT_IOB")
    assert has_graph(read, "relations") and has_graph(read, "frames")
    assert not (read.ents or read._.relations or read._.frames)


def test_relations_without_entities_are_an_error(layers):
    lacking = {key: value for key, value in WALK.items() if key != "entities"}
    with pytest.raises(FormatError, match="entities need type, start and end"):
        list(add_layers([doc(CONTRACTED)], layers(lacking)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sent_id": "walk-2"}, "no object for the sentence with sent_id walk-1"),
        ({"tokens": ["Wir"]}, r"layers\.jsonl:1: the tokens of walk-1 are .* merged"),
        ({"entities": [{"type": "X", "start": 5, "end": 7}]}, r":1: .* not in the 6"),
        ({"frames": [{"predicate": [6], "sense": "x", "roles": []}]}, r":1: .* not in the 6"),
        ({"frames": [{"predicate": [1], "roles": []}]}, "frames need predicate, sense"),
        ({"frames": [{"predicate": 1, "sense": "x", "roles": []}]}, "frames need predicate, sense"),
    ],
)
def test_bad_layers(layers, changes, message):
    with pytest.raises(FormatError, match=message):
        list(add_layers([doc(CONTRACTED)], layers({**WALK, **changes})))


@pytest.mark.skipif(not SAMPLER.is_dir(), reason="needs the treebank of the repository")
@pytest.mark.parametrize(
    ("split", "counts"),
    [("train", (645, 120, 631, 1606)), ("dev", (125, 30, 106, 281)), ("test", (135, 27, 117, 306))],
)
def test_layers_of_the_sampler(split, counts):
    report = RelationReport()
    treebank = read_conllu(SAMPLER / f"en_sampler-ud-{split}.conllu", Vocab(), by_doc=True)
    path = SAMPLER / f"en_sampler-layers-{split}.jsonl"
    pieces = 0
    for read in add_layers(treebank, path, report=report):
        assert len(list(read.sents)) == len(kept_sentences(read))
        pieces += sum(len(role.spans) for frame in read._.frames for role in frame.roles)
    assert (report.entities, report.relations, report.frames, pieces) == counts


def test_sentence_without_deps_leaves_the_graph_of_a_doc_unknown():
    (read,) = docs(SHORT_WITH_DEPS + WITHOUT, n_sents=2)
    set_enhanced(read)
    assert not has_graph(read, DEP_GRAPH)


@pytest.mark.parametrize("options", [["--n-sents", "9"], ["--by-doc"]])
def test_docs_are_cut_where_deps_begin_and_end(tmp_path, options):
    source, target = tmp_path / "in.conllu", tmp_path / "out.spacy"
    source.write_text(SHORT_WITH_DEPS + WITHOUT + WITHOUT + PARTLY, encoding="utf8")
    code, output = run(source, target, "--form", "conllu", *options)
    assert code == 0
    output = " ".join(output.split())
    assert "sentences without DEPS, their graphs unknown 2" in output
    assert "words without DEPS beside others, no arc 1" in output
    read = docs_in(target)
    assert [len(each) for each in read] == [2, 4, 2]
    assert [has_graph(each, DEP_GRAPH) for each in read] == [True, False, True]
    assert [len(each._.dep_graph) for each in read] == [2, 0, 1]


def test_command(layers, tmp_path):
    source, target = tmp_path / "in.conllu", tmp_path / "out.spacy"
    source.write_text(CONTRACTED, encoding="utf8")
    options = ["--form", "conllu", "--layers", layers(WALK), "--lang", "de"]
    code, output = run(source, target, *options)
    assert code == 0
    assert "frames 1" in " ".join(output.split())
    (read,) = docs_in(target)
    assert relations(read) == [("Wir", "at", "dem See")]
    assert arcs(read) == [(None, 1, "root")]
    assert [token.dep_ for token in read][:2] == ["nsubj", "root"]
    source.write_text(GRAPH, encoding="utf8")
    code, output = run(source, target, "--form", "conllu")
    assert code == 0
    assert "texts 1" in " ".join(output.split())
    assert "arcs 6" in " ".join(output.split())
    source.write_text(CONTRACTED * 3, encoding="utf8")
    assert run(source, target, *options, "--n-sents", "2")[0] == 0
    assert [len(list(read.sents)) for read in docs_in(target)] == [2, 1]
