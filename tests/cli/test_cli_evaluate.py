"""``python -m spacy biaffine evaluate``, and the layers that it scores."""

import json

import pytest
import spacy
from cli_cases import call
from factories import FACTORIES, bare, examples_of, gold_docs, set_spans
from spacy.tokens import Doc, DocBin, Token
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.doc.graphs import set_relations
from spacy_biaffine.doc.stored_graphs import graph_group
from spacy_biaffine.scoring.evaluation import evaluate

SENTENCE = """# text = {text}
1\tCold\t_\tADJ\tJJ\t_\t2\tamod\t_\t_
2\train\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tfell\t_\tVERB\tVBD\t_\t0\troot\t_\t_
4\t.\t_\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Trees, learned by heart, and tags from another tagger that hardly learns any."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    FACTORIES[0].add_to(nlp)
    FACTORIES[1].add_to(nlp)
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    optimizer = Adam(0.01, L2=0.0, grad_clip=1.0)
    for _ in range(60):
        nlp.update(
            examples_of(gold_docs(nlp.vocab)), sgd=optimizer, exclude=["label_attention_tagger"]
        )
    nlp.config["corpora"] = {"dev": {"given": ["sents"]}}
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.spacy"
    DocBin(docs=gold_docs(Vocab())).to_disk(path)
    return path


def conllu(tmp_path, text="Cold rain fell .", rows=SENTENCE):
    path = tmp_path / "gold.conllu"
    path.write_text(f"# newdoc\n{rows.format(text=text) * 2}", encoding="utf8")
    return path


def spaced(doc):
    """The same Doc, for which it is known where spaces are."""
    doc.has_unknown_spaces = False
    return doc


def both(docs):
    return [Example(doc.copy(), doc) for doc in docs]


def test_all_layers_of_gold_itself():
    found = evaluate(both(map(spaced, gold_docs(Vocab()))), tokenized=True, arcs_of=[None])
    assert list(found.scores) == [
        "tokens",
        "sentences",
        "tags",
        "trees",
        "entities",
        "spans sc",
        "relations",
        "arcs of relations",
        "dependency graphs",
        "frames",
    ]
    assert set(found.annotated.values()) == {2}
    assert found.unwritten == found.without_gold == []
    for layer, name in {
        "tokens": "token_acc",
        "sentences": "sents_f",
        "tags": "tag_acc",
        "trees": "dep_las",
        "entities": "ents_f",
        "spans sc": "spans_sc_f",
        "relations": "relations_f",
        "dependency graphs": "dep_graph_lf",
        "frames": "roles_f",
    }.items():
        assert found.scores[layer][name] == 1.0
    assert not any("ents" in name for name in found.scores["relations"])


def test_layers_on_one_side():
    docs = gold_docs(Vocab())
    found = evaluate([Example(bare(doc), doc) for doc in docs])
    assert found.scores == {}
    assert found.unwritten == [
        "sentences",
        "tags",
        "trees",
        "entities",
        "spans sc",
        "relations",
        "dependency graphs",
        "frames",
    ]
    other = evaluate([Example(doc, bare(doc)) for doc in docs])
    assert other.without_gold == found.unwritten
    assert other.scores == {}


def test_layers_of_some_docs():
    first, second = gold_docs(Vocab())
    del second.spans[graph_group("relations")], second.spans["sc"]
    found = evaluate(both([first, second]))
    assert found.annotated["relations"] == found.annotated["spans sc"] == 1
    assert found.annotated["trees"] == 2


def test_found_nothing_is_not_the_same_as_writes_none():
    doc = Doc(Vocab(), words=["a"])
    set_relations(doc, [])
    set_spans(doc)
    found = evaluate(both([doc]))
    assert list(found.scores) == ["spans sc", "relations"]


def test_given_layers_are_not_scored():
    found = evaluate(both(gold_docs(Vocab())), given=["sents", "tag", "ents"])
    assert not {"sentences", "tags", "entities"} & {*found.scores, *found.unwritten}
    assert "trees" in found.scores


def test_extension():
    Token.set_extension("mood", default=None, force=True)
    gold, predicted = (Doc(Vocab(), words=["a", "b"]) for _ in range(2))
    for doc, labels in ((gold, "xy"), (predicted, "xx")):
        for token, label in zip(doc, labels, strict=True):
            token._.mood = label
    found = evaluate([Example(predicted, gold)], extensions=["mood"])
    assert found.scores == {"_.mood": {"mood_acc": 0.5}}


def test_command(model, gold, tmp_path):
    out = tmp_path / "scores.json"
    code, output = call("evaluate", model, gold, gold, "--given", "sents", "--json", out)
    assert code == 0
    assert "trees dep_uas 100.00 dep_las 100.00" in output
    assert "tags tag_acc" in output
    assert "sentences" not in output
    assert "also have entities, spans sc, relations, dependency graphs, frames" in output
    assert "In training" not in output
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["given"] == ["sents"]
    assert [result["path"] for result in report["gold"]] == [str(gold)] * 2
    first = report["gold"][0]
    assert (first["docs"], first["tokens"], first["annotated"]["trees"]) == (2, 16, 2)
    assert first["scores"]["trees"]["dep_las_per_type"]["nsubj"]["f"] == 1.0
    assert first["unwritten"][0] == "entities"


def test_what_training_was_scored_with(model, gold):
    code, output = call("evaluate", model, gold)
    assert code == 0
    assert "In training the scores were those with more given layers: --given sents" in output
    assert "sentences sents" in output


def test_per_label(model, gold):
    assert "acl:relcl 100.00 100.00 100.00" in call("evaluate", model, gold, "--per-label")[1]
    assert "acl:relcl" not in call("evaluate", model, gold)[1]


def test_labels_that_were_not_learned(model, tmp_path):
    path = conllu(tmp_path, rows=SENTENCE.replace("nsubj", "expl:pass").replace("JJ", "JJX"))
    _, output = call("evaluate", model, path)
    assert "norm_biaffine_parser has not learned these gold labels" in output
    assert "which it misses: expl:pass" in output
    assert "expl:pass, root" not in output  # known as ROOT
    assert "label_attention_tagger has not learned" in output
    assert "parts of speech, trees" not in output
    assert "also have parts of speech: the pipeline writes none" in output


def test_layers_that_gold_lacks(model, tmp_path):
    path = tmp_path / "entities.spacy"
    DocBin(docs=[Doc(Vocab(), words=["Rain"], ents=["B-X"])]).to_disk(path)
    code, output = call("evaluate", model, path)
    assert code == 1
    assert "also have entities: the pipeline writes none" in output
    assert "also writes sentences, tags, trees: the gold docs have none" in output
    assert "Nothing could be scored" in output


def test_a_group_that_repeats_the_entities_is_not_missed(model, tmp_path):
    doc = Doc(Vocab(), words=["Rain", "fell"], ents=["B-X", "O"])
    doc.spans["entities"] = list(doc.ents)
    path = tmp_path / "entities.spacy"
    DocBin(docs=[doc]).to_disk(path)
    assert "also have entities: the pipeline writes none" in call("evaluate", model, path)[1]
    doc.spans["entities"] = [*doc.ents, doc[0:2]]
    DocBin(docs=[doc]).to_disk(path)
    assert "also have entities, spans entities: the" in call("evaluate", model, path)[1]


def test_plain_text(model, gold, tmp_path):
    out = tmp_path / "scores.json"
    path = conllu(
        tmp_path,
        "Cold rain fell.",
        SENTENCE.replace("VBD\t_\t0\troot\t_\t_", "VBD\t_\t0\troot\t_\tSpaceAfter=No"),
    )
    code, output = call("evaluate", model, path, gold, "--text", "--json", out)
    assert code == 0, output
    assert "tokens token_acc 100.00" in output
    assert "sentences sents" in output
    assert [result["docs"] for result in json.loads(out.read_text(encoding="utf-8"))["gold"]] == [
        1,
        2,
    ]
    assert call("evaluate", model, path, "--n-sents", 1, "--text", "--json", out)[0] == 0
    assert json.loads(out.read_text(encoding="utf-8"))["gold"][0]["docs"] == 2


def test_multiword_tokens(model, tmp_path):
    rows = SENTENCE.replace("1\tCold", "1-2\tColdain\t_\t_\t_\t_\t_\t_\t_\t_\n1\tCold")
    path = conllu(tmp_path, "Coldain fell .", rows)
    code, output = call("evaluate", model, path, "--text")
    assert code == 1
    assert "Doc 1 has multiword tokens" in output
    assert "--merge-mwt" in output
    assert call("evaluate", model, path, "--text", "--merge-mwt")[0] == 0
    assert call("evaluate", model, path)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.spacy"], "none.spacy does not exist"),
        (["gold.txt"], "wanted NAME.spacy"),
        (["empty.spacy"], "has no words"),
        (["bad.conllu"], "bad.conllu:1"),
        (["gold.spacy", "--given", "tags"], "unknown layers"),
        (["gold.spacy", "--given", "tag", "--text"], "leave out --text"),
    ],
)
def test_mistakes(model, gold, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    DocBin(docs=[Doc(Vocab())]).to_disk("empty.spacy")
    (tmp_path / "gold.txt").write_text("Rain", encoding="utf-8")
    (tmp_path / "bad.conllu").write_text("1\tRain\n\n", encoding="utf-8")
    code, output = call("evaluate", model, *arguments)
    assert code == 1
    assert message in output


def test_no_model(gold, tmp_path):
    code, output = call("evaluate", tmp_path / "none", gold)
    assert code == 1
    assert "Can't find model" in output
