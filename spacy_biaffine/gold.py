"""From Examples to targets and masks: the only room that knows about alignment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, IS_SPACE, ORTH, SENT_START
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.training.alignment_array import AlignmentArray

from .decode.bioes import bioes_labels
from .decode.sentences import cut_by_number, cut_overlong, starts_on_words
from .types import Ints

TokenSpan = tuple[int, int]
"""First token, and the token after the last."""


@dataclass(frozen=True)
class TreeTargets:
    """Gold trees of a batch; one value per token, counted over all its Docs.

    cuts: the gold sentences, without blank tokens.
    starts: 1 where a sentence starts, 0 where none does, -1 where that is not known. The first
        word of a Doc is always -1: there is nothing to learn.
    heads: position of the head in its sentence, from 1; 0 at roots; -1 where there is no gold
        head that the model could find.
    labels: number of the label, -1 where there is none.
    """

    cuts: list[Ints]
    starts: Ints
    heads: Ints
    labels: Ints


def words_of(docs: Sequence[Doc]) -> list[Ints]:
    """Per Doc, the numbers of its tokens that are not blank, counted over all Docs."""
    words, offset = [], 0
    for doc in docs:
        words.append(np.flatnonzero(doc.to_array([IS_SPACE]) == 0) + offset)
        offset += len(doc)
    return words


def sentences_of(docs: Sequence[Doc]) -> list[Ints]:
    """The sentences that are marked on Docs, without blank tokens; a Doc without marks is one.

    Each is the numbers of its tokens, counted over all Docs.
    """
    starts = [doc.to_array([SENT_START]).reshape(-1) == 1 for doc in docs]
    numbers = np.cumsum(np.concatenate([np.zeros(0, dtype=bool), *starts]))
    return [cut for words in words_of(docs) for cut in cut_by_number(words, numbers[words])]


def sentence_parts(docs: Sequence[Doc], max_length: int) -> list[Ints]:
    """The words that are parsed together: sentences that are marked on Docs, or else whole Docs, in
    parts of at most max_length words."""
    return [part for words in sentences_of(docs) for part in cut_overlong(words, max_length)]


def label_of(token: Token, target: str) -> str:
    """What stands on a token: its tag, pos, morph or _.NAME; "" where nothing does and on blanks.

    morph is UPOS and FEATS in one label, as in spaCy's morphologizer: Case=Nom|POS=NOUN.
    """
    if token.is_space:
        return ""
    if target == "tag":
        return token.tag_
    if target == "pos":
        return token.pos_
    if target == "morph":
        feats = str(token.morph)
        return "|".join(filter(None, [feats, token.pos_ and f"POS={token.pos_}"]))
    return token._.get(target.removeprefix("_.")) or ""


def labels_on(doc: Doc, target: str) -> set[str]:
    """The labels of a gold Doc, of entities all BIOES tags that their types can have."""
    if target != "ent":
        return {label_of(token, target) for token in doc} - {""}
    if not len(doc) or not doc.has_annotation("ENT_IOB"):
        return set()
    return bioes_labels({span.label_ for span in doc.ents})


def aligned_labels(example: Example, target: str) -> list[str]:
    """Per predicted token, the label of the gold token that it is exactly; "" where none is known.

    target: as in `label_of`.
    """
    labels = [label_of(token, target) for token in example.reference]
    return [labels[gold] if gold >= 0 else "" for gold in partners(example)]


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
    starts = np.concatenate([p.starts for p in parts])
    numbers = np.cumsum(starts == 1)
    cuts = [
        part
        for doc_words in words
        for sentence in cut_by_number(doc_words, numbers[doc_words])
        for part in cut_overlong(sentence, max_length)
    ]
    for doc_words in words:
        starts[starts_on_words(doc_words, numbers[doc_words])] = 1
        starts[doc_words[:1]] = -1
    return TreeTargets(
        cuts=cuts,
        starts=starts,
        heads=_sentence_heads(cuts, heads),
        labels=np.concatenate([p.labels for p in parts]),
    )


def arc_labels(example: Example) -> tuple[set[str], set[str]]:
    """The labels of the gold tree: at its roots, and elsewhere."""
    labelled = [token for token in example.reference if token.dep and not token.is_space]
    roots = {token.dep_ for token in labelled if token.head.i == token.i}
    return roots, {token.dep_ for token in labelled if token.head.i != token.i}


def partners(example: Example) -> Ints:
    """Per predicted token, the number of the gold token that it is exactly, -1 where none is."""
    if same_tokens(example):
        return np.arange(len(example.predicted))
    forth, back = example.alignment.x2y, example.alignment.y2x
    lengths = np.asarray(forth.lengths)
    single = lengths == 1
    gold = np.asarray(forth.data)[(np.cumsum(lengths) - lengths)[single]]
    found = np.full(len(lengths), -1, dtype=np.int64)
    found[single] = np.where(np.asarray(back.lengths)[gold] == 1, gold, -1)
    return found


def misaligned(example: Example) -> int:
    """How many predicted tokens, blank ones left out, are not exactly one gold token."""
    (words,) = words_of([example.predicted])
    return int((partners(example)[words] < 0).sum())


def placing(example: Example) -> Callable[[Span], TokenSpan | None]:
    """What finds gold spans on the predicted tokens, `trimmed`; None for one whose edges are inside
    of them. Blanks that only the predicted Doc has may be within."""
    trim = trimmed(example.predicted)
    if same_tokens(example):
        return lambda span: trim(span.start, span.end)
    forth, back = _shared(example.alignment.x2y), _shared(example.alignment.y2x)

    def place(span: Span) -> TokenSpan | None:
        touched = [token for gold in back[span.start : span.end] for token in gold]
        if not touched:
            return None
        start, end = min(touched), max(touched) + 1
        gold = [token for each in forth[start:end] for token in each]
        return trim(start, end) if span.start <= min(gold) and max(gold) < span.end else None

    return place


def trimmed(doc: Doc) -> Callable[[int, int], TokenSpan]:
    """What takes blanks from the edges of a Doc's spans; one of blanks alone is left as it is."""
    words = np.append(words_of([doc])[0], len(doc))

    def trim(start: int, end: int) -> TokenSpan:
        low, high = np.searchsorted(words, [start, end])
        return (int(words[low]), int(words[high - 1]) + 1) if low < high else (start, end)

    return trim


