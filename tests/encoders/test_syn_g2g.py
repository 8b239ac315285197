"""The encoders that condition on trees: equal to the checkpoint without one, and what they read."""

import pickle
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from numpy.testing import assert_allclose, assert_array_equal
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, Model, fix_random_seed, set_dropout_rate

from spacy_biaffine.doc.graphs import Frame, Role, set_frames
from spacy_biaffine.encoders.graph_transformer import SynG2GLayers, SynG2GTransformer
from spacy_biaffine.encoders.trees import LearnTrees, read_trees, show_trees
from spacy_biaffine.models.optimizers import Adam as RatedAdam
from spacy_biaffine.models.torch_layer import module_of

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from tiny_bert import DEPTH, HIDDEN, SAVE  # noqa: E402 (needs transformers)

NLP = spacy.blank("en")
LONG = [*(f"w{i}" for i in range(30)), "y" * 60, "\u200d", "z"]


def parsed(words: list[str], heads: list[int], deps: list[str], tags: list[str]) -> Doc:
    return Doc(NLP.vocab, words=words, heads=heads, deps=deps, tags=tags)


def trees() -> list[Doc]:
    """Crossing arcs, two roots in a sentence, a word without pieces, a blank, long words."""
    return [
        parsed(
            ["the", "man", "fell", "."], [1, 2, 2, 2], ["det", "nsubj", "ROOT", "p"], list("DNVP")
        ),
        parsed(["a", "b", "c", "d"], [2, 3, 2, 2], ["x", "y", "ROOT", "z"], list("ABCD")),
        parsed(
            ["rain", "\u200d", "\n", "falls"],
            [3, 0, 0, 3],
            ["nsubj", "p", "p", "ROOT"],
            list("NPPV"),
        ),
        parsed(["[SEP]", "rain"], [1, 1], ["p", "ROOT"], ["P", "N"]),
    ]


def untagged(doc: Doc) -> Doc:
    return Doc(doc.vocab, words=[token.text for token in doc])


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    torch.manual_seed(0)
    found = {}
    for kind, save in SAVE.items():
        found[kind] = tmp_path_factory.mktemp(kind)
        save(found[kind])
    return found


@pytest.fixture(params=list(SAVE))
def folder(request, folders) -> Path:
    return folders[request.param]


@pytest.fixture
def bert(folders) -> Path:
    return folders["bert"]


def shown(model: Model) -> Model:
    fix_random_seed(0)
    docs = trees()
    show_trees(model, None, lambda: [Example(doc, doc) for doc in docs])
    model.initialize(X=docs)
    return model


def from_bert(folder: Path, **settings) -> Model:
    return shown(SynG2GTransformer(str(folder), **{"window": 32, **settings}))


def over_vectors(**settings) -> Model:
    tok2vec = spacy.registry.resolve({"tok2vec": NLP_TOK2VEC})["tok2vec"]
    settings = {"size": 12, "layers": 2, "heads": 3, **settings}
    return shown(SynG2GLayers(tok2vec, **settings))


NLP_TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 8,
    "depth": 1,
    "embed_size": 100,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}


@pytest.fixture(params=["bert", "layers"])
def model(request, bert) -> Model:
    return from_bert(bert) if request.param == "bert" else over_vectors()


def network(model: Model) -> torch.nn.Module:
    return module_of(model.get_ref("network"))


def blind(model: Model) -> Model:
    """Relation and tag embeddings of zero."""
    module = network(model)
    with torch.no_grad():
        for table in (*module.transformer.relations, *module.transformer.value_relations):
            table.zero_()
        if module.tags is not None:
            module.tags.embedding.weight.zero_()
    return model


@lru_cache
def load_whole(folder: Path) -> tuple:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    return tokenizer, transformers.AutoModel.from_pretrained(folder).eval()


