"""label_attention_tagger: its targets, and what is its own beside test_components.py."""

import warnings

import numpy as np
import pytest
import spacy
from factories import LAN, TOK2VEC, bare, examples_of
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.doc.labels import labels_on
from spacy_biaffine.doc.scores import register_token_label
from spacy_biaffine.gold.labels import aligned_labels
from spacy_biaffine.gold.spans import aligned_tags

register_token_label("supertag")

WORDS = ["New", "York", "sleeps", "and", "Ada", "left", "."]
TAGS = ["NNP", "NNP", "VBZ", "CC", "NNP", "VBD", "."]
POS = ["PROPN", "PROPN", "VERB", "CCONJ", "PROPN", "VERB", "PUNCT"]
MORPHS = ["Number=Sing", "Number=Sing", "Number=Sing|Tense=Pres", "", "", "Tense=Past", ""]
ENTS = ["B-GPE", "I-GPE", "O", "O", "B-PER", "O", "O"]
SUPERTAGS = ["N/N", "N", "S\\NP", "conj", "NP", "S\\NP", "."]
TARGETS = ["tag", "pos", "morph", "ent", "_.supertag"]


def gold_doc(nlp: Language) -> Doc:
    doc = Doc(nlp.vocab, words=WORDS, tags=TAGS, pos=POS, morphs=MORPHS, ents=ENTS)
    for token, label in zip(doc, SUPERTAGS, strict=True):
        token._.supertag = label
    return doc


def make(target: str, docs: list[Doc] | None = None, **config) -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {**LAN, "tok2vec": TOK2VEC}
    nlp.add_pipe("label_attention_tagger", config={"target": target, "model": model, **config})
    gold = docs or [gold_doc(nlp)]
    nlp.initialize(lambda: examples_of(gold))
    return nlp


def learn(nlp: Language, docs: list[Doc], steps: int = 100) -> float:
    optimizer = Adam(0.01, L2=0.0)
    for _ in range(steps):
        losses = nlp.update(examples_of(docs), sgd=optimizer, losses={})
    return losses["label_attention_tagger"]


@pytest.fixture(scope="module", params=TARGETS)
def trained(request) -> tuple[str, Language]:
    nlp = make(request.param, store_scores=True)
    learn(nlp, [gold_doc(nlp)])
    return request.param, nlp


def all_layers(doc: Doc) -> dict[str, list]:
    return {
        "tag": [token.tag_ for token in doc],
        "pos": [token.pos_ for token in doc],
        "morph": [str(token.morph) for token in doc],
        "ent": [(ent.start, ent.end, ent.label_) for ent in doc.ents],
        "_.supertag": [token._.supertag for token in doc],
    }


def test_target_is_learned_and_nothing_else_is_written(trained):
    target, nlp = trained
    gold = all_layers(gold_doc(nlp))
    found = all_layers(nlp(bare(gold_doc(nlp))))
    written = {"pos", "morph"} if target == "morph" else {target}
    for layer in TARGETS:
        if layer in written:
            assert found[layer] == gold[layer]
        else:
            assert not any(found[layer])


SCORES = {
    "tag": {"tag_acc": 1.0},
    "pos": {"pos_acc": 1.0},
    "morph": {"pos_acc": 1.0, "morph_acc": 1.0},
    "ent": {"ents_p": 1.0, "ents_r": 1.0, "ents_f": 1.0},
    "_.supertag": {"supertag_acc": 1.0},
}


def test_scores_have_spacys_names(trained):
    target, nlp = trained
    scores = nlp.evaluate(examples_of([gold_doc(nlp)]))
    assert scores["label_score"] == 1.0
    assert {name: scores[name] for name in SCORES[target]} == SCORES[target]


def test_what_is_saved(trained, tmp_path):
    target, nlp = trained
    doc = nlp(bare(gold_doc(nlp)))
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    expected = all_layers(doc)
    copies = [
        Doc(nlp.vocab).from_bytes(doc.to_bytes()),
        next(DocBin(docs=[doc]).get_docs(nlp.vocab)),
        doc.copy(),
        loaded(bare(gold_doc(loaded))),
    ]
    name = f"{target.removeprefix('_.')}_scores"
    if target == "morph":  # DocBin keeps MORPH only when asked to
        copies.pop(1)
    for copy in copies:
        assert all_layers(copy) == expected
        assert [t._.get(name) for t in copy] == [t._.get(name) for t in doc]


def test_distribution_per_token(trained):
    target, nlp = trained
    doc = nlp.make_doc("New York  sleeps")
    nlp.get_pipe("label_attention_tagger")(doc)
    found = [token._.get(f"{target.removeprefix('_.')}_scores") for token in doc]
    assert found[2] == {}
    labels = nlp.get_pipe("label_attention_tagger").labels
    for scores in (found[0], found[1], found[3]):
        assert set(scores) <= set(labels)
        assert 0.95 < sum(scores.values()) < 1 + 1e-5
    if target == "tag":
        assert [max(s, key=s.get) for s in found if s] == ["NNP", "NNP", "VBZ"]