def touching(example: Example, gold: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which predicted tokens share characters with some of the gold tokens, (gold tokens,) bool."""
    if same_tokens(example):
        return gold
    back = example.alignment.y2x
    touched = np.zeros(len(example.predicted), dtype=bool)
    touched[np.asarray(back.data)[np.repeat(gold, back.lengths)]] = True
    return touched


def _shared(alignment: AlignmentArray) -> list[list[int]]:
    """Per token of one side, the tokens of the other side that it shares characters with."""
    ends = np.cumsum(alignment.lengths)
    return [part.tolist() for part in np.split(np.asarray(alignment.data), ends[:-1])]


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
    numbers = np.array([labels.get(name, -1) for name in names], dtype=np.int64)
    numbers[heads < 0] = -1
    return _Tree(heads, numbers, starts.astype(np.int64))


def _sentence_heads(cuts: list[Ints], heads: Ints) -> Ints:
    """Token numbers of heads to positions in the sentence; -1 for heads outside of it."""
    sentence = np.full(len(heads), -1, dtype=np.int64)
    position = np.zeros(len(heads), dtype=np.int64)
    for number, cut in enumerate(cuts):
        sentence[cut] = number
        position[cut] = np.arange(1, len(cut) + 1)
    tokens = np.arange(len(heads))
    known = (heads >= 0) & (sentence >= 0) & (sentence[heads] == sentence)
    return np.where(known, np.where(heads == tokens, 0, position[heads]), -1)


def same_tokens(example: Example) -> bool:
    """Whether predicted and gold tokens are the same, word for word."""
    predicted, reference = example.predicted, example.reference
    return len(predicted) == len(reference) and bool(
        (predicted.to_array(ORTH) == reference.to_array(ORTH)).all()
    )
