"""The forms of treebanks."""

from pathlib import Path

from ..form import Form, each_file, first_row, head
from ..options import BY_DOC, ENCODING, MERGE_MWT, N_SENTS
from .api import read_conllu
from .plus import header_of, read_conllu_plus
from .read import COLUMNS, ReadReport
from .write import to_conllu

SAMPLE = """\
# sent_id = a
# text = Rain fell
1\tRain\train\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\t_

"""


def _names_columns(path: Path) -> bool:
    return header_of(head(path).partition("\n")[0]) is not None


CONLLU = Form(
    name="conllu",
    title="Universal Dependencies: trees, tags, features",
    holds=("sentences", "trees", "tags"),
    sample={"en_x-ud-dev.conllu": SAMPLE},
    example="UD_English-EWT corpus --n-sents 3",
    fits=lambda path: (
        path.suffix == ".conllu"
        and len(first_row(path)) <= len(COLUMNS)
        and not _names_columns(path)
    ),
    read=each_file(read_conllu),
    options=(N_SENTS, BY_DOC, MERGE_MWT, ENCODING),
    report=ReadReport,
    write=to_conllu,
    suffix=".conllu",
)

CONLLU_PLUS = Form(
    name="conllu-plus",
    title="CoNLL-U Plus, .conllup or .cupt: the columns that its first line names",
    holds=("sentences", "trees", "tags"),
    sample={
        "en.cupt": "# global.columns = ID FORM UPOS PARSEME:MWE\n"
        "# sent_id = a\n1\tRain\tNOUN\t*\n2\tfell\tVERB\t*\n\n"
    },
    example="en.cupt dev.spacy -l en",
    fits=_names_columns,
    read=each_file(read_conllu_plus),
    options=(N_SENTS, BY_DOC, MERGE_MWT, ENCODING),
    report=ReadReport,
)
