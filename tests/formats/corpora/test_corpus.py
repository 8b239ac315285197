"""Corpus readers, and the sharded DocBin below them."""

import warnings

import pytest
import spacy
from conllu_samples import CONTRACTED, SHORT, block, docs, row
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Corpus, Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_biaffine.doc.given import GIVEN
from spacy_biaffine.doc.graphs import (
    FRAMES,
    WORD_FRAMES,
    Frame,
    Relation,
    Role,
    has_graph,
    set_frames,
)
from spacy_biaffine.doc.scores import TOKEN_LABELS
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.conllu.api import enhanced_edges, source_text
from spacy_biaffine.formats.conllu.kept import GROUP
from spacy_biaffine.formats.corpora.corpus import ConlluCorpus, GivenCorpus


@pytest.fixture
def nlp():
    return spacy.blank("xx")


@pytest.fixture
def corpus(tmp_path):
    """A .spacy file with two Docs: of two sentences, with an entity; and of one."""
    first, second = docs(CONTRACTED + SHORT * 2, n_sents=2)
    first.ents = [Span(first, 4, 5, label="LOC")]
    return write_docbin([first, second], tmp_path / "corpus.spacy")[0]


def values(doc: Doc, layer: str) -> list:
    return doc.to_array(GIVEN[layer]).tolist()


@pytest.mark.parametrize("layer", GIVEN)
def test_given_layer_alone_is_on_the_predicted_doc(nlp, corpus, layer):
    (example, _) = GivenCorpus(corpus, given=[layer])(nlp)
    assert [token.text for token in example.predicted] == [t.text for t in example.reference]
    assert example.predicted.text == example.reference.text
    assert values(example.predicted, layer) == values(example.reference, layer)
    # Heads bring their sentence starts along.
    others = set(GIVEN) - {layer} - ({"sents"} if layer == "heads" else set())
    for other in others:
        assert not example.predicted.has_annotation(GIVEN[other][0]), other


def test_nothing_given(nlp, corpus):
    for example in GivenCorpus(corpus)(nlp):
        assert not any(example.predicted.has_annotation(a[0]) for a in GIVEN.values())


def test_all_given(nlp, corpus):
    for example in GivenCorpus(corpus, given=list(GIVEN))(nlp):
        for layer in GIVEN:
            assert values(example.predicted, layer) == values(example.reference, layer)


def test_given_predicates_have_neither_senses_nor_roles(nlp, tmp_path):
    doc = Doc(nlp.vocab, words=["She", "wrote", "it", "down"])
    roles = (Role("A0", (doc[0:1],)),)
    frames = [Frame((doc[1:2], doc[3:4]), "write.01", roles), Frame((doc[2:3],), None, ())]
    set_frames(doc, frames)
    set_frames(doc, frames[1:], WORD_FRAMES)
    (path,) = write_docbin([doc], tmp_path / "corpus.spacy")
    (example,) = GivenCorpus(path, given=["predicates", "tag"])(nlp)
    predicted = example.predicted
    assert [f.predicate[0].text for f in predicted._.word_frames] == ["it"]
    assert [(f.sense, f.roles) for f in predicted._.frames] == [(None, ())] * 2
    spans = [[(s.start, s.end) for s in f.predicate] for f in predicted._.frames]
    assert spans == [[(1, 2), (3, 4)], [(2, 3)]]
    (bare,) = GivenCorpus(path)(nlp)
    assert not has_graph(bare.predicted, FRAMES)


def test_sentence_starts_without_all_heads(nlp, tmp_path):
    partial = block(row(1, "Oh"), row(2, "well", 0, "root"))
    path = tmp_path / "c.conllu"
    path.write_text(partial * 2, encoding="utf-8")
    (example,) = ConlluCorpus(path, n_sents=2, given=["sents", "heads"])(nlp)
    assert [sent.start for sent in example.predicted.sents] == [0, 2]
    assert [token.has_head() for token in example.predicted] == [False, True] * 2


@pytest.mark.parametrize("reader", [ConlluCorpus, GivenCorpus])
def test_unknown_layers_are_refused(reader):
    with pytest.raises(ValueError, match=r"unknown layers .*\['tags'\]; known: \['sents', 'tag'"):
        reader("anywhere", given=["tags", "pos"])


def test_gold_sents(nlp, corpus):
    examples = list(GivenCorpus(corpus, gold_sents=True, given=["sents"])(nlp))
    assert [len(example) for example in examples] == [6, 2, 2]
    assert examples[1].reference[0].head.text == "fell"


