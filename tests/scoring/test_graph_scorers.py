"""Scores of relations and dependency graphs, counted by hand, and against the official script."""

import pickle
import shutil
import subprocess

import pytest
from spacy import registry
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import Arc, Relation, set_arcs, set_relations
from spacy_biaffine.formats.conllu.api import docs_from_conllu
from spacy_biaffine.formats.relations.api import set_enhanced
from spacy_biaffine.scoring.graphs import score_dep_graph, score_relations

VOCAB = Vocab()
WORDS = ["Mr.", "Li", "of", "Oslo", "Bank", "lives", "in", "Rome", "."]
LI, MR_LI = (1, 2, "PER"), (0, 2, "PER")
BANK, OSLO, ROME = (3, 5, "ORG"), (3, 4, "LOC"), (7, 8, "LOC")


def related(relations, words=WORDS) -> Doc:
    """A Doc with relations ((start, end, type), (start, end, type), label); None for none."""
    doc = Doc(VOCAB, words=words)
    if relations is not None:
        set_relations(
            doc,
            [
                Relation(Span(doc, *head), Span(doc, *tail), label)
                for head, tail, label in relations
            ],
        )
    return doc


def graph(arcs, words=WORDS) -> Doc:
    """A Doc with arcs (head or None, dependent, label); None for no graph."""
    doc = Doc(VOCAB, words=words)
    if arcs is not None:
        set_arcs(doc, [Arc(None if h is None else doc[h], doc[d], label) for h, d, label in arcs])
    return doc


def scores(score, *pairs, **options) -> dict:
    return score((Example(predicted, gold) for predicted, gold in pairs), **options)


def test_relations():
    gold = [(LI, BANK, "works"), (LI, ROME, "lives"), (BANK, OSLO, "in"), (LI, OSLO, "near")]
    predicted = [
        (LI, BANK, "works"),
        (LI, BANK, "works"),  # the same again
        (LI, (7, 8, "ORG"), "lives"),  # another type
        (OSLO, BANK, "in"),  # the other way round
        (MR_LI, OSLO, "near"),  # other edges
        (LI, ROME, "works"),  # another label
    ]
    found = scores(score_relations, (related(predicted), related(gold)))
    assert found["relations_p"] == pytest.approx(1 / 5)
    assert found["relations_r"] == pytest.approx(1 / 4)
    assert found["relations_f"] == pytest.approx(2 / 9)
    assert found["relations_boundaries_p"] == pytest.approx(2 / 5)
    assert found["relations_boundaries_r"] == pytest.approx(2 / 4)
    assert found["relations_boundaries_f"] == pytest.approx(4 / 9)
    per_type = {
        label: (each["p"], each["r"]) for label, each in found["relations_per_type"].items()
    }
    assert per_type == {
        "in": (0, 0),
        "lives": (0, 0),
        "near": (0, 0),
        "works": pytest.approx((1 / 2, 1)),
    }


def test_relations_are_micro_averaged():
    two, three = related([(LI, BANK, "works"), (LI, ROME, "lives")]), related([(LI, OSLO, "near")])
    nothing = related([])
    found = scores(score_relations, (two, two), (nothing, three), (three, nothing))
    assert found["relations_p"] == pytest.approx(2 / 3)
    assert found["relations_r"] == pytest.approx(2 / 3)


def test_entities_beside_relations():
    gold, predicted = related([]), related([])
    gold.ents = [Span(gold, *LI), Span(gold, *ROME)]
    predicted.ents = [Span(predicted, *LI)]
    gold.spans["sc"] = [Span(gold, *BANK), Span(gold, *OSLO)]
    predicted.spans["sc"] = [Span(predicted, *OSLO)]
    found = scores(score_relations, (predicted, gold))
    assert (found["ents_p"], found["ents_r"]) == (1.0, 0.5)
    found = scores(score_relations, (predicted, gold), spans_key="sc")
    assert (found["spans_sc_p"], found["spans_sc_r"]) == (1.0, 0.5)


def test_arcs():
    gold = [(None, 5, "root"), (5, 1, "A0"), (5, 7, "A1:in"), (1, 0, "title"), (4, 1, "emp")]
    predicted = [
        (None, 1, "root"),
        (5, 1, "A0"),
        (5, 1, "A2"),  # the same arc under another label
        (5, 7, "A1"),  # right up to the colon
        (0, 1, "title"),  # the other way round
        (5, 8, "punct"),
    ]
    found = scores(score_dep_graph, (graph(predicted), graph(gold)))
    assert found["dep_graph_up"] == pytest.approx(2 / 4)
    assert found["dep_graph_ur"] == pytest.approx(2 / 4)
    assert found["dep_graph_uf"] == pytest.approx(2 / 4)
    assert found["dep_graph_lp"] == pytest.approx(1 / 5)
    assert found["dep_graph_lr"] == pytest.approx(1 / 4)
    assert found["dep_graph_lf"] == pytest.approx(2 / 9)
    assert found["dep_graph_euas"] == pytest.approx(4 / 10)
    assert found["dep_graph_eulas"] == pytest.approx(4 / 11)
    assert found["dep_graph_elas"] == pytest.approx(2 / 11)
    assert found["dep_graph_per_type"]["A0"] == pytest.approx({"p": 1, "r": 1, "f": 1})
    assert found["dep_graph_per_type"]["emp"] == {"p": 0, "r": 0, "f": 0}
    assert "root" not in found["dep_graph_per_type"]