def reference(folder: Path, words: list[str], depth: int) -> np.ndarray:
    """The checkpoint's own states, of the first piece of each word; zero without pieces."""
    tokenizer, whole = load_whole(folder)
    ids, places = [tokenizer.cls_token_id], []
    for word in words:
        settings = {"add_special_tokens": False, "split_special_tokens": True}
        pieces = tokenizer.encode(word, **settings) if word.strip() else []
        places.append(len(ids) if pieces else None)
        ids.extend(pieces)
    ids.append(tokenizer.sep_token_id)
    with torch.no_grad():
        states = whole(torch.tensor([ids]), output_hidden_states=True).hidden_states[depth][0]
    zero = np.zeros(HIDDEN, dtype="float32")
    return np.array([zero if place is None else states[place].numpy() for place in places])


# What is computed


@pytest.mark.parametrize("layers", [None, 1, 2])
def test_equals_the_checkpoint_without_relations(folder, layers):
    """With zero embeddings and a tree, and where neither tree nor tags are read."""
    docs = [doc[:].as_doc() for doc in trees()] + trees()[3:]
    settings = {"reads_query": False, "reads_key": False, "reads_tags": False}
    for model in (
        blind(from_bert(folder, layers=layers)),
        from_bert(folder, layers=layers, **settings),
    ):
        assert model.get_dim("nO") == HIDDEN
        for doc, vectors in zip(docs, model.predict(docs), strict=True):
            depth = DEPTH if layers is None else layers
            words = [token.text for token in doc]
            assert_allclose(vectors, reference(folder, words, depth), atol=1e-5)


def test_all_weights_come_from_the_checkpoint(folder):
    """Nothing but relations and tags depends on the seed."""
    states = []
    for seed in (0, 1):
        model = from_bert(folder)
        fix_random_seed(seed)
        model.initialize(X=trees())
        states.append(network(model).state_dict())
    differ = {name for name in states[0] if not torch.equal(states[0][name], states[1][name])}
    assert differ == {
        "tags.embedding.weight",
        *(f"transformer.relations.{n}" for n in range(DEPTH)),
    }


def changed(model: Model, doc: Doc, other: Doc) -> np.ndarray:
    """Which words have another vector."""
    one, two = model.predict([doc, other])
    return np.abs(one - two).max(axis=1) > 1e-4


def test_heads_labels_and_tags_are_read(model):
    words, deps, tags = ["the", "man", "fell"], ["det", "nsubj", "ROOT"], ["D", "N", "V"]
    doc = parsed(words, [1, 2, 2], deps, tags)
    module = network(model)
    with torch.no_grad():
        for table in module.transformer.relations:
            table *= 50
    assert not changed(model, doc, doc.copy()).any()
    assert changed(model, doc, parsed(words, [2, 2, 2], deps, tags)).all()
    assert changed(model, doc, parsed(words, [1, 2, 2], ["p", *deps[1:]], tags)).all()
    assert changed(model, doc, parsed(words, [1, 2, 2], deps, ["D", "N", "P"])).any()


def test_what_is_not_read_changes_nothing(bert):
    blind_to_all = {"reads_query": False, "reads_key": False, "reads_tags": False}
    for model in (from_bert(bert, **blind_to_all), over_vectors(**blind_to_all)):
        for doc in trees():
            assert not changed(model, doc, untagged(doc)).any()


@pytest.mark.parametrize("reads", ["reads_query", "reads_key", "reads_value"])
def test_ablations(bert, reads):
    settings = {"reads_query": False, "reads_key": False, "reads_tags": False, reads: True}
    for model in (from_bert(bert, **settings), over_vectors(**settings)):
        for table in network(model).transformer.parameters():
            table.data *= 5
        doc = trees()[0]
        other = untagged(doc)
        with pytest.warns(UserWarning, match="have no dependency tree"):
            assert changed(model, doc, other).any()


def test_further_pieces_copy_the_arc_or_point_to_the_first(bert):
    vectors = [
        from_bert(bert, pieces_copy_arcs=copy).predict(trees()[2:3])[0] for copy in (False, True)
    ]
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4
    one_piece_each = trees()[1:2]
    vectors = [
        from_bert(bert, pieces_copy_arcs=copy).predict(one_piece_each)[0] for copy in (False, True)
    ]
    assert_allclose(vectors[0], vectors[1], atol=1e-6)