def test_no_distribution_unless_asked_for():
    nlp = make("tag")
    doc = nlp("New York")
    assert not doc.spans
    assert nlp.get_pipe("label_attention_tagger").predict([doc])[0].probs is None


# Targets


@pytest.mark.parametrize("target", ["", "dep", "_.", "_.not a name", "supertag", "TAG"])
def test_unknown_target(target):
    with pytest.raises(ValueError, match=r"it must be one of tag, pos, morph, ent, or a token"):
        make(target)


def test_extension_is_registered_if_missing():
    assert not Token.has_extension("brand_new")
    nlp = spacy.blank("en")
    nlp.add_pipe("label_attention_tagger", config={"target": "_.brand_new"})
    doc = nlp.make_doc("a b")
    assert [token._.brand_new for token in doc] == [None, None]
    doc[1]._.brand_new = "X"
    assert [token._.brand_new for token in doc] == [None, "X"]


def test_extension_of_the_user_is_used():
    Token.set_extension("of_the_user", default="")
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["a", "b"])
    for token, label in zip(doc, "XY", strict=True):
        token._.of_the_user = label
    nlp = make("_.of_the_user", [doc])
    learn(nlp, [doc])
    assert [token._.of_the_user for token in nlp("a b")] == ["X", "Y"]


def test_extension_that_cannot_be_written():
    Token.set_extension("read_only", getter=lambda token: "X")
    with pytest.raises(ValueError, match=r"token\._\.read_only .* can't be written"):
        make("_.read_only")
    Token.remove_extension("read_only")  # no spawned process could get the lambda


@pytest.mark.parametrize(
    ("target", "label"), [("pos", "FOO"), ("morph", "Case=Nom|POS=FOO"), ("ent", "LOC")]
)
def test_labels_that_cannot_be_written_are_refused(target, label):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("label_attention_tagger", config={"target": target})
    with pytest.raises(ValueError, match=r"'(FOO|LOC)' is no"):
        pipe.add_label(label)
    assert pipe.labels == ()


def test_entity_labels_are_all_tags_of_their_types():
    nlp = spacy.blank("en")
    assert labels_on(gold_doc(nlp), "ent") == {
        "O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("GPE", "PER"))
    }  # fmt: skip
    assert labels_on(Doc(nlp.vocab), "ent") == set()


# Overwriting


def test_overwrite_off_keeps_what_is_there():
    nlp = make("tag", overwrite=False)
    learn(nlp, [gold_doc(nlp)])
    doc = bare(gold_doc(nlp))
    doc[0].tag_ = "XX"
    assert [t.tag_ for t in nlp(doc)] == ["XX", *TAGS[1:]]
    nlp.get_pipe("label_attention_tagger").overwrite = True
    assert [t.tag_ for t in nlp(doc)] == TAGS


def test_entities_beside_those_that_are_there():
    nlp = make("ent", overwrite=False)
    learn(nlp, [gold_doc(nlp)])
    doc = bare(gold_doc(nlp))
    doc.set_ents([Span(doc, 1, 3, "OWN")])
    assert all_layers(nlp(doc))["ent"] == [
        (1, 3, "OWN"),
        (4, 5, "PER"),
    ]
    nlp.get_pipe("label_attention_tagger").overwrite = True
    assert all_layers(nlp(doc))["ent"] == [(0, 2, "GPE"), (4, 5, "PER")]


def test_blocked_tokens_stay_so():
    nlp = make("ent", overwrite=False)
    learn(nlp, [gold_doc(nlp)])
    doc = bare(gold_doc(nlp))
    doc.set_ents([], blocked=[doc[0:1]], default="missing")
    assert all_layers(nlp(doc))["ent"] == [(4, 5, "PER")]
    assert (doc[0].ent_iob, doc[0].ent_type_) == (3, "")
    nlp.get_pipe("label_attention_tagger").overwrite = True
    assert all_layers(nlp(doc))["ent"] == [(0, 2, "GPE"), (4, 5, "PER")]


def test_features_beside_parts_of_speech_that_are_there():
    nlp = make("morph", overwrite=False)
    learn(nlp, [gold_doc(nlp)])
    doc = nlp(Doc(nlp.vocab, words=WORDS, pos=["X", *POS[1:]]))
    assert [t.pos_ for t in doc] == ["X", *POS[1:]]
    assert [str(t.morph) for t in doc] == MORPHS
    doc = nlp(Doc(nlp.vocab, words=WORDS, morphs=["Case=Nom", *MORPHS[1:]]))
    assert [t.pos_ for t in doc] == POS
    assert [str(t.morph) for t in doc] == ["Case=Nom", *MORPHS[1:]]


# Blank tokens


@pytest.mark.parametrize("text", ["hi\r\n\r\nall", " \n", "New  York"])
def test_blank_tokens_get_spacys_labels(trained, text):
    target, nlp = trained
    doc = nlp(text)
    for token in doc:
        if token.is_space:
            assert token.tag_ == ("_SP" if target == "tag" else "")
            assert token.pos_ == ("SPACE" if target in ("pos", "morph") else "")
            assert str(token.morph) == ""
            assert token._.supertag is None
        elif target == "tag":
            assert token.tag_ in TAGS


