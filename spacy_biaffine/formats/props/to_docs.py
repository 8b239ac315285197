"""Sentences with predicates -> Docs with frames; arguments as words instead of spans."""

from collections import deque
from collections.abc import Iterable, Iterator

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...doc.graphs import WORD_FRAMES, Frame, Role, set_frames
from ..common.lines import FormatError
from ..conllu.read import Sentence
from ..conllu.to_docs import DocMaker, group_sentences
from .read import Piece, Prop


def docs_of_props(
    sentences: Iterable[tuple[Sentence, list[Prop]]],
    vocab: Vocab,
    *,
    n_sents: int,
    words: bool,
    word_frames: bool,
) -> Iterator[Doc]:
    """Docs of n_sents sentences, with their trees, tags, lemmas and doc._.frames.

    A sentence without a tree stands alone or with its like. words: arguments are words and not
    spans; see `frames_of_words`. word_frames: these too, as doc._.word_frames. Raises FormatError
    where the words of an argument have no heads.
    """
    maker = DocMaker(vocab)
    waiting: deque[list[Prop]] = deque()

    def without_props() -> Iterator[Sentence]:
        for sentence, props in sentences:
            waiting.append(props)
            yield sentence

    for group in group_sentences(without_props(), n_sents=n_sents):
        doc = maker.make(group)
        offset = 0
        frames = []
        for sentence in group:
            frames += [_frame(doc, prop, offset) for prop in waiting.popleft()]
            offset += len(sentence.words)
        try:
            set_frames(doc, frames_of_words(frames) if words else frames)
            if word_frames:
                set_frames(doc, frames_of_words(frames), WORD_FRAMES)
        except ValueError as error:
            raise FormatError(group[0].place, "words", str(error)) from error
        yield doc


def frames_of_words(frames: Iterable[Frame]) -> list[Frame]:
    """The same frames with arguments that are words, as dependency-based roles are.

    Each span becomes the word of it whose head lies outside, the first of several; a predicate the
    first word of its first span. Raises ValueError for a span of several words without heads.
    """
    return [
        frame._replace(
            predicate=(frame.predicate[0][:1],),
            roles=tuple(
                role._replace(spans=tuple(_top_word(span) for span in role.spans))
                for role in frame.roles
            ),
        )
        for frame in frames
    ]


def _frame(doc: Doc, prop: Prop, offset: int) -> Frame:
    def spans(pieces: Iterable[Piece]) -> tuple[Span, ...]:
        return tuple(doc[start + offset : end + offset] for start, end in pieces)

    roles = tuple(Role(label, spans(pieces)) for label, pieces in prop.roles)
    return Frame(spans(prop.predicate), prop.sense, roles)


def _top_word(span: Span) -> Span:
    if len(span) == 1:
        return span
    if not any(token.has_head() for token in span):
        raise ValueError(
            f"The argument {span.text[:60]!r} can't be given as a word: its words have no heads. "
            f"Keep arguments as spans, or parse the text first."
        )
    tops = (t for t in span if t.head.i == t.i or not span.start <= t.head.i < span.end)
    top = next(tops, span[0])  # the first word, where a file has heads in a circle
    return span.doc[top.i : top.i + 1]
