"""A loaded pipeline that annotates shards, in whatever process."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import require_gpu

from ..memory import give_back, keep_few_primitives
from .forms import packer
from .records import Bad, Record
from .shards import Finished, Shard

T = TypeVar("T")

PROBE = "This is a short sentence."


class Job(NamedTuple):
    """What a worker needs to know.

    model: folder or package. form, spans_key: see `forms.packer`. batch_size: Docs; None for the
    pipeline's own. gpu: number of the device, -1 for the CPU.
    """

    model: str
    form: str
    spans_key: str | None
    batch_size: int | None
    gpu: int


class Worker:
    """Loads a pipeline once. Raises ValueError where it or the GPU is not there."""

    def __init__(self, job: Job) -> None:
        keep_few_primitives()
        if job.gpu >= 0:
            _use_gpu(job.gpu)
        self.job = job
        try:
            self.nlp = spacy.load(job.model)
        except (ValueError, OSError, ImportError) as error:
            raise ValueError(f"{job.model} can't be loaded: {error}") from error

    def __call__(self, shard: Shard) -> Finished:
        """Annotate a shard, and free what it adds to the vocab.

        A record that gives no Doc, on which the pipeline fails, or that the form can't hold, is one
        of the bad ones. Raises ValueError where the pipeline fails on everything.
        """
        with self.nlp.memory_zone():
            finished = _Attempt(self.nlp, self.job, shard).run()
        give_back()
        return finished


class _Attempt:
    """What happens to one shard. Records and Docs go by their numbers in all input, from 1."""

    def __init__(self, nlp: Language, job: Job, shard: Shard) -> None:
        self.nlp = nlp
        self.job = job
        self.number = shard.number
        self.records: dict[int, Record] = {}
        self.bad: dict[int, Bad] = {}
        for number, record in enumerate(shard.records, shard.first + 1):
            if isinstance(record, Bad):
                self.bad[number] = record
            else:
                self.records[number] = record

    def run(self) -> Finished:
        docs = self._annotated(self._each(self.records, self._doc))
        out = packer(self.job.form, self.job.spans_key)
        written = self._each(docs, lambda number: out.add(docs[number], number))
        return Finished(
            self.number,
            out.data(),
            [self.bad[number] for number in sorted(self.bad)],
            len(written),
            sum(len(docs[number]) for number in written),
            {layer: n for layer, n in out.lost.items() if n},
        )

    def _each(self, numbers: Iterable[int], make: Callable[[int], T]) -> dict[int, T]:
        """What is made of each; where that fails the record is a bad one."""
        made = {}
        for number in numbers:
            try:
                made[number] = make(number)
            except Exception as error:  # whatever one record does, the others go on
                record = self.records[number]
                self.bad[number] = Bad(record.place, _reason(error), record.text)
        return made

    def _doc(self, number: int) -> Doc:
        return self.records[number].doc(self.nlp)

    def _annotated(self, docs: dict[int, Doc]) -> dict[int, Doc]:
        try:
            return dict(zip(docs, self._pipe(docs.values()), strict=True))
        except Exception:  # on which of them?
            found = self._each(docs, lambda number: self._pipe([self._doc(number)])[0])
        if len(found) < len(docs):
            self._check_pipeline()
        return found

    def _pipe(self, docs: Iterable[Doc]) -> list[Doc]:
        return list(self.nlp.pipe(docs, batch_size=self.job.batch_size))

    def _check_pipeline(self) -> None:
        """Tell bad records from a pipeline that fails on all, e.g. since its GPU does."""
        try:
            self.nlp(PROBE)
        except Exception as error:
            raise ValueError(
                f"{self.job.model} fails on every text, {PROBE!r} too: {_reason(error)}"
            ) from error


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _use_gpu(number: int) -> None:
    try:
        require_gpu(number)
    except Exception as error:  # what CuPy raises for a device that is not there is its own
        raise ValueError(
            f"--gpu-id {number} can't be used: {error}. It needs an NVIDIA GPU, CuPy for its CUDA "
            f"(pip install cupy-cuda12x) and torch with CUDA; leave --gpu-id out for the CPU."
        ) from error
