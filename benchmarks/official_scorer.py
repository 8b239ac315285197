"""Does `spacy_biaffine.scoring.trees` agree with the official scorer of the CoNLL 2018 shared task?

    python benchmarks/official_scorer.py GOLD.conllu
    python benchmarks/official_scorer.py GOLD.conllu --pipeline training/model-best

Predicts trees for a treebank's tokens, writes them as CoNLL-U, and lets `udeval` of the package
udtools (GPL, run as a program) score that file. Without a pipeline the predictions are the gold
trees, disturbed at random: heads, labels, sentence boundaries and tokens, one after the other and
all together (tokens only where no line is a multiword token, for a range can't be written once
its words are merged). Prints UAS, LAS and sentence F1 of both scorers; exits with 1 if a digit
differs. A sentence start that a pipeline finds inside a multiword token is moved in the file, and
makes such a difference.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_biaffine.formats.conllu.api import copy_kept, read_conllu, write_conllu
from spacy_biaffine.formats.conllu.kept import kept_sentences
from spacy_biaffine.scoring.trees import score_parser

METRICS = {"UAS": "dep_uas", "LAS": "dep_las_universal", "Sentences": "sents_f"}
DISTURBANCES = {
    "nothing": {},
    "heads": {"heads": 0.2},
    "labels": {"labels": 0.2},
    "sentences": {"sentences": 0.2},
    "tokens": {"tokens": 0.1},
    "all but tokens": {"heads": 0.2, "labels": 0.2, "sentences": 0.2},
    "all": {"heads": 0.2, "labels": 0.2, "sentences": 0.2, "tokens": 0.1},
}


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gold", type=Path)
    parser.add_argument("--pipeline", help="a trained pipeline; it finds the sentences too")
    parser.add_argument("--n-sents", type=int, default=10, help="sentences to a Doc")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline) if args.pipeline else spacy.blank("xx")
    gold = list(read_conllu(args.gold, nlp.vocab, n_sents=args.n_sents))
    print("| predicted | metric | official | ours | |")
    print("|---|---|---|---|---|")
    if args.pipeline:
        return 0 if agrees(args.pipeline, gold, list(nlp.pipe(map(bare, gold))), args.gold) else 1
    inventory = sorted({token.dep_ for doc in gold for token in doc})
    rng = random.Random(args.seed)
    has_ranges = re.search(r"^\d+-\d+\t", args.gold.read_text("utf-8"), re.MULTILINE)
    equal = [
        agrees(name, gold, [disturbed(doc, inventory, rng, **rates) for doc in gold], args.gold)
        for name, rates in DISTURBANCES.items()
        if not (has_ranges and "tokens" in rates)
    ]
    return 0 if all(equal) else 1


def agrees(name: str, gold: list[Doc], predicted: list[Doc], gold_file: Path) -> bool:
    """Score the Docs with both scorers, and print the scores of each."""
    for mine, doc in zip(predicted, gold, strict=True):
        if len(mine) == len(doc):
            copy_kept(doc, mine)
    with tempfile.TemporaryDirectory() as folder:
        system_file = Path(folder) / "system.conllu"
        write_conllu(predicted, system_file)
        official = official_scores(gold_file, system_file)
    examples = [Example(*pair) for pair in zip(predicted, gold, strict=True)]
    ours = score_parser(examples)
    equal = True
    for metric, key in METRICS.items():
        same = abs(official[metric] - ours[key]) < 1e-12
        equal &= same
        cells = [name, metric, *(f"{100 * f:.6f}" for f in (official[metric], ours[key]))]
        print("| " + " | ".join([*cells, "" if same else "DIFFERS"]) + " |", flush=True)
    return equal


def official_scores(gold_file: Path, system_file: Path) -> dict[str, float]:
    """F1 of each metric, from the counts of the official scorer."""
    command = ["udeval", "--no-enhanced", "--verbose", "--counts", gold_file, system_file]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8")
    if answer.returncode:
        raise SystemExit(f"udeval failed:\n{answer.stderr}{answer.stdout}")
    rows = [line.split("|") for line in answer.stdout.splitlines()[2:]]
    counts = {name.strip(): tuple(map(int, cells[:3])) for name, *cells in rows}
    return {name: 2 * right / (gold + system) for name, (right, gold, system) in counts.items()}


def bare(doc: Doc) -> Doc:
    """The tokens and tags of a Doc."""
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[token.tag_ for token in doc],
    )


@dataclass(frozen=True)
class Trees:
    """The trees of a Doc. heads: token numbers, the token itself at a root."""

    words: list[str]
    spaces: list[bool]
    heads: list[int]
    labels: list[str]
    inside: frozenset[int] = frozenset()
    """Words of a multiword token but its first: no sentence can start there."""

    def sentences(self) -> list[range]:
        """Each tree's tokens."""
        roots = [self.root_of(i) for i in range(len(self.heads))]
        starts = [i for i, root in enumerate(roots) if i == 0 or root != roots[i - 1]]
        return [range(*pair) for pair in zip(starts, [*starts[1:], len(roots)], strict=True)]

    def path(self, token: int) -> Iterator[int]:
        """The token and its ancestors, the root last."""
        yield token
        while self.heads[token] != token:
            token = self.heads[token]
            yield token

    def root_of(self, token: int) -> int:
        """The root of the token's tree."""
        return list(self.path(token))[-1]


