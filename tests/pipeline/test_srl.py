"""syntax_srl: frames on Docs, given and found predicates, trees that are odd or missing."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import spacy
import srsly
from factories import LISTENER, TOK2VEC, examples_of, gold_docs, predicate, read_frames, train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.doc.graphs import Frame, Role, has_graph, set_frames
from spacy_biaffine.encoders.trees import LearnTrees
from spacy_biaffine.formats.props.api import frames_of_words

SIZES = {"@architectures": "spacy-biaffine.SyntaxSRL.v1", "span_size": 16, "role_size": 16}
GRAPH = {
    "@architectures": "spacy-biaffine.SynG2GLayers.v1",
    "size": 16,
    "layers": 1,
    "heads": 2,
    "tok2vec": TOK2VEC,
}


def make(docs: list[Doc], *, tok2vec=TOK2VEC, steps=0, keep=(), **settings) -> Language:
    """A trained pipeline. keep: of the gold Docs, what the predicted ones have, tree or frames."""
    fix_random_seed(0)
    nlp = Language(docs[0].vocab)
    nlp.add_pipe("syntax_srl", config={"model": {**SIZES, "tok2vec": tok2vec}, **settings})
    examples = [Example(stripped(doc, *keep), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.01, L2=0.0)
    for _ in range(steps):
        examples = [Example(stripped(doc, *keep), doc) for doc in docs]
        nlp.update(examples, sgd=optimizer)
    return nlp


def stripped(doc: Doc, *keep: str) -> Doc:
    """The tokens, with sentences where there is a tree to keep, and bare predicates."""
    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    tree = {}
    if "tree" in keep:
        tree = {
            "heads": [t.head.i for t in doc],
            "deps": [t.dep_ for t in doc],
            "tags": [t.tag_ for t in doc],
        }
    new = Doc(doc.vocab, words=words, spaces=spaces, **tree)
    if "frames" in keep:
        spans = [[new[s.start : s.end] for s in frame.predicate] for frame in doc._.frames]
        set_frames(new, [Frame(tuple(each), None, ()) for each in spans])
    return new


def parsed(vocab, words, heads, deps) -> Doc:
    return Doc(vocab, words=words, heads=heads, deps=deps)


@pytest.fixture
def vocab():
    return spacy.blank("en").vocab


# Predicates


def test_sentences_without_predicates_are_normal(vocab):
    """Learned from, and given back: an empty list, which is not the same as no annotation."""
    docs = [Doc(vocab, words=text.split()) for text in ("Blue cups on the shelf .", "Why ?")]
    for doc in docs:
        set_frames(doc, [])
    nlp = make([*gold_docs(vocab), *docs], steps=60)
    for doc in docs:
        found = nlp(stripped(doc))
        assert has_graph(found, "frames")
        assert found._.frames == []


def test_copulas_nouns_and_predicates_without_arguments(vocab):
    doc = Doc(vocab, words=["Is", "her", "decision", "that", "it", "rained", "?"])
    predicate(doc, 0, "be.01", ("ARG1", (1, 3)), ("ARG2", (3, 6)))
    predicate(doc, 2, "decision.01", ("ARG0", (1, 2)), ("ARG1", (3, 6)))
    predicate(doc, 5, "rain.01")
    nlp = make([doc], steps=80)
    assert read_frames(nlp(stripped(doc))) == read_frames(doc)


def test_arguments_that_are_words(vocab):
    """Dependency-based roles: single words alone are candidates, by what training has seen."""
    doc = Doc(vocab, words=["Cold", "rain", "fell", "all", "night"])
    predicate(doc, 2, "fall.01", ("A1", (1, 2)), ("AM-TMP", (4, 5)))
    nlp = make([doc], steps=80)
    pipe = nlp.get_pipe("syntax_srl")
    assert pipe.label_data["longest"] == 1
    assert read_frames(nlp(stripped(doc))) == read_frames(doc)
    others = nlp(Doc(vocab, words=["rain", "fell", "all", "rain", "fell"] * 4))
    assert {len(s) for f in others._.frames for r in f.roles for s in r.spans} <= {1}


def test_given_predicates(vocab):
    """Those of the Doc, in their order, split ones too; with the sense that they have or get."""
    docs = gold_docs(vocab)
    given = [doc.copy() for doc in docs]
    nlp = make(docs, steps=80, keep=["frames"], given_predicates=True)
    for doc in given:
        frames = doc._.frames
        set_frames(doc, [f._replace(roles=(), sense=None) for f in reversed(frames)])
        found = nlp(doc)._.frames
        assert [f.predicate for f in found] == [f.predicate for f in reversed(frames)]
        assert [f.sense for f in found] == [f.sense for f in reversed(frames)]
        assert [[r.label for r in f.roles] for f in found] == [
            [r.label for r in f.roles] for f in reversed(frames)
        ]
        assert all(f.score is None for f in found)
    one = stripped(docs[0])
    set_frames(one, [Frame((one[2:3], one[4:5]), "fall.99", ())])
    (found,) = nlp(one)._.frames
    assert found.predicate == (one[2:3], one[4:5])
    assert found.sense == "fall.99"
    assert [role.label for role in found.roles] == ["ARG1", "ARGM-TMP"]
    assert nlp(stripped(docs[0]))._.frames == []


def test_given_predicates_on_one_token_or_a_blank(vocab):
    nlp = make(gold_docs(vocab), given_predicates=True, keep=["frames"])
    doc = Doc(vocab, words=["Rain", "fell", " "])
    set_frames(doc, [Frame((doc[i : i + 1],), s, ()) for i, s in ((1, "a"), (1, "b"), (2, "c"))])
    found = nlp(doc)._.frames
    assert [(f.predicate[0].start, f.sense) for f in found] == [(1, "a"), (1, "b"), (2, "c")]


def test_frames_that_were_there_are_replaced(vocab):
    docs = gold_docs(vocab)
    nlp = make(docs, steps=80)
    doc = stripped(docs[0])
    set_frames(doc, [Frame((doc[0:1],), "cold.01", ())])
    assert read_frames(nlp(doc)) == read_frames(docs[0])


# Arguments and senses


def test_pieces_of_an_argument_are_one_role(vocab):
    """An argument in two pieces, and a predicate in two."""
    doc = Doc(vocab, words=["She", "wrote", "it", "down", "again", "."])
    roles = (Role("A0", (doc[0:1],)), Role("A1", (doc[2:3], doc[4:5])))
    set_frames(doc, [Frame((doc[1:2], doc[3:4]), "write.01", roles)])
    nlp = make([doc], steps=80)
    assert nlp.get_pipe("syntax_srl").labels == ("A0", "A1", "C-A1", "C-V")
    found = nlp(stripped(doc))
    assert read_frames(found) == read_frames(doc)
    assert [[s.text for s in f.predicate] for f in found._.frames] == [["wrote", "down"]]
    assert all(0 < role.score <= 1 for role in found._.frames[0].roles)
    assert nlp.evaluate([Example(stripped(doc), doc)])["roles_f"] == 1.0


def test_predicates_of_several_words(vocab):
    """Side by side they are one span; whatever else they have comes behind it."""
    doc = Doc(vocab, words=["Watch", "out", "for", "it", "there", "now"])
    frame = Frame((doc[0:2], doc[4:5]), "watch.02", (Role("A1", (doc[2:4],)),))
    set_frames(doc, [frame])
    found = make([doc], steps=80)(stripped(doc))._.frames
    assert [[s.text for s in f.predicate] for f in found] == [["Watch out", "there"]]
    assert [[r.label for r in f.roles] for f in found] == [["A1"]]


def test_arguments_of_a_predicate_never_overlap(vocab):
    nlp = make(gold_docs(vocab), steps=15)
    words = [t.text for doc in gold_docs(vocab) for t in doc] * 3
    for seed in range(5):
        doc = nlp(Doc(vocab, words=np.random.default_rng(seed).permutation(words).tolist()))
        for frame in doc._.frames:
            tokens = [t.i for role in frame.roles for span in role.spans for t in span]
            assert len(tokens) == len(set(tokens))


def test_senses_are_those_of_the_lemma(vocab):
    """The context tells them apart; the first one is guessed of a lemma that was never seen."""
    docs = []
    for words, sense in ((["Rain", "fell"], "fall.01"), (["Caesar", "fell"], "fall.02")):
        doc = Doc(vocab, words=words, lemmas=["", "fall"])
        predicate(doc, 1, sense, ("A1", (0, 1)))
        docs.append(doc)
    letters = Doc(vocab, words=["Letters", "came"])
    predicate(letters, 1, "come.03", ("A1", (0, 1)))
    nlp = make([*docs, letters], steps=80)
    assert [nlp(stripped(doc))._.frames[0].sense for doc in docs] == ["fall.01", "fall.02"]
    with_lemma = Doc(vocab, words=["Rain", "fell"], lemmas=["rain", "fall"])
    assert nlp(with_lemma)._.frames[0].sense == "fall.01"
    other = Doc(vocab, words=["Rain", "fell"], lemmas=["rain", "drop"])
    assert nlp(other)._.frames[0].sense is None
    assert nlp.get_pipe("syntax_srl").label_data["senses"]["fell"] == {"fall.01": 1, "fall.02": 1}


def test_gold_without_senses(vocab):
    doc = Doc(vocab, words=["Rain", "fell"])
    set_frames(doc, [Frame((doc[1:2],), None, (Role("A1", (doc[0:1],)),))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp = make([doc], steps=40)
    assert read_frames(nlp(stripped(doc))) == read_frames(doc)
    assert nlp(stripped(doc))._.frames[0].sense is None


def test_label_data_is_plain_and_makes_the_same_model(vocab):
    docs = gold_docs(vocab)
    first = make(docs).get_pipe("syntax_srl")
    data = srsly.json_loads(srsly.json_dumps(first.label_data))
    assert data == first.label_data
    assert data["longest"] == 3
    fix_random_seed(0)
    nlp = Language(vocab)
    pipe = nlp.add_pipe("syntax_srl", config={"model": {**SIZES, "tok2vec": TOK2VEC}})
    pipe.initialize(lambda: examples_of(docs), labels=data)
    assert pipe.model.to_bytes() == first.model.to_bytes()


# Roles of spans and of words together


def test_spans_and_words_learn_one_encoder(vocab):
    """Either finds its own, both move the encoder, and both are kept when the Doc is saved."""
    docs = gold_docs(vocab)
    for doc in docs:
        doc._.word_frames = frames_of_words(doc._.frames)
    fix_random_seed(0)
    nlp = Language(vocab)
    nlp.add_pipe("tok2vec", config={"model": GRAPH})
    LearnTrees(lambda nlp: examples_of(docs))(nlp)
    listener = {**SIZES, "tok2vec": LISTENER}
    nlp.add_pipe("syntax_srl", config={"model": listener})
    nlp.add_pipe("syntax_srl", name="words", config={"model": listener, "word_frames": True})
    examples = [Example(stripped(doc, "tree"), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.01, L2=0.0)
    for _ in range(120):
        nlp.update([Example(stripped(doc, "tree"), doc) for doc in docs], sgd=optimizer)
    found = [nlp(stripped(doc, "tree")) for doc in docs]
    kept = list(DocBin(docs=found).get_docs(vocab))
    for doc, gold in zip(kept, docs, strict=True):
        assert read_frames(doc) == read_frames(gold)
        assert read_frames(doc, "word_frames") == read_frames(gold, "word_frames")
    scores = nlp.evaluate([Example(stripped(doc, "tree"), doc) for doc in docs])
    assert scores["roles_f"] == scores["word_roles_f"] == 1.0


# Trees


def test_trees_are_learned_from(vocab):
    """Two sentences that differ in their trees alone have different frames."""
    words = ["a", "b", "c", "d"]
    docs = [
        parsed(vocab, words, [1, 1, 1, 1], ["x", "ROOT", "y", "y"]),
        parsed(vocab, words, [2, 2, 2, 2], ["x", "y", "ROOT", "y"]),
    ]
    predicate(docs[0], 1, "b.01", ("A0", (0, 1)), ("A1", (2, 4)))
    predicate(docs[1], 2, "c.01", ("A0", (0, 2)))
    nlp = make(docs, tok2vec=GRAPH, keep=["tree"], steps=120)
    for doc in docs:
        assert read_frames(nlp(stripped(doc, "tree"))) == read_frames(doc)


def test_odd_trees(vocab):
    """Crossing arcs, several roots, blank tokens, a cycle's worth of heads: no crash."""
    docs = gold_docs(vocab)
    nlp = make(docs, tok2vec=GRAPH, keep=["tree"], steps=3)
    odd = [
        parsed(vocab, ["A", "B", "C", "D"], [2, 3, 2, 2], ["x", "y", "ROOT", "z"]),
        parsed(vocab, ["A", "B", "C"], [0, 1, 2], ["ROOT"] * 3),
        parsed(vocab, [" ", "A", "\n", "B"], [1, 3, 0, 2], ["", "x", "", "ROOT"]),
        parsed(vocab, ["A"], [0], ["ROOT"]),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batched = list(nlp.pipe([doc.copy() for doc in odd]))
    assert [read_frames(doc) for doc in batched] == [read_frames(nlp(doc)) for doc in odd]


def test_one_warning_for_docs_without_a_tree(vocab):
    docs = gold_docs(vocab)
    nlp = make(docs, tok2vec=GRAPH, keep=["tree"])
    with pytest.warns(UserWarning, match="no dependency tree, and are read without one") as caught:
        nlp(Doc(vocab, words=["Birds", "sing"]))
        nlp(Doc(vocab, words=["Birds", "sing"]))
    assert len(caught) == 1


def test_no_warning_while_a_model_is_initialized(vocab):
    """Training Docs get their trees later, from an annotating component."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(gold_docs(vocab), tok2vec=GRAPH)


def test_labels_of_trees_are_learned_and_saved(vocab):
    nlp = make(gold_docs(vocab), tok2vec=GRAPH)
    encoder = nlp.get_pipe("syntax_srl").model.get_ref("tok2vec")
    assert {"nsubj", "acl:relcl", "ROOT"} <= set(encoder.attrs["labels"])
    assert {"NN", "VBD"} <= set(encoder.attrs["tags"])
    loaded = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    other = loaded.get_pipe("syntax_srl").model.get_ref("tok2vec")
    assert other.attrs["labels"] == encoder.attrs["labels"]


def test_trees_of_an_annotating_component(vocab):
    """What is predicted before it in the pipeline is what it learns from."""
    docs = gold_docs(vocab)
    seen = []

    @Language.component("test_flat_parser")
    def parse(doc):
        for token in doc:
            token.head, token.dep_ = doc[0], "flat" if token.i else "ROOT"
        seen.append(doc)
        return doc

    nlp = Language(vocab)
    nlp.add_pipe("test_flat_parser")
    nlp.add_pipe("syntax_srl", config={"model": {**SIZES, "tok2vec": GRAPH}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: examples_of(docs))
        train(nlp, 1, annotates=["test_flat_parser"])
    assert seen


# Many at once


def test_batch_equals_single(vocab):
    nlp = make(gold_docs(vocab), steps=40)
    texts = ["Birds sing .", "Cold rain fell and letters came all night .", "us", "Rain fell ."]
    docs = [Doc(vocab, words=text.split()) for text in texts]
    batched = [read_frames(doc) for doc in nlp.pipe([doc.copy() for doc in docs])]
    assert batched == [read_frames(nlp(doc)) for doc in docs]
    assert any(any(frames) for frames in batched)


def test_long_sentences(vocab):
    """300 words as a whole, 700 in two parts; arguments stay in their sentence or part."""
    nlp = make(gold_docs(vocab), steps=40)
    words = ["Rain", "fell", "all", "night", "and"]
    for length, part in ((300, 300), (700, 350)):
        doc = nlp(Doc(vocab, words=words * (length // 5)))
        assert doc._.frames
        for frame in doc._.frames:
            spans = [span for role in frame.roles for span in role.spans]
            assert {(s.end - 1) // part for s in spans} <= {frame.predicate[0].start // part}


LOAD = """
import sys, spacy
nlp = spacy.load(sys.argv[1])
print(nlp(nlp.make_doc("Birds sing songs ."))._.frames)
"""


def test_frames_after_loading_in_a_new_process(vocab, tmp_path):
    nlp = spacy.blank("en")
    doc = nlp.make_doc("Birds sing songs .")
    predicate(doc, 1, "sing.01", ("A0", (0, 1)), ("A1", (2, 3)))
    nlp.add_pipe("syntax_srl", config={"model": {**SIZES, "tok2vec": GRAPH}})
    nlp.initialize(lambda: [Example(stripped(doc), doc)])
    optimizer = Adam(0.01, L2=0.0)
    with pytest.warns(UserWarning, match="no dependency tree"):
        for _ in range(60):
            nlp.update([Example(stripped(doc), doc)], sgd=optimizer)
    before = nlp("Birds sing songs .")
    assert read_frames(before) == read_frames(doc)
    nlp.to_disk(tmp_path)
    command = [sys.executable, "-W", "ignore", "-c", LOAD, str(tmp_path)]
    after = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True
    ).stdout.strip()
    assert after == str(before._.frames)


def test_settings_are_checked():
    nlp = spacy.blank("en")
    for settings in ({"span_share": 0.0}, {"max_spans": 0}, {"max_span_length": 0}):
        with pytest.raises(Exception, match="must be"):
            nlp.add_pipe("syntax_srl", config={"model": {**SIZES, "tok2vec": TOK2VEC, **settings}})
