"""``spacy train`` for runs that take hours: the same config, stopped and resumed at any moment."""

import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import (
    create_before_to_disk_callback,
    create_evaluation_callback,
    subdivide_batch,
    update_meta,
)
from spacy.util import registry, resolve_dot_names
from thinc.api import Config, Optimizer, fix_random_seed, set_gpu_allocator

from ..models.optimizer_state import ResumableOptimizer
from .checkpoint import (
    Progress,
    find_checkpoint,
    load_pipeline,
    load_progress,
    replaced,
    save_checkpoint,
    with_lemma_labels,
)

QUARTER_HOUR = 900.0


def train(
    config: Config,
    output: Path,
    *,
    use_gpu: int = -1,
    every: float = QUARTER_HOUR,
    say: Callable[[str], None] = print,
) -> None:
    """Train until `max_steps`, or until `patience` ends it, and go on from a checkpoint in output
    where there is one. A run that was stopped and resumed ends with the weights, to the bit, of
    one that was not.

    Like ``spacy train``, it writes output/model-best and output/model-last; beside them
    output/checkpoint, and output/history.jsonl with scores and losses of each evaluation. Each
    epoch is shuffled by seed and number alone, so batches come in another order than in spaCy's
    loop.

    every: seconds between checkpoints; there is one at each evaluation too.
    Raises ValueError where output holds a run of another config.
    """
    output.mkdir(parents=True, exist_ok=True)
    checkpoint = find_checkpoint(output)
    _check_config(config, output, checkpoint)
    _seed(config, use_gpu)
    if checkpoint is None:
        nlp = with_lemma_labels(init_nlp(config, use_gpu=use_gpu))
    else:
        nlp = load_pipeline(checkpoint)
    run = Run(nlp, output, every, say)
    if checkpoint is not None:
        run.done = load_progress(checkpoint, nlp, run.optimizer)
        say(f"Going on after step {run.done.step}")
    run.to_end()