def test_unknown_labels_are_arcs_still(model):
    words = ["the", "man", "fell"]
    new = parsed(words, [1, 2, 2], ["new", "newer", "ROOT"], ["D", "N", "V"])
    newer = parsed(words, [1, 2, 2], ["newest", "new", "ROOT"], ["D", "N", "V"])
    none = parsed(words, [0, 1, 2], ["ROOT", "ROOT", "ROOT"], ["D", "N", "V"])
    with torch.no_grad():
        for table in network(model).transformer.relations:
            table *= 50
    assert not changed(model, new, newer).any()
    assert changed(model, new, none).any()


def test_sentences_are_read_one_by_one(bert):
    words, deps, tags = ["rain", "fell", "a", "b"], ["x", "ROOT", "y", "ROOT"], list("NVAB")
    whole = parsed(words, [1, 1, 3, 3], deps, tags)
    parts = [whole[:2].as_doc(), whole[2:].as_doc()]
    model = from_bert(bert)
    assert_allclose(model.predict([whole])[0], np.concatenate(model.predict(parts)), atol=1e-5)


def test_arcs_out_of_a_sentence_are_left_out():
    words, deps, tags = ["rain", "fell", "a", "b"], ["x", "ROOT", "y", "ROOT"], list("NVAB")
    doc = parsed(words, [1, 1, 3, 3], deps, tags)
    model = from_labels(["x", "y", "ROOT"], tags)
    one = read_trees(model, [doc], [np.arange(4)])
    assert one.heads.tolist() == [1, -1, 3, -1]
    assert one.labels.tolist() == [1, 3, 2, 3]
    assert one.tags.tolist() == [1, 2, 3, 4]
    across = read_trees(model, [doc, doc], [np.array([0, 2]), np.array([4, 5, 7]), np.array([6])])
    assert across.heads.tolist() == [-1, -1, -1, -1, 1, -1, -1, -1]


def from_labels(labels: list[str], tags: list[str]) -> Model:
    attrs = {"reads_trees": True, "labels": labels, "tags": tags}
    return Model("encoder", lambda *_: None, attrs=attrs)


# Missing trees, odd Docs


def test_one_warning_for_docs_without_a_tree(model):
    bare = [*map(untagged, trees()), Doc(NLP.vocab, words=["rain"])]
    with pytest.warns(UserWarning, match="4 of 5 Docs have no dependency tree") as caught:
        vectors = model.predict(bare)
        model.predict(bare)
    assert len(caught) == 1
    none = [
        parsed([t.text for t in doc], list(range(len(doc))), ["ROOT"] * len(doc), [""] * len(doc))
        for doc in bare
    ]
    for doc in none:
        doc.from_array(["SENT_START"], np.array([[1], *[[2**64 - 1]] * (len(doc) - 1)], "uint64"))
    for one, two in zip(vectors, model.predict(none), strict=True):
        assert_allclose(one, two, atol=1e-5)


