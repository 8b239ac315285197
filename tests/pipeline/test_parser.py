"""norm_biaffine_parser: sentences, roots, long Docs, tags, scores."""

import math
import warnings

import numpy as np
import pytest
import spacy
import torch
from factories import FACTORIES, TOK2VEC, Factory, bare, examples_of, gold_docs, train
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.gold.trees import tree_targets
from spacy_biaffine.models.parser_model import ParserScores
from spacy_biaffine.models.torch_layer import Scored
from spacy_biaffine.nn.parser import ArcScores
from spacy_biaffine.nn.splitter import SentenceSplitter, StartScores
from spacy_biaffine.pipeline.parser import NormBiaffineParser, parser_loss
from spacy_biaffine.types import Parse, ParserInput

PARSER: Factory = next(f for f in FACTORIES if f.name == "norm_biaffine_parser")


def parser_of(nlp: Language) -> NormBiaffineParser:
    return nlp.get_pipe("norm_biaffine_parser")


@pytest.fixture(scope="module")
def random_nlp() -> Language:
    """Never trained: its trees are as odd as trees can be. Tests must leave it as it is."""
    return PARSER.make(lstm_layers=0)


@pytest.fixture(scope="module")
def trained_nlp() -> Language:
    """Knows the gold Docs by heart. Tests must leave it as it is."""
    nlp = PARSER.make()
    train(nlp, 80)
    return nlp


def starts(doc: Doc) -> list[int]:
    return [sent.start for sent in doc.sents]


def roots(doc: Doc) -> list[int]:
    return [t.i for t in doc if t.head.i == t.i]


def assert_well_formed(doc: Doc) -> None:
    """One root per sentence, heads inside of it, no cycle; blanks as they should be."""
    for sent in doc.sents:
        assert len([t for t in sent if t.head.i == t.i]) == 1
        assert sent.root.i in roots(doc)
        for token in sent:
            assert sent.start <= token.head.i < sent.end
            steps = 0
            while token.head.i != token.i:
                token = token.head
                steps += 1
                assert steps <= len(sent)
        if not all(t.is_space for t in sent):
            for token in sent:
                assert not token.head.is_space
                if token.is_space:
                    left = [t.i for t in doc[sent.start : token.i] if not t.is_space]
                    right = [t.i for t in doc[token.i : sent.end] if not t.is_space]
                    assert token.head.i == (left[-1] if left else right[0])
    for token in doc:
        assert (token.dep_ == "dep") is token.is_space
        assert token.has_head()


# Sentences


@pytest.mark.parametrize(
    "marks",
    [[True, False, True, False], [True, None, True, None], [True] * 4, [True] + [False] * 3],
)
def test_given_starts_are_kept(trained_nlp, marks):
    """However odd the cut."""
    doc = Doc(trained_nlp.vocab, words=["we", "eat", "warm", "soup"], sent_starts=marks)
    doc = trained_nlp(doc)
    assert starts(doc) == [i for i, mark in enumerate(marks) if mark]
    assert_well_formed(doc)


def test_starts_of_an_earlier_component_are_kept():
    nlp = PARSER.make()
    nlp.add_pipe("sentencizer", first=True)
    doc = nlp("Rain fell . us ! All night letters came")
    assert starts(doc) == [0, 3, 5]
    assert_well_formed(doc)


def test_without_starts_the_parser_finds_its_own(trained_nlp):
    gold = gold_docs(trained_nlp.vocab)[0]
    doc = bare(gold)
    assert not doc.has_annotation("SENT_START")
    assert starts(trained_nlp(doc)) == starts(gold) == [0, 6]


def test_no_alone_is_respected(trained_nlp):
    """One token may start no sentence; of the others nothing is said."""
    words = [t.text for t in gold_docs(trained_nlp.vocab)[0]]
    marks = [None] * 6 + [False] + [None] * 2
    doc = trained_nlp(Doc(trained_nlp.vocab, words=words, sent_starts=marks))
    assert 6 not in starts(doc)
    assert_well_formed(doc)
    marks[6], marks[4] = None, False
    doc = trained_nlp(Doc(trained_nlp.vocab, words=words, sent_starts=marks))
    assert starts(doc) == [0, 6]


TOKENS = st.lists(
    st.tuples(st.sampled_from(["rain", "us", "fell", ".", " ", "\n"]), st.sampled_from([1, 0, -1])),
    max_size=14,
)