def disturbed(
    doc: Doc,
    inventory: Sequence[str],
    rng: random.Random,
    *,
    heads: float = 0.0,
    labels: float = 0.0,
    sentences: float = 0.0,
    tokens: float = 0.0,
) -> Doc:
    """The gold trees of a Doc with a share of heads, labels, boundaries and tokens changed."""
    trees = Trees(
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        heads=[token.head.i for token in doc],
        labels=[token.dep_ for token in doc],
        inside=frozenset(
            word
            for sentence in kept_sentences(doc)
            for start, end, _ in sentence.ranges()
            for word in range(start + 1, end)
        ),
    )
    steps: list[tuple[Callable[..., Trees], float]] = [
        (join_and_split, sentences),
        (move_heads, heads),
        (merge_tokens, tokens),
    ]
    for step, rate in steps:
        trees = step(trees, lambda rate=rate: rng.random() < rate, rng)
    return Doc(
        doc.vocab,
        words=trees.words,
        spaces=trees.spaces,
        heads=trees.heads,
        deps=[rng.choice(inventory) if rng.random() < labels else dep for dep in trees.labels],
    )


def join_and_split(trees: Trees, happens: Callable[[], bool], rng: random.Random) -> Trees:
    """Hang some trees on the tree before them, and cut others in two."""
    changed = replace(trees, heads=list(trees.heads))
    before = None
    for sentence in trees.sentences():
        root = trees.root_of(sentence[0])
        places = [word for word in sentence[1:] if word not in trees.inside]
        if places and happens():
            cut = rng.choice(places)
            for part in (range(sentence.start, cut), range(cut, sentence.stop)):
                tops = [i for i in part if trees.heads[i] not in part or trees.heads[i] == i]
                for top in tops:
                    changed.heads[top] = tops[0]
            before = None
        elif before is not None and happens():
            changed.heads[root] = before
        else:
            before = root
    return changed


def move_heads(trees: Trees, happens: Callable[[], bool], rng: random.Random) -> Trees:
    """Hang some words on another word of their sentence that does not hang on them."""
    changed = replace(trees, heads=list(trees.heads))
    for sentence in trees.sentences():
        for word in sentence:
            head = rng.choice(sentence)
            if changed.heads[word] != word and happens() and word not in changed.path(head):
                changed.heads[word] = head
    return changed


def merge_tokens(trees: Trees, happens: Callable[[], bool], rng: random.Random) -> Trees:
    """Make some neighbours without a space between them one token, in the place of the higher."""
    merged: dict[int, int] = {}
    for sentence in trees.sentences():
        for left in sentence[:-1]:
            if left not in merged and not trees.spaces[left] and happens():
                merged[left + 1] = left
    numbers: list[int] = []
    for token in range(len(trees.words)):
        numbers.append(len(numbers) - sum(m < token for m in merged) if token not in merged else -1)
    for right, left in merged.items():
        numbers[right] = numbers[left]
    result = Trees([], [], [], [])
    for left in range(len(trees.words)):
        if left in merged:
            continue
        pair = [left, left + 1] if left + 1 in merged else [left]
        higher = pair[-1] if pair[-1] in trees.path(left) else left
        result.words.append("".join(trees.words[i] for i in pair))
        result.spaces.append(trees.spaces[pair[-1]])
        result.heads.append(numbers[trees.heads[higher]])
        result.labels.append(trees.labels[higher])
    return result


if __name__ == "__main__":
    sys.exit(main())