def test_blank_tokens_do_not_count():
    nlp = make("tag")
    words = ["New", "  ", "York"]
    gold = Doc(nlp.vocab, words=words, tags=["NNP", "_SP", "NNP"])
    predicted = Doc(nlp.vocab, words=words, tags=["NNP", "NN", "NNP"])
    pipe = nlp.get_pipe("label_attention_tagger")
    assert pipe.score([Example(predicted, gold)])["tag_acc"] == 1.0
    assert labels_on(gold, "tag") == {"NNP"}


def test_an_entity_holds_a_blank_token_but_does_not_begin_or_end_with_one():
    nlp = make("ent")
    learn(nlp, [gold_doc(nlp)])
    doc = nlp(" New  York  sleeps")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("New  York", "GPE")]


# Gold


def test_misaligned_tokens_have_no_label():
    nlp = spacy.blank("en")
    gold = Doc(nlp.vocab, words=["can", "not", "swim"], tags=["MD", "RB", "VB"])
    predicted = Doc(nlp.vocab, words=["cannot", "swim"])
    assert aligned_labels(Example(predicted, gold), "tag") == ["", "VB"]


def test_entities_of_other_tokens_are_aligned():
    nlp = spacy.blank("en")
    gold = Doc(nlp.vocab, words=["New", "York", "is"], ents=["B-GPE", "I-GPE", "O"])
    for words, tags in (
        (["New York", "is"], ["S-GPE", "O"]),
        (["Ne", "w", "York", "is"], ["B-GPE", "I-GPE", "E-GPE", "O"]),
        (["New", "Yorkis"], ["", ""]),
        (["New", "\n", "York", "\n", "is"], ["B-GPE", "I-GPE", "E-GPE", "O", "O"]),
    ):
        example = Example(Doc(nlp.vocab, words=words), gold)
        assert [
            tag
            for tag, token in zip(aligned_tags(example), example.predicted, strict=True)
            if not token.is_space
        ] == [tag for tag, word in zip(tags, words, strict=True) if word.strip()]


def test_tags_of_tokens_that_are_missing_blocked_or_not_annotated():
    nlp = spacy.blank("en")
    gold = Doc(nlp.vocab, words=["a", "b", "c", "d"])
    assert aligned_tags(Example(bare(gold), gold)) == [""] * 4
    gold.set_ents([Span(gold, 1, 2, "A")], blocked=[gold[0:1]], missing=[gold[2:3]])
    assert aligned_tags(Example(bare(gold), gold)) == ["O", "S-A", "", "O"]


def test_unseen_labels_are_errors_with_one_warning():
    nlp = make("tag")
    learn(nlp, [gold_doc(nlp)])
    doc = Doc(nlp.vocab, words=["Wow", "York"], tags=["UH", "NNP"])
    with pytest.warns(UserWarning, match=r"training had not.*: UH\.") as caught:
        scores = nlp.evaluate(examples_of([doc]))
    assert len(caught) == 1
    assert scores["tag_acc"] == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nlp.evaluate(examples_of([doc]))["tag_acc"] == 0.5
    with pytest.warns(UserWarning, match="does not learn 'UH'"):
        loss = nlp.update(examples_of([doc]), losses={})["label_attention_tagger"]
    assert np.isfinite(loss)


# Reading


def test_sentences_that_are_marked_are_read_one_by_one():
    nlp = make("tag")
    pipe = nlp.get_pipe("label_attention_tagger")
    scores = []
    for starts in ([True, *[False] * 6], [True, False, False, True, *[False] * 3]):
        doc = Doc(nlp.vocab, words=WORDS, sent_starts=starts)
        (*batches,) = pipe.model.predict([doc])
        scores.append(np.concatenate([batch.scores.scores.numpy() for batch in batches]))
    assert scores[0].shape == scores[1].shape == (7, len(pipe.labels))
    assert not np.allclose(np.sort(scores[0], axis=0), np.sort(scores[1], axis=0))


def test_a_long_doc_is_read_whole():
    nlp = make("tag")
    doc = Doc(nlp.vocab, words=["New", "York"] * 3000)
    assert all(token.tag_ for token in nlp(doc))


@pytest.mark.parametrize("settings", [{"heads": 3}, {"heads": 0}, {"lstm_layers": 0}])
def test_impossible_sizes(settings):
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="must"):
        nlp.add_pipe(
            "label_attention_tagger", config={"model": {**LAN, **settings, "tok2vec": TOK2VEC}}
        )


def test_default_config_trains():
    nlp = spacy.blank("en")
    nlp.add_pipe("label_attention_tagger")
    nlp.initialize(lambda: examples_of([gold_doc(nlp)]))
    assert learn(nlp, [gold_doc(nlp)], steps=2) > 0
    assert len(nlp("New York slept.")) == 4
