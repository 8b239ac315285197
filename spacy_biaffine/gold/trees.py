"""From Examples to targets of dependency parsers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from spacy.attrs import DEP, HEAD, IS_SPACE, SENT_START
from spacy.training import Example

from ..decode.sentences import cut_overlong
from ..doc.segments import cut_at_starts, token_index, words_of
from ..types import Ints
from .alignment import partners, same_tokens
from .left_out import HEAD_OUTSIDE, LeftOut


@dataclass(frozen=True)
class TreeTargets:
    """Gold trees of a batch; one value per token, counted over all its Docs.

    cuts: the gold sentences, without blank tokens.
    starts: 1 where a sentence starts, 0 where none does, -1 where that is not known. The first
        word of a Doc is always -1: there is nothing to learn.
    heads: position of the head in its sentence, from 1; 0 at roots; -1 where there is no gold
        head that the model could find.
    labels: number of the label, -1 where there is none.
    left_out: what can't be learned.
    """

    cuts: list[Ints]
    starts: Ints
    heads: Ints
    labels: Ints
    left_out: LeftOut


def tree_targets(
    examples: Sequence[Example], labels: Mapping[str, int], max_length: int
) -> TreeTargets:
    """Targets for a dependency parser. Unknown labels and unaligned tokens have none."""
    words = words_of([eg.predicted for eg in examples])
    parts = [_aligned_tree(eg, labels) for eg in examples]
    lengths = [len(eg.predicted) for eg in examples]
    offsets = np.cumsum([0, *lengths])
    heads = np.concatenate(
        [p.heads + o * (p.heads >= 0) for p, o in zip(parts, offsets[:-1], strict=True)]
    )
    sentences, starts = cut_at_starts(words, np.concatenate([p.starts for p in parts]))
    for doc_words in words:
        starts[doc_words[:1]] = -1
    cuts = [
        part for each in sentences for whole in each for part in cut_overlong(whole, max_length)
    ]
    positions = _sentence_heads(cuts, heads)
    every_word = np.concatenate([np.zeros(0, dtype=np.int64), *words])
    outside = int(((heads >= 0) & (positions < 0))[every_word].sum())
    return TreeTargets(
        cuts=cuts,
        starts=starts,
        heads=positions,
        labels=np.concatenate([p.labels for p in parts]),
        left_out=+Counter({HEAD_OUTSIDE: outside}),
    )


def arc_labels(example: Example) -> tuple[set[str], set[str]]:
    """The labels of the gold tree: at its roots, and elsewhere."""
    labelled = [token for token in example.reference if token.dep and not token.is_space]
    roots = {token.dep_ for token in labelled if token.head.i == token.i}
    return roots, {token.dep_ for token in labelled if token.head.i != token.i}


@dataclass(frozen=True)
class _Tree:
    """A gold tree on the predicted tokens; -1 is unknown, a root is its own head."""

    heads: Ints
    labels: Ints
    starts: Ints


def _aligned_tree(example: Example, labels: Mapping[str, int]) -> _Tree:
    if same_tokens(example):
        gold = example.reference.to_array([HEAD, DEP, SENT_START]).astype(np.int64).reshape(-1, 3)
        strings = example.reference.vocab.strings
        heads = np.arange(len(gold)) + gold[:, 0]
        # A token without a label has no head either: spaCy shows it as its own.
        heads[gold[:, 1] == 0] = -1
        names = [strings[int(dep)] for dep in gold[:, 1].view(np.uint64)]
        starts = np.select([gold[:, 2] == 1, gold[:, 2] == -1], [1, 0], default=-1)
    else:
        aligned_heads, aligned_deps = example.get_aligned_parse(projectivize=False)
        sure = partners(example) >= 0
        names = [dep or "" for dep in aligned_deps]
        heads = np.array(
            [
                h if h is not None and d and s else -1
                for h, d, s in zip(aligned_heads, names, sure, strict=True)
            ],
            dtype=np.int64,
        )
        marks = example.get_aligned_sent_starts()
        starts = np.array([-1 if mark is None else int(mark) for mark in marks], np.int64)
    is_word = example.predicted.to_array([IS_SPACE]).reshape(-1) == 0
    found = {name: labels.get(name, -1) for name in {*compress(names, (heads >= 0) & is_word)}}
    numbers = np.array([found.get(name, -1) for name in names], dtype=np.int64)
    numbers[heads < 0] = -1
    return _Tree(heads, numbers, starts.astype(np.int64))


def _sentence_heads(cuts: list[Ints], heads: Ints) -> Ints:
    """Token numbers of heads to positions in the sentence; -1 for heads outside of it."""
    sentence, place = token_index(cuts, len(heads))
    tokens = np.arange(len(heads))
    known = (heads >= 0) & (sentence >= 0) & (sentence[heads] == sentence)
    return np.where(known, np.where(heads == tokens, 0, place[heads] + 1), -1)