class Run:
    """A training run from where it stands to its end."""

    def __init__(
        self, nlp: Language, output: Path, every: float, say: Callable[[str], None]
    ) -> None:
        config = nlp.config.interpolate()
        self.settings: dict[str, Any] = registry.resolve(
            config["training"], schema=ConfigSchemaTraining
        )
        corpora = [self.settings["train_corpus"], self.settings["dev_corpus"]]
        self.train_corpus, dev_corpus = resolve_dot_names(config, corpora)
        self.optimizer = _resumable(self.settings["optimizer"])
        self.evaluate = create_evaluation_callback(nlp, dev_corpus, self.settings["score_weights"])
        self.nlp, self.output, self.every, self.say = nlp, output, every, say
        self.done = Progress()
        self._saved_at = self._counted_at = time.monotonic()

    def to_end(self) -> None:
        """Take the steps that are left, and write the last model."""
        if not self.is_finished():
            for epoch, number, batch in self._batches():
                self._step(batch)
                self.done.step += 1
                self.done.epoch, self.done.batch = epoch, number + 1
                evaluated = self._evaluate_if_due()
                if self.is_finished():
                    break
                if evaluated or time.monotonic() - self._saved_at > self.every:
                    self._save()
            self._save()
        self._write_model("model-last")
        self.say(f"Finished after {self.done.step} steps: {self.output / 'model-best'}")

    def is_finished(self) -> bool:
        """Whether max_steps are taken, or patience is over."""
        most, patience = self.settings["max_steps"], self.settings["patience"]
        if most and self.done.step >= most:
            return True
        if not (patience and self.done.results):
            return False
        _, best = max((score, -step) for score, step in self.done.results)
        return self.done.step + best >= patience

    def _batches(self) -> Iterator[tuple[int, int, list[Example]]]:
        """Epoch, number in it, and examples of each batch that is left."""
        most = self.settings["max_epochs"]
        examples = None if most < 0 else list(self.train_corpus(self.nlp))
        if examples is not None and not examples:
            raise ValueError("The training corpus has no examples.")
        epoch, skip = self.done.epoch, self.done.batch
        while most < 1 or epoch < most:
            stream: Iterable[Example] = (
                self.train_corpus(self.nlp) if examples is None else self._shuffled(examples, epoch)
            )
            for number, batch in enumerate(self.settings["batcher"](stream)):
                if number >= skip:
                    yield epoch, number, list(batch)
            epoch, skip = epoch + 1, 0

    def _shuffled(self, examples: list[Example], epoch: int) -> list[Example]:
        order = list(examples)
        random.Random(f"{self.settings['seed']} {epoch}").shuffle(order)
        return order

    def _step(self, batch: list[Example]) -> None:
        settings, nlp = self.settings, self.nlp
        if settings["before_update"]:
            settings["before_update"](nlp, {"step": self.done.step, "epoch": self.done.epoch})
        dropout = settings["dropout"]
        for part in subdivide_batch(batch, settings["accumulate_gradient"]):
            nlp.update(
                part,
                drop=dropout,
                losses=self.done.losses,
                sgd=False,  # type: ignore[arg-type]
                exclude=settings["frozen_components"],
                annotates=settings["annotating_components"],
            )
        for name, component in nlp.pipeline:
            trained = name not in settings["frozen_components"]
            if trained and getattr(component, "is_trainable", False):
                component.finish_update(self.optimizer)  # type: ignore[attr-defined]
        self.optimizer.step_schedules()
        self.done.words += sum(len(example) for example in batch)

    def _evaluate_if_due(self) -> bool:
        last = self.done.step == self.settings["max_steps"]
        if self.done.step % self.settings["eval_frequency"] and not last:
            return False
        score, scores = self.evaluate()
        self._count_time()
        self.done.results.append((score, self.done.step))
        plain = {name: value for name, value in scores.items() if isinstance(value, int | float)}
        entry = {
            "step": self.done.step,
            "epoch": self.done.epoch,
            "words": self.done.words,
            "seconds": round(self.done.seconds),
            "score": score,
            "losses": {name: float(loss) for name, loss in self.done.losses.items()},
            "scores": plain,
        }
        self.done.history.append(entry)
        lines = [json.dumps(each) + "\n" for each in self.done.history]
        (self.output / "history.jsonl").write_text("".join(lines), encoding="utf8")
        self._say_scores(score, plain)
        if score == max(self.done.results)[0]:
            info = {"other_scores": scores, "losses": self.done.losses}
            update_meta(self.settings, self.nlp, info)
            self._write_model("model-best")
        self.done.losses = {}
        return True

    def _say_scores(self, score: float, scores: dict[str, float]) -> None:
        weighted = (name for name in self.settings["score_weights"] if name in scores)
        shown = " ".join(f"{name} {scores[name]:.4f}" for name in weighted)
        self.say(
            f"step {self.done.step} epoch {self.done.epoch} {self.done.seconds:.0f} s "
            f"{self.done.words} words: score {score:.4f} {shown}"
        )

    def _count_time(self) -> None:
        now = time.monotonic()
        self.done.seconds += now - self._counted_at
        self._counted_at = now

    def _save(self) -> None:
        self._count_time()
        save_checkpoint(self.output, self.nlp, self.optimizer, self.done)
        self._saved_at = time.monotonic()

    def _write_model(self, name: str) -> None:
        """Write a model; one that was there stays whole until this one is."""
        prepared = create_before_to_disk_callback(self.settings["before_to_disk"])
        with replaced(self.output / name) as new:
            prepared(self.nlp).to_disk(new)


def _check_config(config: Config, output: Path, checkpoint: Path | None) -> None:
    """Keep the config with a new run, and compare it with that of one that goes on."""
    path, text = output / "config.cfg", config.to_str(interpolate=False)
    if checkpoint is None:
        path.write_text(text, encoding="utf8")
    elif path.read_text(encoding="utf8") != text:
        raise ValueError(
            f"{output} holds a run of another config ({path}). Train with that one to go on, or "
            f"give another output folder."
        )


def _resumable(optimizer: Optimizer) -> ResumableOptimizer:
    if isinstance(optimizer, ResumableOptimizer):
        return optimizer
    raise ValueError(
        "A run that can be resumed needs an optimizer that can store its state: in "
        '[training.optimizer] write @optimizers = "spacy-biaffine.Adam.v1".'
    )


def _seed(config: Config, use_gpu: int) -> None:
    training = config.interpolate()["training"]
    if training["seed"] is not None:
        fix_random_seed(training["seed"])
    if use_gpu >= 0 and training["gpu_allocator"]:
        set_gpu_allocator(training["gpu_allocator"])


def say_now(line: str) -> None:
    """Print a line at once."""
    print(line, file=sys.stdout, flush=True)
