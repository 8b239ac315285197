"""The forms of annotation tools."""

import json
import re
from pathlib import Path

from ..form import Form, head, keys_of
from ..layers.spacy_json import is_spacy_json
from ..options import ENCODING, SNAP, SPANS_KEY, SPLIT_PIECES, TEXT_KEY
from ..relations.to_docs import ENTITIES
from .brat import ANNOTATION, TEXT, brat
from .brat_write import brat_files
from .doccano import doccano, doccano_text
from .label_studio import label_studio, label_studio_text
from .prodigy import prodigy, prodigy_text
from .texts import ToolReport, reader
from .webanno import webanno
from .webanno_lines import FORMAT
from .webanno_write import webanno_files

_LABEL_LIST = re.compile(r'"labels?"\s*:\s*\[')

_TEXT = "Oslo in Norway"


def _is_prodigy(text: str) -> bool:
    keys = keys_of(text)
    known = {"spans", "_task_hash", "_input_hash", "answer"}
    if not keys >= {"text"} or keys & {"format", "entities"} or is_spacy_json(text):
        return False
    return bool(keys & known)


def _is_doccano(text: str) -> bool:
    keys = keys_of(text)
    if "text" not in keys or keys & {"format", "tokens", "spans"}:
        return False
    if "entities" in keys:
        return "Comments" in keys or '"start_offset"' in text
    return bool(keys & {"label", "labels"}) and _LABEL_LIST.search(text) is not None


def _is_label_studio(text: str) -> bool:
    keys = keys_of(text)
    return "data" in keys and bool(keys & {"annotations", "completions", "predictions"})


_SPANS = [
    {"start": 0, "end": 4, "label": "Loc"},
    {"start": 8, "end": 14, "label": "Loc"},
]

PRODIGY = Form(
    name="prodigy",
    title="Prodigy's JSON lines: spans and relations; what was rejected or ignored is passed over",
    holds=("entities", "spans", "relations"),
    sample={
        "db.jsonl": json.dumps(
            {
                "text": _TEXT,
                "spans": _SPANS,
                "relations": [{"head_span": _SPANS[0], "child_span": _SPANS[1], "label": "In"}],
                "answer": "accept",
            }
        )
        + "\n"
    },
    example="db.jsonl train.spacy -l en",
    fits=lambda path: _is_prodigy(head(path)),
    read=reader(prodigy),
    options=(SPANS_KEY, SNAP, ENCODING),
    report=ToolReport,
    write=prodigy_text,
    write_options=(SPANS_KEY,),
    group=ENTITIES,
    keeps_keys=True,
)

DOCCANO = Form(
    name="doccano",
    title="doccano's JSON lines, of sequence labelling or with relations",
    holds=("entities", "spans", "relations"),
    sample={
        "all.jsonl": json.dumps(
            {
                "text": _TEXT,
                "entities": [
                    {"id": 1, "label": "Loc", "start_offset": 0, "end_offset": 4},
                    {"id": 2, "label": "Loc", "start_offset": 8, "end_offset": 14},
                ],
                "relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "In"}],
            }
        )
        + "\n"
    },
    example="all.jsonl train.spacy -l en",
    fits=lambda path: _is_doccano(head(path)),
    read=reader(doccano),
    options=(SPANS_KEY, SNAP, ENCODING),
    report=ToolReport,
    write=doccano_text,
    write_options=(SPANS_KEY,),
    group=ENTITIES,
    keeps_keys=True,
)

LABEL_STUDIO = Form(
    name="label-studio",
    title="Label Studio's JSON: tasks with labels and relations; written as predictions",
    holds=("entities", "spans", "relations"),
    sample={
        "project.json": json.dumps(
            [
                {
                    "data": {"text": _TEXT},
                    "annotations": [
                        {
                            "result": [
                                {
                                    "id": name,
                                    "type": "labels",
                                    "value": {**place, "labels": ["Loc"]},
                                }
                                for name, place in (
                                    ("a", {"start": 0, "end": 4, "text": "Oslo"}),
                                    ("b", {"start": 8, "end": 14, "text": "Norway"}),
                                )
                            ]
                            + [
                                {
                                    "type": "relation",
                                    "from_id": "a",
                                    "to_id": "b",
                                    "direction": "right",
                                    "labels": ["In"],
                                }
                            ]
                        }
                    ],
                }
            ]
        )
    },
    example="project.json train.spacy -l en",
    fits=lambda path: _is_label_studio(head(path)),
    read=reader(label_studio, "text_key"),
    options=(SPANS_KEY, SNAP, TEXT_KEY, ENCODING),
    report=ToolReport,
    write=label_studio_text,
    write_options=(SPANS_KEY,),
    group=ENTITIES,
    keeps_keys=True,
    opening="[\n",
    between=",\n",
    closing="\n]\n",
)


def _is_webanno(path: Path) -> bool:
    files = sorted(path.glob("*.tsv")) if path.is_dir() else [path]
    return bool(files) and head(files[0]).startswith(FORMAT)


WEBANNO = Form(
    name="webanno",
    title="WebAnno TSV 3 of INCEpTION and WebAnno: a document a file, or a folder of them",
    holds=("sentences", "entities", "spans", "relations"),
    sample={
        "a.tsv": f"{FORMAT}.3\n#T_SP=custom.Span|label\n"
        f"#T_RL=custom.Relation|label|BT_custom.Span\n\n\n#Text={_TEXT}\n1-1\t0-4\tOslo\tLoc\t_\t_\t\n1-2\t5-7\tin\t_\t_\t_\t\n"
        "1-3\t8-14\tNorway\tLoc\tIn\t1-1\t\n"
    },
    example="curated train.spacy -l en",
    fits=_is_webanno,
    folders=True,
    read=webanno,
    options=(SPANS_KEY, SNAP, ENCODING),
    report=ToolReport,
    files=webanno_files,
    write_options=(SPANS_KEY,),
    group=ENTITIES,
)


def _is_brat(path: Path) -> bool:
    if path.is_dir():
        return any(path.rglob(f"*{ANNOTATION}"))
    return path.suffix == ANNOTATION and path.with_suffix(TEXT).exists()


BRAT = Form(
    name="brat",
    title="brat's standoff annotation: a folder of .txt and .ann, or one .ann; events are frames",
    holds=("entities", "spans", "relations", "frames"),
    sample={
        "a.ann": "T1\tLoc 0 4\tOslo\nT2\tLoc 8 14\tNorway\nR1\tIn Arg1:T1 Arg2:T2\n",
        "a.txt": _TEXT,
    },
    example="annotated train.spacy -l en",
    fits=_is_brat,
    folders=True,
    read=brat,
    options=(SPANS_KEY, SNAP, SPLIT_PIECES, ENCODING),
    report=ToolReport,
    files=brat_files,
    write_options=(SPANS_KEY,),
    group=ENTITIES,
)