@pytest.mark.parametrize("settings", [{"gold_sents": True}, {"max_length": 5}])
def test_sentences_keep_their_spans_and_graphs(nlp, tmp_path, settings):
    words = ["Ann", "sleeps", ".", "Bob", "wrote", "it", "down", "."]
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, False, False, True] + [False] * 4)
    doc.spans["sc"] = [Span(doc, 0, 1, "PER"), Span(doc, 3, 4, "PER"), Span(doc, 2, 4, "ACROSS")]
    doc.spans["sc"].attrs["scores"] = [0.1, 0.2, 0.3]
    doc.spans["none"] = []
    doc.spans[TOKEN_LABELS] = SpanGroup(doc, attrs={"ccg": list("abcdefgh"), "version": 2})
    sleeps = Frame((doc[1:2],), "sleep.01", (Role("ARG0", (doc[0:1],)),))
    wrote = Frame((doc[4:5], doc[6:7]), "write.01", (Role("ARG0", (doc[3:4],), 0.5),))
    set_frames(doc, [sleeps, wrote])
    doc._.relations = [Relation(doc[3:4], doc[5:6], "of"), Relation(doc[0:1], doc[3:4], "knows")]
    write_docbin([doc], tmp_path / "a.spacy")
    with pytest.warns(UserWarning, match="1 edges of relations across .*, 1 spans of 'sc' across"):
        first, second = (e.reference for e in GivenCorpus(tmp_path / "a.spacy", **settings)(nlp))
    assert [(s.text, s.label_) for s in first.spans["sc"]] == [("Ann", "PER")]
    assert [(s.text, s.label_) for s in second.spans["sc"]] == [("Bob", "PER")]
    assert second.spans["sc"].attrs["scores"] == [0.2]
    assert len(first.spans["none"]) == 0
    assert first.spans[TOKEN_LABELS].attrs == {"ccg": list("abc"), "version": 2}
    assert second.spans[TOKEN_LABELS].attrs == {"ccg": list("defgh"), "version": 2}
    (frame,) = first._.frames
    assert (frame.sense, frame.roles[0].spans[0].text) == ("sleep.01", "Ann")
    (frame,) = second._.frames
    assert [span.text for span in frame.predicate] == ["wrote", "down"]
    assert (frame.sense, frame.roles[0].spans[0].text) == ("write.01", "Bob")
    assert frame.roles[0].score == 0.5
    # A relation across sentences is in neither.
    assert first._.relations == []
    assert [(r.head.text, r.label, r.tail.text) for r in second._.relations] == [
        ("Bob", "of", "it")
    ]