def test_labels_of_paths():
    gold = graph([(5, 7, "conj:and>nsubj:x"), (5, 1, "conj:or>obj"), (None, 5, "root")])
    predicted = graph([(5, 7, "conj:or>nsubj"), (5, 1, "obj"), (None, 5, "root")])
    found = scores(score_dep_graph, (predicted, gold))
    assert found["dep_graph_eulas"] == pytest.approx(2 / 3)
    assert found["dep_graph_elas"] == pytest.approx(1 / 3)


def test_other_tokens():
    words = ["Mr.", "Li", "of", "Oslo Bank", "lives", "in", "Ro", "me", "."]
    gold = [(LI, BANK, "works"), (LI, ROME, "lives")]
    predicted = [((1, 2, "PER"), (3, 4, "ORG"), "works"), ((1, 2, "PER"), (6, 8, "LOC"), "lives")]
    found = scores(score_relations, (related(predicted, words), related(gold)))
    assert found["relations_f"] == 1.0
    arcs = graph([(5, 1, "A0"), (5, 7, "A1"), (5, 8, "punct")])
    found = scores(score_dep_graph, (graph([(4, 1, "A0"), (4, 6, "A1")], words), arcs))
    assert (found["dep_graph_lp"], found["dep_graph_lr"]) == pytest.approx((1 / 2, 1 / 3))


@pytest.mark.parametrize(
    ("score", "make", "some"),
    [(score_relations, related, [(LI, BANK, "works")]), (score_dep_graph, graph, [(5, 1, "A0")])],
)
def test_nothing(score, make, some):
    prefix = "relations_" if score is score_relations else "dep_graph_"
    for pairs in ([], [(make(some), make(None))]):
        found = scores(score, *pairs)
        assert all(value is None for name, value in found.items() if name.startswith(prefix))
    for predicted, gold in [([], []), (some, []), ([], some), (None, some)]:
        found = scores(score, (make(predicted), make(gold)))
        ours = {name: each for name, each in found.items() if name.startswith(prefix)}
        per_type = ours.pop(f"{prefix}per_type")
        assert set(ours.values()) == {0.0}
        assert len(per_type) == int(bool(predicted or gold))
    # A Doc without gold does not make the others worse.
    found = scores(score, (make(some), make(some)), (make(some), make(None)))
    assert found[prefix + ("f" if score is score_relations else "lf")] == 1.0


def test_registered():
    for name, options in [("relation_scorer", {"spans_key": "sc"}), ("dep_graph_scorer", {})]:
        score = registry.scorers.get(f"spacy-biaffine.{name}.v1")(**options)
        assert pickle.loads(pickle.dumps(score))([]) == score([])


GOLD = """\
1\tAda\t_\tX\t_\t_\t2\tnsubj\t2:nsubj|4:nsubj:xsubj\t_
2\tcame\t_\tX\t_\t_\t0\troot\t0:root\t_
3\tand\t_\tX\t_\t_\t4\tcc\t4:cc\t_
4\tleft\t_\tX\t_\t_\t2\tconj\t0:root|2:conj:and\t_
5\tBo\t_\tX\t_\t_\t2\tconj\t2:conj:and>nsubj\t_
6\t.\t_\tX\t_\t_\t2\tpunct\t2:punct\t_

1\tGo\t_\tX\t_\t_\t0\troot\t0:root\t_

"""
SYSTEM = (
    GOLD.replace("4:nsubj:xsubj", "4:nsubj")
    .replace("0:root|2:conj:and\t", "2:conj:or\t")
    .replace("2:conj:and>nsubj", "2:conj:or>nsubj|4:obj")
    .replace("2:punct", "4:punct")
)


@pytest.mark.skipif(not shutil.which("udeval"), reason="needs udtools")
def test_agrees_with_the_official_script(tmp_path):
    for name, text in (("gold", GOLD), ("system", SYSTEM)):
        (tmp_path / name).write_text(text, encoding="utf8")
    command = ["udeval", "--verbose", "--counts", "gold", "system"]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=tmp_path)
    rows = {row.split("|")[0].strip(): row.split("|")[1:4] for row in answer.stdout.splitlines()}
    examples = []
    for predicted, gold in zip(
        docs_from_conllu(SYSTEM, VOCAB), docs_from_conllu(GOLD, VOCAB), strict=True
    ):
        set_enhanced(predicted)
        set_enhanced(gold)
        examples.append(Example(predicted, gold))
    ours = score_dep_graph(examples)
    for metric in ("ELAS", "EULAS"):
        right, n_gold, n_system = map(int, rows[metric])
        assert 0 < right < n_gold
        assert ours[f"dep_graph_{metric.lower()}"] == pytest.approx(2 * right / (n_gold + n_system))
    assert ours["dep_graph_eulas"] > ours["dep_graph_elas"]