def test_no_warning_where_trees_are_not_read(bert):
    settings = {"reads_query": False, "reads_key": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (from_bert(bert, **settings), over_vectors(**settings)):
            model.predict([untagged(doc) for doc in trees()])


def test_nothing_at_all(model):
    width = model.get_dim("nO")
    empty = [Doc(NLP.vocab), Doc(NLP.vocab)]
    for is_train in (False, True):
        vectors, backprop = model(empty, is_train=is_train)
        assert [v.shape for v in vectors] == [(0, width), (0, width)]
    odd = [Doc(NLP.vocab, words=words) for words in ([], [" "], ["\u200b"], ["\x00"], ["\ufe0f"])]
    for is_train in (False, True):
        vectors, backprop = model(odd, is_train=is_train)
        assert [v.shape for v in vectors] == [(len(doc), width) for doc in odd]
        assert all(np.isfinite(v).all() for v in vectors)
        assert not vectors[1].any()
        if is_train:
            backprop(vectors)


def test_no_docs(bert):
    assert from_bert(bert).predict([]) == []


def test_words_without_pieces_shift_nobody(bert):
    with_joiner = trees()[2]
    vectors = from_bert(bert).predict([with_joiner])[0]
    without = parsed(["rain", "falls"], [1, 1], ["nsubj", "ROOT"], ["N", "V"])
    expected = from_bert(bert).predict([without])[0]
    assert not vectors[1:3].any()
    assert_allclose(vectors[[0, 3]], expected, atol=1e-5)


def test_batch_equals_single(model):
    heads = [max(0, n - 1) for n in range(len(LONG))]
    long = parsed(LONG, heads, ["ROOT", *["x"] * (len(LONG) - 1)], ["N"] * len(LONG))
    docs = [*trees(), long]
    for doc, vectors in zip(docs, model.predict(docs), strict=True):
        assert vectors.shape == (len(doc), model.get_dim("nO"))
        assert_allclose(vectors, model.predict([doc])[0], atol=1e-5)


def test_long_sentences_are_read_in_parts(bert):
    n = 90
    words = [f"w{i % 7}" for i in range(n)]
    doc = parsed(words, [0, *range(n - 1)], ["ROOT", *["x"] * (n - 1)], ["N"] * n)
    vectors = from_bert(bert).predict([doc])[0]
    assert np.abs(vectors).max(axis=1).min() > 0
    parts = over_vectors(max_length=40).predict([doc])[0]
    assert np.abs(parts).max(axis=1).min() > 0
    assert np.abs(parts - over_vectors(max_length=90).predict([doc])[0]).max() > 1e-3


# Training


def test_everything_learns(model):
    """Every weight moves: those of the checkpoint, of relations and tags, of what is below."""
    before = {name: p.detach().clone() for name, p in network(model).named_parameters()}
    below = [layer.to_bytes() for layer in model.layers[:-1]]
    set_dropout_rate(model, 0.1)
    optimizer = Adam(0.01, L2=0.0)
    losses = []
    for _ in range(20):
        vectors, backprop = model.begin_update(trees())
        losses.append(sum(float(((v - 1) ** 2).sum()) for v in vectors))
        backprop([2 * (v - 1) for v in vectors])
        model.finish_update(optimizer)
    assert losses[-1] < 0.8 * losses[0]
    still = {n for n, p in network(model).named_parameters() if torch.equal(p, before[n])}
    assert still == set()
    assert below != [layer.to_bytes() for layer in model.layers[:-1]] or not below


def test_dropout_is_applied(model):
    set_dropout_rate(model, 0.5)
    one, two = (model.begin_update(trees())[0] for _ in range(2))
    assert any(np.abs(a - b).max() > 1e-3 for a, b in zip(one, two, strict=True))
    assert_array_equal(model.predict(trees())[0], model.predict(trees())[0])


def test_pretrained_and_new_weights_have_rates_of_their_own(bert):
    """The names that the configs give the lower rate are those of the checkpoint, and no others."""
    model = from_bert(bert)
    before = {name: p.detach().clone() for name, p in network(model).named_parameters()}
    rates = {"embeddings.*": 0.0, "transformer.layers.*": 0.0}
    vectors, backprop = model.begin_update(trees())
    backprop(vectors)
    model.finish_update(RatedAdam(0.01, rate_factors=rates))
    moved = {n for n, p in network(model).named_parameters() if not torch.equal(p, before[n])}
    relations = {f"transformer.relations.{n}" for n in range(DEPTH)}
    assert moved == {"tags.embedding.weight", *relations}


def test_shared_encoder(bert):
    """By listeners, with labels from the callback; its gradient arrives."""
    nlp = spacy.blank("en")
    name = {"@architectures": "spacy-biaffine.SynG2GTransformer.v1", "name": str(bert)}
    shared = nlp.add_pipe("tok2vec", config={"model": name})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": HIDDEN, "upstream": "*"}
    nlp.add_pipe("syntax_srl", config={"model": {"tok2vec": listener}})
    gold = Doc(nlp.vocab, words=["rain", "fell"], heads=[1, 1], deps=["x", "ROOT"])
    set_frames(gold, [Frame((gold[1:2],), None, (Role("A1", (gold[0:1],)),))])
    examples = [Example(gold.copy(), gold)]
    LearnTrees(lambda nlp: examples)(nlp)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: examples)
    encoder = next(node for node in shared.model.walk() if node.name == "SynG2GTransformer")
    assert encoder.attrs["labels"] == ["ROOT", "x"]
    before = encoder.to_bytes()
    for _ in range(2):
        nlp.update(examples, sgd=Adam(0.01, L2=0.0))
    assert encoder.to_bytes() != before
    loaded = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    found = (str(pipeline(gold.copy())._.frames) for pipeline in (loaded, nlp))
    assert len(set(found)) == 1


