"""The form of treebanks."""

from ..form import Form, each_file, first_row
from ..options import BY_DOC, ENCODING, MERGE_MWT, N_SENTS
from .api import read_conllu
from .read import COLUMNS, ReadReport
from .write import to_conllu

SAMPLE = """\
# sent_id = a
# text = Rain fell
1\tRain\train\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\t_

"""

CONLLU = Form(
    name="conllu",
    title="Universal Dependencies: trees, tags, features",
    holds=("sentences", "trees", "tags"),
    sample={"en_x-ud-dev.conllu": SAMPLE},
    example="UD_English-EWT corpus --n-sents 3",
    fits=lambda path: path.suffix == ".conllu" and len(first_row(path)) <= len(COLUMNS),
    read=each_file(read_conllu),
    options=(N_SENTS, BY_DOC, MERGE_MWT, ENCODING),
    report=ReadReport,
    write=to_conllu,
    suffix=".conllu",
)