def test_limit_and_max_length(nlp, corpus):
    assert [len(eg) for eg in GivenCorpus(corpus, limit=1)(nlp)] == [8]
    assert [len(eg) for eg in GivenCorpus(corpus, max_length=7)(nlp)] == [6, 2, 2]
    read = GivenCorpus(corpus, max_length=2)
    with pytest.warns(
        UserWarning, match=r"corpus\.spacy: left out: 1 sentences of more than 2 tok"
    ):
        assert [len(eg) for eg in read(nlp)] == [2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [len(eg) for eg in read(nlp)] == [2, 2]  # told once


def test_docs_without_sentences_that_are_too_long_are_told(nlp, tmp_path):
    write_docbin([Doc(nlp.vocab, words=["a"] * 3)], tmp_path / "a.spacy")
    with pytest.warns(UserWarning, match="1 Docs of more than 2 tokens, without sentences"):
        assert list(GivenCorpus(tmp_path / "a.spacy", max_length=2)(nlp)) == []


def test_a_corpus_can_be_read_again(nlp, corpus):
    reader = GivenCorpus(corpus, given=["tag"])
    assert len(list(reader(nlp))) == len(list(reader(nlp))) == 2


def test_readers_are_registered(nlp, corpus):
    reader = registry.readers.get("spacy-biaffine.GivenCorpus.v1")(corpus, given=["pos"])
    assert len(list(reader(nlp))) == 2
    assert registry.readers.get("spacy-biaffine.ConlluCorpus.v1") is ConlluCorpus


def test_readers_in_a_config(tmp_path, corpus):
    config = spacy.util.load_config_from_str(
        "[corpora]\n[corpora.dev]\n"
        '@readers = "spacy-biaffine.GivenCorpus.v1"\n'
        f'path = "{corpus}"\ngiven = ["sents"]\n'
    )
    resolved = registry.resolve(config)
    assert isinstance(resolved["corpora"]["dev"], GivenCorpus)
    filled = registry.fill({"dev": {"@readers": "spacy-biaffine.ConlluCorpus.v1", "path": "x"}})
    assert filled["dev"]["n_sents"] == 1


def test_conllu_corpus(nlp, tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONTRACTED + SHORT, encoding="utf-8")
    examples = list(ConlluCorpus(path, merge_mwt=True, given=["tag"])(nlp))
    assert [eg.predicted.text for eg in examples] == ["Wir gehen zum See.", "Rain fell"]
    assert all(isinstance(eg, Example) for eg in examples)
    assert len(list(ConlluCorpus(tmp_path, n_sents=2)(nlp))) == 1
    assert len(list(ConlluCorpus(tmp_path, limit=1)(nlp))) == 1


def test_conllu_corpus_says_what_it_skipped(nlp, tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(SHORT + block(row(1, "x", 1, "dep")), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"a\.conllu: sentences skipped: 1 self-head"):
        assert len(list(ConlluCorpus(path, skip_bad=True)(nlp))) == 1


def test_conllu_corpus_says_what_is_doubtful(nlp, tmp_path):
    (tmp_path / "a.conllu").write_text("# newdoc_id = x\n" + SHORT, encoding="utf-8")
    with pytest.warns(
        UserWarning, match=r"perhaps mistakes: 1 comments '# newdoc_id'.*a\.conllu:1"
    ):
        list(ConlluCorpus(tmp_path / "a.conllu", by_doc=True)(nlp))


def test_conllu_corpus_refuses_a_whole_treebank(nlp, tmp_path):
    for split in ("train", "test"):
        (tmp_path / f"xx_y-ud-{split}.conllu").write_text(SHORT, encoding="utf-8")
    with pytest.raises(ValueError, match="several parts of a treebank"):
        list(ConlluCorpus(tmp_path)(nlp))


@pytest.mark.parametrize("reader", [ConlluCorpus, GivenCorpus])
@pytest.mark.filterwarnings("ignore:.*W090")
def test_no_files(nlp, tmp_path, reader):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FileNotFoundError):
            list(reader(path)(nlp))


def test_files_of_another_kind(nlp, tmp_path):
    trees = tmp_path / "train.conllu"
    trees.write_text(SHORT, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"train\.conllu is no \.spacy file; .* convert` makes them"
    ):
        list(GivenCorpus(trees)(nlp))
    broken = tmp_path / "train.spacy"
    broken.write_text("a text", encoding="utf-8")
    with pytest.raises(ValueError, match=r"train\.spacy is no DocBin, or a broken one"):
        list(GivenCorpus(broken)(nlp))


def test_shards(nlp, tmp_path):
    files = write_docbin(docs(SHORT * 25), tmp_path / "train.spacy", max_docs=10)
    assert [file.name for file in files] == ["00000.spacy", "00001.spacy", "00002.spacy"]
    assert not (tmp_path / "train.spacy").exists()
    assert len(list(Corpus(tmp_path / "train")(nlp))) == 25
    assert len(list(GivenCorpus(tmp_path / "train")(nlp))) == 25


def test_earlier_output_of_the_other_kind_goes(tmp_path):
    path = tmp_path / "train.spacy"
    write_docbin(docs(SHORT * 5), path, max_docs=2)
    write_docbin(docs(SHORT), path)
    assert list(tmp_path.iterdir()) == [path]
    write_docbin(docs(SHORT * 5), path, max_docs=2)
    assert [p.name for p in tmp_path.iterdir()] == ["train"]


def test_a_failed_run_leaves_earlier_output_whole(tmp_path):
    path = tmp_path / "train.spacy"
    write_docbin(docs(SHORT), path)
    before = path.read_bytes()

    def failing():
        yield from docs(SHORT * 3)
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        write_docbin(failing(), path, max_docs=2)
    with pytest.raises(ValueError, match="no Docs"):
        write_docbin([], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_other_files_are_not_deleted(tmp_path):
    notes = tmp_path / "train" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine", encoding="utf-8")
    path = tmp_path / "train.spacy"
    write_docbin(docs(SHORT), path)
    with pytest.raises(ValueError, match=r"notes\.txt is in the way"):
        write_docbin(docs(SHORT * 5), path, max_docs=2)
    assert notes.read_text(encoding="utf-8") == "mine"
    assert path.exists()


@pytest.mark.parametrize(("name", "max_docs"), [("a.spacy", 0), ("a", 1), ("a.bin", 1)])
def test_bad_docbin_output(tmp_path, name, max_docs):
    with pytest.raises(ValueError, match="must"):
        write_docbin(docs(SHORT), tmp_path / name, max_docs=max_docs)


def test_what_was_kept_survives_the_file(tmp_path):
    text = block(
        "# text = am", row("1-2", "am"), row(1, "an", 0, "root", deps="0:root"), row(2, "dem")
    )
    (path,) = write_docbin(docs(text), tmp_path / "a.spacy")
    (read,) = read_docbin(path, Vocab())
    assert source_text(read) == "am"
    assert len(enhanced_edges(read).edges) == 1
    (read,) = DocBin().from_disk(path).get_docs(Vocab())
    assert GROUP in read.spans
