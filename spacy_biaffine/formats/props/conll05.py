"""Words with argument spans in bracket notation: EWT-PropBank's table, CoNLL-2005."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..common.lines import FormatError, unread_cells
from ..conllu.read import Sentence
from .brackets import read_brackets
from .read import Block, PropSentence, check_ids, check_tree_cells, check_widths, make_prop

NONE = "-"


@dataclass(frozen=True)
class SpanColumns:
    """What stands where; columns count from 0.

    frame: the lemma of a predicate, "-" on other words. sense: the sense of a predicate, where
    there is such a column behind `frame`; it tells then what the predicates are. Behind these two
    there is a column for each predicate, or with blind none. comments: whether lines that begin
    with "# " are such.
    """

    word: int
    frame: int
    sense: int | None = None
    number: int | None = None
    lemma: int | None = None
    upos: int | None = None
    xpos: int | None = None
    head: int | None = None
    deprel: int | None = None
    comments: bool = False
    blind: bool = False

    def __post_init__(self) -> None:
        others = (self.number, self.word, self.lemma, self.upos, self.xpos, self.head, self.deprel)
        if any(column is not None and column >= self.frame for column in others):
            raise ValueError(
                f"Words, tags and trees stand in front of the predicates' columns, the first of "
                f"which is column {self.frame + 1} (props_column, --props-column)."
            )

    @property
    def read(self) -> set[int]:
        """The columns that are read, without those of predicates."""
        others = (self.number, self.lemma, self.upos, self.xpos, self.head, self.deprel, self.sense)
        return {self.word, self.frame, *(column for column in others if column is not None)}

    @property
    def fixed(self) -> int:
        """How many columns there are without those of predicates."""
        return (self.frame if self.sense is None else self.sense) + 1


EWT_PROPBANK = SpanColumns(
    number=0, word=1, lemma=2, upos=3, xpos=4, head=5, deprel=6, frame=7, sense=8, comments=True
)


def parse_span_block(block: Block, columns: SpanColumns) -> PropSentence:
    """One sentence. Raises FormatError."""
    is_word = [not (columns.comments and line.startswith("# ")) for _, line in block]
    words = [each for each, is_one in zip(block, is_word, strict=True) if is_one]
    comments = [line for (_, line), is_one in zip(block, is_word, strict=True) if not is_one]
    rows = [line.split("\t") if "\t" in line else line.split() for _, line in words]
    for (place, line), row in zip(words, rows, strict=True):
        if len(row) < columns.fixed:
            detail = f"{len(row)} columns, wanted {columns.fixed} or more: {line[:60]!r}"
            raise FormatError(place, "columns", detail)
        if not row[columns.word].strip():
            raise FormatError(place, "columns", "the word is empty")
    if columns.number is not None:
        check_ids(words, [row[columns.number] for row in rows])
    marks = [row[columns.frame if columns.sense is None else columns.sense] for row in rows]
    predicates = [word for word, mark in enumerate(marks) if mark != NONE]
    check_widths(words, rows, columns.fixed, [] if columns.blind else predicates)
    cells = [_cells(i, row, columns) for i, row in enumerate(rows)]
    sentence = Sentence(comments, cells, [], False, place=block[0][0])
    check_tree_cells(words, sentence)
    places = [place for place, _ in words]
    return PropSentence(
        sentence,
        [
            make_prop(
                word,
                None if columns.sense is None else marks[word],
                ()
                if columns.blind
                else read_brackets([row[columns.fixed + number] for row in rows], places),
            )
            for number, word in enumerate(predicates)
        ],
        unread_cells([row[: columns.fixed] for row in rows], columns.read),
    )


def _cells(word: int, row: Sequence[str], columns: SpanColumns) -> list[str]:
    """The columns of CoNLL-U. Where there are no lemmas, predicates have theirs."""

    def get(column: int | None) -> str:
        return "_" if column is None else row[column]

    lemma = get(columns.lemma)
    if columns.lemma is None and row[columns.frame] != NONE:
        lemma = row[columns.frame]
    upos, xpos, head, deprel = map(get, (columns.upos, columns.xpos, columns.head, columns.deprel))
    return [str(word + 1), row[columns.word], lemma, upos, xpos, "_", head, deprel, "_", "_"]
