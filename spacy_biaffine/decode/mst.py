"""Exact maximum spanning arborescences, with one root or with any number of them, in NumPy.

Scores are indexed ``[dependent, head]``: row i is the word i (from 0), column 0 the artificial
root, column j + 1 the word j. Heads come back in the same coordinates: 0 is the root, j + 1 the
word j.
"""

import numpy as np
from numpy.typing import NDArray

from .finite import check_finite

Scores = NDArray[np.floating]
Heads = NDArray[np.int64]

# Scores at or below this are forbidden arcs (a mask value or -inf), not very unlikely ones.
FORBIDDEN = -1e30


def decode_trees(scores: Scores, lengths: NDArray[np.integer]) -> Heads:
    """The best single-root tree of every sentence in a padded batch.

    scores: (B, n, n + 1) float, additive over arcs (log-probabilities).
    lengths: (B,) number of words of each sentence, 0 to n.
    Returns heads (B, n), 0 where there is padding.
    Raises ValueError where a score is NaN or +inf.
    """
    return _decode(scores, lengths, one_root=True)


def decode_forests(scores: Scores, lengths: NDArray[np.integer]) -> Heads:
    """The best trees of every sentence, as many as give the highest sum; else as `decode_trees`."""
    return _decode(scores, lengths, one_root=False)


def is_tree(heads: NDArray[np.integer]) -> bool:
    """Whether heads (n,), 0 for the root, form one tree with exactly one root."""
    heads = np.asarray(heads, dtype=np.int64)[None, :]
    return bool(_are_trees(heads, np.ones_like(heads, dtype=bool), one_root=True)[0])


def _decode(scores: Scores, lengths: NDArray[np.integer], *, one_root: bool) -> Heads:
    words = np.arange(scores.shape[1])[None, :] < np.asarray(lengths)[:, None]
    if not words.any():
        return np.zeros(words.shape, dtype=np.int64)
    check_finite("Arc", scores[words])
    # The greedy heads of most sentences are a tree already; only the others need the search.
    heads = np.where(words, _best_heads(scores, words), 0)
    for i in np.flatnonzero(~_are_trees(heads, words, one_root=one_root)):
        n = int(lengths[i])
        heads[i, :n] = _decode_sentence(scores[i, :n, : n + 1], one_root=one_root)
    return heads


def _best_heads(scores: Scores, words: NDArray[np.bool_]) -> Heads:
    """The best head of each word by itself, padding and self-loops left out."""
    allowed = np.concatenate([np.ones_like(words[:, :1]), words], axis=1)
    masked = np.where(allowed[:, None, :], scores, -np.inf)
    diagonal = np.arange(scores.shape[1])
    masked[:, diagonal, diagonal + 1] = -np.inf
    return masked.argmax(axis=2)


def _are_trees(heads: Heads, words: NDArray[np.bool_], *, one_root: bool) -> NDArray[np.bool_]:
    """Per sentence of a batch: every word reaches the root, and one by itself where asked for."""
    roots = ((heads == 0) & words).sum(axis=1)
    few = (roots == words.any(axis=1)) if one_root else np.ones_like(roots, dtype=bool)
    pointers = np.concatenate([np.zeros_like(heads[:, :1]), heads], axis=1)
    return few & ~_ancestors(pointers).any(axis=1)


def _ancestors(heads: Heads) -> Heads:
    """(B, m) heads, 0 for the root itself -> ancestors so far up that only cycles have others than
    the root. By pointer jumping: after k rounds each points at its ancestor of distance 2^k."""
    for _ in range(int(heads.shape[1]).bit_length()):
        heads = np.take_along_axis(heads, heads, axis=1)
    return heads


def _decode_sentence(scores: Scores, *, one_root: bool) -> Heads:
    """The best tree or trees of one sentence, (n, n + 1) -> (n,)."""
    n = len(scores)
    weights = np.full((n + 1, n + 1), -np.inf)
    weights[1:] = _finite(scores)
    low, high = weights[1:].min(), weights[1:].max()
    np.fill_diagonal(weights, -np.inf)
    heads = _arborescence(weights.copy())[1:]
    if not one_root or (heads == 0).sum() == 1:
        return heads
    # A tree with k roots uses k root arcs. Making each dearer than any gain that a second one
    # could bring leaves exactly one (Stanojevic and Cohen 2021, "A Root of a Problem").
    weights[1:, 0] -= n * (high - low) + 1.0
    return _arborescence(weights)[1:]


def _finite(scores: Scores) -> NDArray[np.float64]:
    """Forbidden arcs as finite scores so low that a tree uses as few of them as it can."""
    finite: NDArray[np.float64] = scores.astype(np.float64)
    forbidden = finite <= FORBIDDEN
    if not forbidden.any():
        return finite
    rest = finite[~forbidden]
    low, high = (rest.min(), rest.max()) if rest.size else (0.0, 0.0)
    finite[forbidden] = low - len(finite) * (high - low) - 1.0
    return finite


def _arborescence(weights: NDArray[np.float64]) -> Heads:
    """Chu-Liu/Edmonds on a dense matrix, without recursion, in O(m^2) (Tarjan 1977).

    weights: (m, m) indexed [dependent, head], -inf on the diagonal; node 0 is the root. The
    matrix is overwritten. Nodes whose best heads lead to the root keep them. From each other node
    a path of best heads grows; a path that bites itself is a cycle, which is contracted into one of
    its nodes, and the path goes on from there.
    Returns heads (m,), with 0 at the root.
    """
    heads = weights.argmax(axis=1)
    heads[0] = 0
    settled = _ancestors(heads[None])[0] == 0
    contracted: list[_Cycle] = []
    for node in range(1, len(weights)):
        if settled[node]:
            continue
        path, place = [node], {node: 0}
        while not settled[node]:
            head = int(weights[node].argmax())
            heads[node] = head
            if head in place:
                members = path[place[head] :]
                cycle = _Cycle(weights, heads, np.array(members))
                contracted.append(cycle)
                settled[members] = True
                node = cycle.contract(weights)
                settled[node] = False
                del path[place[head] :]
                place = {n: i for n, i in place.items() if i < len(path)}
            else:
                node = head
            if not settled[node]:
                place[node] = len(path)
                path.append(node)
        settled[path] = True
    for cycle in reversed(contracted):
        cycle.expand(heads)
    return heads


class _Cycle:
    """A contracted cycle: what is needed to take it apart again."""

    def __init__(self, weights: NDArray[np.float64], heads: Heads, members: Heads) -> None:
        self.members = members
        self.heads = heads[members]
        self.name = int(members[0])
        # Entering at member v from head u costs v its head inside the cycle.
        gains = weights[members] - weights[members, self.heads][:, None]
        self.enter = gains.argmax(axis=0)
        self.enter_gain = gains.max(axis=0)
        self.leave = weights[:, members].argmax(axis=1)
        self.leave_score = weights[:, members].max(axis=1)

    def contract(self, weights: NDArray[np.float64]) -> int:
        """Let the first member stand for all; the others leave the graph."""
        weights[:, self.members] = -np.inf
        weights[self.name] = self.enter_gain
        weights[:, self.name] = self.leave_score
        weights[self.name, self.members] = -np.inf
        return self.name

    def expand(self, heads: Heads) -> None:
        """Break the cycle where it is entered, and give its dependents their real heads."""
        entered_from = heads[self.name]
        dependents = heads == self.name
        heads[dependents] = self.members[self.leave[dependents]]
        heads[self.members] = self.heads
        heads[self.members[self.enter[entered_from]]] = entered_from
