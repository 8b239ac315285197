"""A pipeline in a thread of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..doc.scores import register_token_score

T = TypeVar("T")

Words = Callable[[Vocab], Doc]
"""Makes a Doc with words alone."""

MOST_WAITING = 32
"""Texts that wait at a time."""


class Busy(Exception):  # noqa: N818 (it says what the worker is)
    """As many texts wait as may."""


class Worker:
    """Runs one pipeline in the one thread that has loaded it: neither spaCy's vocab nor Thinc's
    choice of a device is shared between threads. Texts wait for each other, `MOST_WAITING` at most;
    the next one is refused.

    load: gives the pipeline. Its components are told to keep their scores.
    """

    def __init__(self, load: Callable[[], Language]) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeline")
        self._waiting = 0
        self.nlp = self._thread.submit(_loaded, load).result()

    async def run(self, text: str | Words, read: Callable[[Doc], T]) -> T:
        """What `read` makes of the annotated text, or of a Doc with words. The Doc does not outlive
        the call, nor does what the vocab has learned from it.

        Raises Busy where too many texts wait already."""
        if self._waiting == MOST_WAITING:
            raise Busy
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._run, text, read)
        finally:
            self._waiting -= 1

    def _run(self, text: str | Words, read: Callable[[Doc], T]) -> T:
        with self.nlp.memory_zone():
            return read(self.nlp(text if isinstance(text, str) else text(self.nlp.vocab)))


def _loaded(load: Callable[[], Language]) -> Language:
    nlp = load()
    for _, pipe in nlp.pipeline:
        if hasattr(pipe, "store_scores"):
            pipe.store_scores = True
        if hasattr(pipe, "scores_name"):
            register_token_score(pipe.scores_name)
    return nlp