@given(TOKENS)
@settings(max_examples=150)
def test_every_doc_comes_out_well_formed(random_nlp, tokens):
    words, marks = [w for w, _ in tokens], [m for _, m in tokens]
    doc = random_nlp(Doc(random_nlp.vocab, words=words, sent_starts=marks))
    assert_well_formed(doc)
    given_starts = {i for i, mark in enumerate(marks) if i == 0 or mark == 1}
    assert given_starts <= set(starts(doc))
    at_words = [mark for i, (word, mark) in enumerate(tokens) if not word.isspace()]
    if 1 in at_words[1:] or set(at_words[1:]) == {-1}:
        assert given_starts == set(starts(doc))
    own = set(starts(doc)) - given_starts
    assert not [i for i in own if marks[i] == -1 and i != 0]
    again = random_nlp(doc.copy())
    assert [t.head.i for t in again] == [t.head.i for t in doc]


def test_blanks(random_nlp):
    doc = random_nlp("\n\nRain  fell. \n us\t")
    assert [t.text for t in doc if t.is_space] == ["\n\n", " ", "\n ", "\t"]
    assert_well_formed(doc)
    assert [doc[i].head.i for i in (0, 2, 5, 7)] == [1, 1, 4, 6]


def test_given_sentence_of_blanks(random_nlp):
    words = ["Rain", ".", "\n", "\t", "us", "."]
    doc = Doc(random_nlp.vocab, words=words, sent_starts=[1, -1, 1, -1, 1, -1])
    doc = random_nlp(doc)
    assert starts(doc) == [0, 2, 4]
    assert [doc[i].head.i for i in (2, 3)] == [2, 2]
    back = Doc(random_nlp.vocab).from_bytes(doc.to_bytes())
    assert starts(back) == [0, 2, 4]


@pytest.mark.parametrize("words", [[" "], ["\n", "\t", " "]])
def test_doc_of_blanks_is_one_sentence(random_nlp, words):
    doc = random_nlp(Doc(random_nlp.vocab, words=words))
    assert starts(doc) == [0]
    assert_well_formed(doc)


def test_start_marked_on_a_blank(random_nlp):
    """It is a start like any other: the Doc gets no other sentences."""
    words = ["Rain", "fell", "\n", "us", "slept"]
    doc = random_nlp(Doc(random_nlp.vocab, words=words, sent_starts=[1, 0, 1, 0, 0]))
    assert starts(doc) == [0, 2]
    assert doc[2].head.i == doc[3].i


def test_old_trees_are_replaced(trained_nlp):
    gold = gold_docs(trained_nlp.vocab)[1]
    words = [t.text for t in gold]
    old = Doc(trained_nlp.vocab, words=words, heads=[6] * 7, deps=["old"] * 6 + ["ROOT"])
    assert PARSER.read(trained_nlp(old)) == PARSER.read(gold)


@pytest.mark.parametrize("seed", range(8))
def test_deeply_crossed_trees_keep_their_sentences(random_nlp, seed):
    """spaCy alone loses the left edge of such trees, and with it the sentence start."""
    rng = np.random.default_rng(seed)
    heads: list[int] = []
    wanted = []
    for n in rng.integers(1, 120, size=3):
        order = rng.permutation(n)
        tree = np.zeros(n, dtype=int)
        tree[order[0]] = order[0]
        for i in range(1, n):
            tree[order[i]] = order[rng.integers(max(0, i - 3), i)]
        wanted.append(len(heads))
        heads += list(tree + len(heads))
    total = len(heads)
    parse = Parse(np.array(heads), np.zeros(total, int), np.ones(total, "f"), np.ones(total, "f"))
    doc = Doc(random_nlp.vocab, words=["w"] * total)
    parser_of(random_nlp).set_annotations([doc], [parse])
    assert starts(doc) == wanted
    assert [t.head.i for t in doc] == heads
    assert doc.has_annotation("SENT_START", require_complete=True)


def test_crossing_gold_arcs_survive(trained_nlp):
    gold = gold_docs(trained_nlp.vocab)[1]
    (example,) = examples_of([gold])
    targets = tree_targets([example], {}, 100)
    assert targets.heads.tolist() == [3, 3, 0, 5, 2, 5, 3]
    assert [t.head.i for t in trained_nlp(bare(gold))] == [t.head.i for t in gold]


# Long Docs


def long_doc(nlp: Language, n: int, *, given: bool, equal: bool = False) -> Doc:
    words = ["rain" if equal else f"w{i % 17}" for i in range(n)]
    marks = [True] + [False] * (n - 1) if given else None
    return Doc(nlp.vocab, words=words, sent_starts=marks)


