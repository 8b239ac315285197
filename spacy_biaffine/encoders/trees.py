"""Trees and tags that stand on Docs, as numbers, for encoders that condition on them."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.attrs import DEP, HEAD, TAG
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..doc.segments import token_index
from ..types import Ints

READS_TREES = "reads_trees"
"""Attribute of encoders that can condition on trees, false where they leave arcs unread. Their
labels and tags are None until they are shown."""

UNKNOWN = 0
"""Number of labels that the training data lack; the known ones follow. So 0 is no known tag."""

_warned: set[int] = set()


@dataclass(frozen=True)
class Trees:
    """The trees of some Docs, one number per token, counted over all of them.

    heads: place of the head in the sentence, -1 at roots and where there is none in the sentence.
    labels: number of the arc's label. tags: number of the tag, 0 where there is none.
    """

    heads: Ints
    labels: Ints
    tags: Ints


def LearnTrees(  # noqa: N802 (spaCy names registered functions like classes)
    corpus: Callable[[Language], Iterable[Example]],
) -> Callable[[Language], Language]:
    """A callback for [initialize.before_init] that shows the labels and tags of a corpus to every
    encoder that conditions on trees.

    corpus: a corpus reader, as a rule ${corpora.train}.
    """

    def show(nlp: Language) -> Language:
        for _, pipe in nlp.pipeline:
            model = getattr(pipe, "model", None)
            if isinstance(model, Model):
                show_trees(model, nlp, lambda: corpus(nlp))
        return nlp

    return show


def show_trees(
    model: Model, nlp: Language | None, examples: Callable[[], Iterable[Example]]
) -> None:
    """Show every encoder within a model that conditions on trees what labels and tags there are.

    They are those of the pipeline's components that assign them, of the gold Docs, and of the
    predicted ones, since some other parser may have been there.
    """
    encoders = [node for node in model.walk() if READS_TREES in node.attrs]
    if not encoders:
        return
    docs = (doc for eg in examples() for doc in (eg.predicted, eg.reference))
    labels, tags = labels_and_tags(docs)
    if nlp is not None:
        labels |= _labels_of_pipes(nlp, "token.dep")
        tags |= _labels_of_pipes(nlp, "token.tag")
    for encoder in encoders:
        encoder.attrs["labels"], encoder.attrs["tags"] = sorted(labels), sorted(tags)


def labels_and_tags(docs: Iterable[Doc]) -> tuple[set[str], set[str]]:
    """The labels of arcs, and the tags, that stand on Docs."""
    labels: set[str] = set()
    tags: set[str] = set()
    for doc in docs:
        labels.update(token.dep_ for token in doc)
        tags.update(token.tag_ for token in doc)
    return labels - {""}, tags - {""}


def learn_from_sample(model: Model, docs: Sequence[Doc]) -> None:
    """Give an encoder that was shown nothing the labels and tags of some Docs, with a warning."""
    if model.attrs["labels"] is None:
        labels, tags = labels_and_tags(docs)
        model.attrs["labels"], model.attrs["tags"] = sorted(labels), sorted(tags)
        warnings.warn(
            f"{model.name} has been shown {len(docs)} Docs, and knows the labels and tags of no "
            f"others. To share it by listeners, add the callback spacy-biaffine.LearnTrees.v1 as "
            f"[initialize.before_init], with corpus = ${{corpora.train}}.",
            stacklevel=3,
        )


def read_trees(model: Model, docs: Sequence[Doc], sentences: Sequence[Ints]) -> Trees:
    """The trees of Docs with sentences as in `Sentences.cuts`.

    Heads are read from the tokens alone, so a tree may have crossing arcs and several roots. Arcs
    out of a sentence and to blank tokens are left out. A Doc without a tree has no arcs; the
    first time a model meets one, there is a warning.
    """
    _warn_of_no_trees(model, docs)
    values = np.concatenate([doc.to_array([HEAD, DEP, TAG]).reshape(-1, 3) for doc in docs])
    offsets = values[:, 0].astype(np.int64)
    heads = np.arange(len(values)) + offsets
    sentence, place = token_index(sentences, len(values))
    inside = (offsets != 0) & (sentence >= 0) & (sentence[heads] == sentence)
    return Trees(
        heads=np.where(inside, place[heads], -1),
        labels=_numbers(values[:, 1], model.attrs["labels"]),
        tags=_numbers(values[:, 2], model.attrs["tags"]),
    )


def _warn_of_no_trees(model: Model, docs: Sequence[Doc]) -> None:
    if not model.attrs[READS_TREES] or model.id in _warned:
        return
    without = sum(len(doc) > 1 and not doc.has_annotation("DEP") for doc in docs)
    if without:
        _warned.add(model.id)
        warnings.warn(
            f"{model.name}: {without} of {len(docs)} Docs have no dependency tree, and are read "
            f"without one. Put a parser before the component, and in training name it in "
            f"[training] annotating_components.",
            stacklevel=4,
        )


def _numbers(hashes: np.ndarray, names: Sequence[str]) -> Ints:
    """The number of each name, from 1; `UNKNOWN` for others."""
    known = np.array([get_string_id(name) for name in names], dtype=np.uint64)
    if not len(known):
        return np.full(len(hashes), UNKNOWN, dtype=np.int64)
    order = np.argsort(known)
    at = np.searchsorted(known[order], hashes).clip(max=len(known) - 1)
    return np.where(known[order[at]] == hashes, order[at] + 1, UNKNOWN)


def _labels_of_pipes(nlp: Language, attribute: str) -> set[str]:
    """The labels of all components that assign an attribute."""
    return {
        label
        for name, pipe in nlp.pipeline
        if attribute in nlp.get_pipe_meta(name).assigns
        for label in getattr(pipe, "labels", ())
    }
