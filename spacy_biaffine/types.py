"""Shapes and aliases in one place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # decode and nn are used without spaCy and Thinc, decode without torch
    from spacy.tokens import Doc
    from thinc.types import Floats2d
    from torch import Tensor

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Sentences:
    """What a torch layer reads: the vectors of some Docs, and how to cut them.

    vectors: per Doc, (tokens, width).
    cuts: per sentence, the numbers of its tokens, counted over all Docs one after the other.
        Tokens in no cut are not seen by the module.
    features: further inputs by name, one integer per token, or (tokens, k), counted like the cuts.
    """

    vectors: "list[Floats2d]"
    cuts: list[Ints]
    features: Mapping[str, Ints]


@dataclass(frozen=True)
class SentenceBatch:
    """What a torch module reads: sentences of similar length, padded.

    x: (batch, words, width), zero where there is padding.
    mask: (batch, words) bool, True on words.
    lengths: (batch,) int64 on the CPU, longest first.
    features: by name, (batch, words) or (batch, words, k) int64, -1 where there is padding.
    """

    x: "Tensor"
    mask: "Tensor"
    lengths: "Tensor"
    features: Mapping[str, "Tensor"]


@dataclass(frozen=True)
class ParserInput:
    """What a parser model reads.

    docs: the Docs to parse.
    cuts: their sentences (see `Sentences`); None lets the model find them.
    features: "tag", and in training "head" (see `gold.TreeTargets`), one integer per token.
    """

    docs: "list[Doc]"
    cuts: list[Ints] | None
    features: Mapping[str, Ints]


@dataclass(frozen=True)
class Parse:
    """The dependency tree of a Doc, one value per token.

    heads: number of the head in the Doc, the token itself at a root, -1 where nothing was parsed.
    labels: number of the label, -1 for an arc that joins the parts of an overlong sentence.
    head_probs, label_probs: probabilities of head and label, in [0, 1].
    """

    heads: Ints
    labels: Ints
    head_probs: Floats
    label_probs: Floats


@dataclass(frozen=True)
class Tags:
    """One label for each token of a Doc.

    labels: (tokens,) number of the label, -1 at blank tokens. probs: (tokens, L) the distribution
    over labels, zero at blank tokens; None where it was not asked for.
    """

    labels: Ints
    probs: Floats | None


@dataclass(frozen=True)
class SpanInput:
    """What a model of spans reads.

    docs: the Docs. windows: words that are read together (as `Sentences.cuts`); they may overlap.
    """

    docs: "list[Doc]"
    windows: list[Ints]


@dataclass(frozen=True)
class LabelledSpans:
    """Spans of a Doc, in its order, of two that begin together the longer one first; (m,) each.

    starts, ends: the first token, and the token after the last. labels: number of the label.
    """

    starts: Ints
    ends: Ints
    labels: Ints
    scores: Floats


@dataclass(frozen=True)
class RoleTargets:
    """Gold predicates and arguments of a batch; tokens are counted over all its Docs.

    cuts: the sentences, without blank tokens (see `Sentences`).
    predicates: (p,) the token of each predicate, in their order; no token twice.
    senses: (p,) the sense of each predicate, None where there is none.
    arguments: (a, 4) row of the predicate, first token, token after the last, number of the label;
        sorted. Each is whole in the sentence of its predicate. The pieces of one argument have the
        labels X, C-X, C-X, ...
    known: (tokens,) bool, False where it is not known whether a token is a predicate.
    complete: (p,) bool, False where a predicate has arguments that the predicted tokens don't.
    """

    cuts: list[Ints]
    predicates: Ints
    senses: list[str | None]
    arguments: Ints
    known: NDArray[np.bool_]
    complete: NDArray[np.bool_]


@dataclass(frozen=True)
class GraphInput:
    """What a graph parser model reads.

    docs: the Docs. cuts: words that are parsed together (see `Sentences`). features: "tag" where
    the model reads tags, and in training "heads" (see `gold_graphs.GraphTargets`).
    """

    docs: "list[Doc]"
    cuts: list[Ints]
    features: Mapping[str, Ints]


@dataclass(frozen=True)
class ParsedGraph:
    """The graph of a Doc, by dependent.

    tags: (tokens,) number of each token's tag, -1 without a tagger and at blank tokens.
    heads, dependents: (m,) token numbers, head -1 for the root. labels: (m,) number of the label.
    arc_probs, label_probs: (m,) probabilities of the arc, and of the label given the arc.
    """

    tags: Ints
    heads: Ints
    dependents: Ints
    labels: Ints
    arc_probs: Floats
    label_probs: Floats


@dataclass(frozen=True)
class RoleInput:
    """What a role labeller reads.

    docs: the Docs. cuts: their sentences, and features by name (see `Sentences`); which ones, is
    said in `nn.roles.RoleLabeller`.
    """

    docs: "list[Doc]"
    cuts: list[Ints]
    features: Mapping[str, Ints]


@dataclass(frozen=True)
class FoundFrame:
    """A predicate and its arguments, in numbers of its Doc's tokens.

    prob: of being a predicate. sense: number of its sense, -1 for none known.
    arguments: (a, 3) first token, token after the last, number of the role; by first token.
    role_probs: (a,) of the roles.
    """

    predicate: int
    prob: float
    sense: int
    arguments: Ints
    role_probs: Floats