@pytest.fixture(scope="module")
def short_nlp() -> Language:
    return PARSER.make(max_length=10)


def test_long_doc_without_starts_is_cut(short_nlp):
    doc = short_nlp(long_doc(short_nlp, 35, given=False))
    assert max(len(sent) for sent in doc.sents) <= 10
    assert_well_formed(doc)
    # Every one of its sentences is a tree by itself.
    assert "dep" not in {t.dep_ for t in doc}


def test_long_given_sentence_is_joined(short_nlp):
    doc = short_nlp(long_doc(short_nlp, 35, given=True))
    assert starts(doc) == [0]
    assert len(roots(doc)) == 1
    joints = [t for t in doc if t.dep_ == "dep"]
    assert len(joints) == 3
    # The parts hang on the root of the first one, of nine words.
    assert {t.head.i for t in joints} == set(roots(doc))
    assert roots(doc)[0] < 9
    for token in doc:
        if token.dep_ != "dep":
            assert abs(token.i - token.head.i) < 10


def test_equal_words_are_cut_into_few_sentences():
    nlp = PARSER.make(max_length=50)
    train(nlp, 30)
    doc = nlp(long_doc(nlp, 400, given=False, equal=True))
    assert max(len(sent) for sent in doc.sents) <= 50
    assert len(list(doc.sents)) <= 20
    # Beyond what the splitter sees of the edges, all are as long as they may be.
    edge = sum(SentenceSplitter.distances)
    inner = [len(sent) for sent in doc.sents if edge <= sent.start and sent.end <= 400 - edge]
    assert len(inner) >= 6
    assert set(inner) == {50}


def test_training_on_a_long_sentence(short_nlp):
    nlp = PARSER.make(max_length=10)
    doc = Doc(nlp.vocab, words=["w"] * 35, heads=[0] * 35, deps=["ROOT"] + ["obj"] * 34)
    loss = nlp.update(examples_of([doc]), losses={})["norm_biaffine_parser"]
    assert 0 < loss < 100


@pytest.mark.parametrize("given", [True, False])
def test_5000_tokens(random_nlp, given):
    doc = random_nlp(long_doc(random_nlp, 5000, given=given))
    assert len(doc) == 5000
    sizes = [len(sent) for sent in doc.sents]
    assert sizes == [5000] if given else max(sizes) <= 1000
    assert len(roots(doc)) == len(sizes)
    assert np.isfinite(PARSER.scores(doc)).all()


def test_a_long_doc_does_not_change_the_parse_of_a_short_one(random_nlp):
    short = random_nlp("Rain fell on us.")
    long = long_doc(random_nlp, 1200, given=True)
    _, beside = random_nlp.pipe([long, random_nlp.make_doc(short.text)])
    assert PARSER.read(beside) == PARSER.read(short)
    np.testing.assert_allclose(PARSER.scores(beside), PARSER.scores(short), atol=1e-5)


# Labels


def test_root_labels_at_roots_alone():
    """A label that gold has at roots alone, or never there, is predicted so; others are free."""
    nlp = spacy.blank("en")
    fix_random_seed(0)
    PARSER.add_to(nlp)
    docs = [
        *gold_docs(nlp.vocab),
        Doc(nlp.vocab, words=["a", "b"], heads=[0, 0], deps=["both", "both"]),
        Doc(nlp.vocab, words=["c"], heads=[0], deps=["fragment"]),
    ]
    nlp.initialize(lambda: examples_of(docs))
    parser = parser_of(nlp)
    assert parser.cfg["roots"] == ["ROOT", "both", "fragment"]
    assert {"both", "nsubj"} <= set(parser.cfg["inner"])
    assert not {"ROOT", "fragment"} & set(parser.cfg["inner"])
    at_root, inside = set(), set()
    for n in range(1, 60):
        doc = nlp(Doc(nlp.vocab, words=[f"w{(i * n) % 23}" for i in range(n)]))
        for token in doc:
            (at_root if token.head.i == token.i else inside).add(token.dep_)
    assert at_root <= {"ROOT", "both", "fragment"}
    assert inside <= set(parser.cfg["inner"])
    assert len(at_root) > 1
    assert len(inside) > 1


