"""Options of readers and writers, each stated once: commands and projects take them from here."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Option:
    """An option of a form.

    name: the argument of readers and writers. kind: bool, int, str or Path. help: for the command
    line. flags: as it is written there; --NAME by default. least: the smallest number.
    """

    name: str
    kind: type
    help: str
    flags: tuple[str, ...] = ()
    least: int | None = None

    @property
    def written(self) -> tuple[str, ...]:
        """How the command line writes it."""
        return self.flags or ("--" + self.name.replace("_", "-"),)


N_SENTS = Option("n_sents", int, "Sentences to a Doc; 1 by default", ("--n-sents", "-n"), 0)
BY_DOC = Option("by_doc", bool, "A Doc for each '# newdoc'")
MERGE_MWT = Option("merge_mwt", bool, "One token for each multiword token: the text is as written")
LAYERS = Option("layers", Path, "JSON lines with entities, relations, frames for its sentences")

ENCODING = Option("encoding", str, "How the files are encoded; utf8 by default, or latin-1, ...")

SPANS_KEY = Option("spans_key", str, "Group of the entities, nested ones too")
CHARACTERS = Option("characters", bool, "A token for every character")
SNAP = Option("snap", bool, "Widen entities to whole tokens")
LEVELS = Option("levels", int, "How many columns of tags, 0 for all; 1 by default", least=0)
INNERMOST_FIRST = Option(
    "innermost_first",
    bool,
    "Order of the levels, if several",
    ("--innermost-first/--outermost-first",),
)
LABEL_TO = Option(
    "label_to", str, "Where labels go: tag (by default), pos, or _.NAME", ("--target",)
)
LABEL_COLUMN = Option("label_column", int, "Where the labels are, from 1; 2 by default", least=1)
TOKEN_COLUMN = Option("token_column", int, "Where the tokens are, from 1; 1 by default", least=1)
TAG_COLUMN = Option("tag_column", int, "Where the tags are, from 1; 0 for nowhere", least=0)

RELATED_SENTENCES = Option("related_sentences", bool, "Only sentences with a relation, a Doc each")
IDS = Option("ids", Path, "File of the ids of each split, with --split")
SPLIT = Option("split", str, "Which line of --ids")

WORDS = Option("words", bool, "Arguments as words instead of spans, by the sentence's tree")
WORD_FRAMES = Option("word_frames", bool, "Arguments as words too, in doc._.word_frames")
SKIP_AUXILIARIES = Option(
    "skip_auxiliaries", bool, "Leave out be.03, do.01, get.03, have.01 on AUX"
)
PREDICTED = Option("predicted", bool, "Syntax of the P columns")
BLIND = Option("blind", bool, "Predicates alone: there are no columns of arguments")
WORD_COLUMN = Option("word_column", int, "Where the words are, from 1; 1 by default", least=1)
PROPS_COLUMN = Option(
    "props_column", int, "Where the predicates are, from 1; 2 by default", least=1
)

TEXT_KEY = Option("text_key", str, "Which value of a task's data is the text; text by default")

SPLIT_PIECES = Option(
    "split_pieces",
    bool,
    "An entity for each piece of one whose pieces are apart; by default from the first to the last",
)