# Labels, saving, errors


def test_without_labels_shown_the_sample_is_learned_with_a_warning(bert):
    model = SynG2GTransformer(str(bert), window=32)
    with pytest.warns(UserWarning, match="LearnTrees"):
        model.initialize(X=trees())
    assert model.attrs["labels"] == ["ROOT", "det", "nsubj", "p", "x", "y", "z"]
    assert model.attrs["tags"] == ["A", "B", "C", "D", "N", "P", "V"]


@pytest.mark.parametrize("kind", ["bert", "layers"])
def test_saved_without_the_checkpoint(kind, bert, monkeypatch):
    """A model made from the config alone, where there is no checkpoint, takes all from bytes."""

    def unmade() -> Model:
        if kind == "bert":
            return SynG2GTransformer("/nowhere", window=32)
        tok2vec = spacy.registry.resolve({"tok2vec": NLP_TOK2VEC})["tok2vec"]
        return SynG2GLayers(tok2vec, size=12, layers=2, heads=3)

    model = from_bert(bert) if kind == "bert" else over_vectors()
    expected = model.predict(trees())
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", None)
    loaded = unmade()
    loaded.initialize()
    loaded.from_bytes(model.to_bytes())
    assert loaded.get_dim("nO") == model.get_dim("nO")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        for mine, theirs in zip(expected, other.predict(trees()), strict=True):
            assert_array_equal(mine, theirs)


def test_window_can_be_set_for_a_saved_model(bert):
    model = from_bert(bert)
    loaded = SynG2GTransformer("/nowhere", window=20).from_bytes(model.to_bytes())
    assert loaded.attrs["window"] == 20


def test_errors_name_the_thing_and_the_remedy(bert, tmp_path):
    with pytest.raises(OSError, match="SynG2GTransformer: cannot load an encoder from"):
        from_bert(tmp_path)
    with pytest.raises(ValueError, match=r"SynG2GTransformer: layers = \[9\]"):
        from_bert(bert, layers=9)
    with pytest.raises(ValueError, match="layers must be 1 or more"):
        SynG2GTransformer("x", layers=0)
    with pytest.raises(ValueError, match="window must be at least"):
        SynG2GTransformer("x", window=3)
    with pytest.raises(ValueError, match=r"heads \(5\) must divide size \(12\)"):
        over_vectors(heads=5)


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        ("Albert", {"num_hidden_layers": 2}, "albert with absolute positions"),
        ("Bert", {"position_embedding_type": "relative_key"}, "with relative_key positions"),
        ("Bert", {"hidden_act": "silu"}, "activation silu"),
    ],
)
def test_other_families_are_refused(bert, tmp_path, family, settings, message):
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 200}
    config = getattr(transformers, f"{family}Config")(**{**sizes, **settings})
    getattr(transformers, f"{family}Model")(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(bert).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=message):
        from_bert(tmp_path)