def test_a_label_added_by_hand_may_stand_anywhere():
    nlp = spacy.blank("en")
    parser = PARSER.add_to(nlp)
    parser.add_label("new")
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    number = parser.labels.index("new")
    assert number in parser.model.attrs["roots"]
    assert number in parser.model.attrs["inner"]
    assert parser.labels.index("ROOT") not in parser.model.attrs["inner"]


# Settings


@pytest.mark.parametrize("layers", range(11))
def test_n_layers(layers):
    nlp = PARSER.make(lstm_layers=layers, lstm_hidden=4)
    module = parser_of(nlp).model.get_ref("parser").shims[0].module
    lstms = [part for part in module.modules() if isinstance(part, torch.nn.LSTM)]
    assert len(lstms) == 2 * layers
    assert_well_formed(nlp("Rain fell. Nobody slept."))


@pytest.mark.parametrize("layers", [-1, 11])
def test_other_numbers_of_layers_are_refused(layers):
    with pytest.raises(ValueError, match=f"0 to 10, not {layers}"):
        PARSER.make(lstm_layers=layers)


@pytest.mark.parametrize("size", [7, 16])
def test_normalize_is_one_over_the_root_of_d(size):
    scores = []
    for normalize in (True, False):
        nlp = PARSER.make(normalize=normalize, arc_size=size)
        docs = [bare(doc) for doc in gold_docs(nlp.vocab)]
        inputs = ParserInput(docs, [np.arange(9), np.arange(9, 16)], {"head": np.zeros(16, int)})
        found, _ = parser_of(nlp).model.begin_update(inputs)
        scores.append([batch.scores for batch in found.arcs])
    compared = 0
    for normalized, raw in zip(*scores, strict=True):
        arcs = raw.arcs > -1e30
        assert (arcs == (normalized.arcs > -1e30)).all()
        torch.testing.assert_close(normalized.arcs[arcs] * math.sqrt(size), raw.arcs[arcs])
        torch.testing.assert_close(normalized.labels, raw.labels)
        compared += int(arcs.sum())
    assert compared > 100


def test_tags_are_read():
    """The same words with other tags are other trees."""
    nlp = spacy.blank("en")
    fix_random_seed(0)
    PARSER.add_to(nlp, tag_size=8)
    trees = {("A", "B"): ([1, 1], ["x", "ROOT"]), ("B", "A"): ([0, 0], ["ROOT", "x"])}

    def examples() -> list[Example]:
        return [
            Example(
                Doc(nlp.vocab, words=["w", "w"], tags=list(tags)),
                Doc(nlp.vocab, words=["w", "w"], tags=list(tags), heads=heads, deps=deps),
            )
            for tags, (heads, deps) in trees.items()
        ]

    nlp.initialize(examples)
    assert parser_of(nlp).cfg["tags"] == ["A", "B"]
    optimizer = Adam(0.02, L2=0.0)
    for _ in range(60):
        nlp.update(examples(), sgd=optimizer)
    for eg in examples():
        assert PARSER.read(nlp(eg.predicted)) == PARSER.read(eg.reference)
    # A tag never seen, and one Doc without tags among others, are no error.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        docs = [Doc(nlp.vocab, words=["w"]), Doc(nlp.vocab, words=["w", "w"], tags=["A", "NEW"])]
        assert [len(doc) for doc in nlp.pipe(docs)] == [1, 2]


def test_missing_tags_are_one_warning():
    nlp = PARSER.make(tag_size=4)
    with pytest.warns(UserWarning, match="reads the tags of a Doc, and there are none") as caught:
        for _ in range(3):
            assert_well_formed(nlp("Rain fell."))
        train(nlp, 1)
    assert len([w for w in caught if "reads the tags" in str(w.message)]) == 1


def test_without_tag_size_no_tags_are_kept(trained_nlp):
    assert parser_of(trained_nlp).cfg["tags"] == []


def test_tags_that_no_gold_has():
    nlp = spacy.blank("en")
    PARSER.add_to(nlp, tag_size=4)
    docs = [Doc(nlp.vocab, words=["a", "b"], heads=[0, 0], deps=["ROOT", "x"])]
    nlp.initialize(lambda: examples_of(docs))
    with pytest.warns(UserWarning, match="there are none"):
        assert_well_formed(nlp("a b"))


# Scores


def test_scores_are_probabilities(trained_nlp):
    doc = trained_nlp(bare(gold_docs(trained_nlp.vocab)[0]))
    scores = PARSER.scores(doc)
    assert scores.shape == (9, 2)
    assert ((scores >= 0) & (scores <= 1)).all()
    # It knows this Doc by heart.
    assert (scores > 0.5).all()


def test_untrained_scores_are_unsure(random_nlp):
    scores = PARSER.scores(random_nlp("Rain fell on all of us yesterday , letters came"))
    assert ((scores > 0) & (scores <= 1)).all()
    assert scores.mean() < 0.8


def test_scores_survive_saving(trained_nlp):
    doc = trained_nlp("Rain  fell. Nobody slept.")
    wanted = PARSER.scores(doc)
    copies = [
        Doc(trained_nlp.vocab).from_bytes(doc.to_bytes()),
        *DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(trained_nlp.vocab),
        doc.copy(),
    ]
    assert len(copies) == 3
    for copy in copies:
        np.testing.assert_array_equal(PARSER.scores(copy), wanted)
        assert PARSER.read(copy) == PARSER.read(doc)


def test_scores_of_merged_tokens_are_none(trained_nlp):
    doc = trained_nlp("Rain fell. Nobody slept.")
    before = [token._.head_prob for token in doc]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert [token._.head_prob for token in doc] == [None, *before[2:]]


def test_scores_are_off_by_default():
    nlp = spacy.blank("en")
    nlp.add_pipe("norm_biaffine_parser", config={"model": {**PARSER.model, "tok2vec": TOK2VEC}})
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    assert nlp.get_pipe_config("norm_biaffine_parser")["store_scores"] is False
    doc = nlp("Rain fell.")
    assert {(t._.head_prob, t._.label_prob) for t in doc} == {(None, None)}
    assert not doc.spans


# The loss


def test_loss_by_hand():
    """Equal scores: log 2 for starts, log 3 for heads, log 4 for labels, each once per word."""
    vocab = spacy.blank("en").vocab
    gold = Doc(vocab, words=["a", "b"], heads=[1, 1], deps=["x", "ROOT"])
    targets = tree_targets(examples_of([gold]), {"x": 0, "ROOT": 1}, 100)
    tokens = np.array([[0, 1]])
    scores = ParserScores(
        starts=[Scored(tokens, StartScores(torch.zeros(1, 2)))],
        arcs=[Scored(tokens, ArcScores(torch.zeros(1, 2, 3), torch.zeros(1, 2, 4)))],
    )
    loss, (d_starts, d_arcs) = parser_loss(scores, targets)
    assert loss == pytest.approx(math.log(2) + math.log(3) + math.log(4))
    # The first word's start is not learned; 'b' starts no sentence.
    torch.testing.assert_close(d_starts[0][0], torch.tensor([[0.0, 0.5]]))
    third = 1 / 3
    wanted = torch.tensor([[[third, third, third - 1], [third - 1, third, third]]]) / 2
    torch.testing.assert_close(d_arcs[0][0], wanted)
    wanted = torch.full((1, 2, 4), 1 / 4)
    wanted[0, 0, 0] -= 1
    wanted[0, 1, 1] -= 1
    torch.testing.assert_close(d_arcs[0][1], wanted / 2)


def test_loss_is_a_mean_over_words():
    """A batch of the same Doc twice has the same loss and the same gradient."""
    losses = []
    for times in (1, 2):
        nlp = PARSER.make()
        examples = examples_of(gold_docs(nlp.vocab) * times)
        losses.append(nlp.update(examples, sgd=False)["norm_biaffine_parser"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_default_config_trains():
    nlp = spacy.blank("en")
    nlp.add_pipe("norm_biaffine_parser")
    optimizer = nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    losses = [
        nlp.update(examples_of(gold_docs(nlp.vocab)), sgd=optimizer, losses={}) for _ in range(4)
    ]
    assert losses[-1]["norm_biaffine_parser"] < losses[0]["norm_biaffine_parser"]
    assert_well_formed(nlp("Two sentences. Here they are."))


def test_max_length_of_a_saved_parser_can_be_lowered(tmp_path):
    PARSER.make().to_disk(tmp_path)
    loaded = spacy.load(
        tmp_path, config={"components": {PARSER.name: {"model": {"max_length": 3}}}}
    )
    doc = loaded(Doc(loaded.vocab, words=["rain"] * 10))
    assert max(len(sentence) for sentence in doc.sents) <= 3


@pytest.mark.parametrize("setting", [{"hops": 4}, {"hops": -1}, {"lstm_layers": 11}])
def test_settings_out_of_range(setting):
    (name,) = setting
    with pytest.raises(ValueError, match=f"{name} must be 0 to"):
        PARSER.make(**setting)
