"""The forms of relations and of other graphs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ...doc.graphs import DEP_GRAPH, has_graph
from ..common.language import vocab_for
from ..conllu.api import ReadReport, read_conllu
from ..conllu.enhanced import count_unfilled, set_enhanced
from ..conllu.forms import SAMPLE
from ..form import Form, each_file, has_keys, head
from ..options import BY_DOC, ENCODING, IDS, LAYERS, N_SENTS, RELATED_SENTENCES, SPANS_KEY, SPLIT
from .conll04 import read_conll04, read_ids
from .erfgc import ErfgcReport, read_erfgc
from .layers import add_layers
from .scierc import read_scierc
from .spert import read_spert, spert_text
from .to_docs import ENTITIES, RelationReport
from .token_graphs import read_token_graphs


def _read_conll04(
    paths: Sequence[Path],
    lang: str,
    report: RelationReport,
    *,
    ids: Path | None = None,
    split: str | None = None,
    **options: Any,
) -> Iterator[Doc]:
    if (ids is None) != (split is None):
        raise ValueError("--ids and --split go together: a file of ids, and which line of it")
    chosen = None if ids is None or split is None else frozenset(read_ids(ids, split))
    yield from read_conll04(paths, vocab_for(lang), ids=chosen, report=report, **options)


def _read_treebank(
    paths: Sequence[Path],
    lang: str,
    report: RelationReport,
    *,
    layers: Path | None = None,
    spans_key: str = ENTITIES,
    **options: Any,
) -> Iterator[Doc]:
    """See `read_conllu`, `set_enhanced` and `add_layers`."""
    vocab = vocab_for(lang)
    read = report.shared(ReadReport)
    docs: Iterable[Doc] = (
        doc
        for path in paths
        for doc in read_conllu(path, vocab, check_deps=True, report=read, **options)
    )
    if layers is not None:
        docs = add_layers(docs, layers, spans_key=spans_key, report=report)
    for doc in docs:
        report.texts += layers is None
        report.not_kept.update(set_enhanced(doc))
        without_deps, unfilled = count_unfilled(doc)
        report.without_deps += without_deps
        report.unfilled += unfilled
        if has_graph(doc, DEP_GRAPH):
            report.arcs += len(doc._.dep_graph)
        yield doc


_ENTITIES = [{"type": "Loc", "start": 0, "end": 1}, {"type": "Loc", "start": 2, "end": 3}]

SPERT = Form(
    name="spert",
    title="SpERT's JSON: tokens, entities by tokens, ends exclusive, relations between them",
    holds=("entities", "spans", "relations"),
    sample={
        "a.json": json.dumps(
            [
                {
                    "tokens": ["Oslo", "in", "Norway"],
                    "entities": _ENTITIES,
                    "relations": [{"type": "In", "head": 0, "tail": 1}],
                }
            ]
        )
    },
    example="a.json a.spacy --form spert",
    fits=lambda path: has_keys(path, "tokens", "entities") and not has_keys(path, "text"),
    read=each_file(read_spert),
    options=(SPANS_KEY, ENCODING),
    report=RelationReport,
    write=spert_text,
    write_options=(SPANS_KEY,),
    suffix=".json",
    group=ENTITIES,
    opening="[\n",
    between=",\n",
    closing="\n]\n",
)

SCIERC = Form(
    name="scierc",
    title="SciERC's JSON lines: documents; numbers count their tokens, ends are inclusive",
    holds=("sentences", "entities", "spans", "relations"),
    sample={
        "train.json": json.dumps(
            {
                "doc_key": "a",
                "sentences": [["Oslo", "in", "Norway"]],
                "ner": [[[0, 0, "Loc"], [2, 2, "Loc"]]],
                "relations": [[[0, 0, 2, 2, "In"]]],
            }
        )
        + "\n"
    },
    example="train.json train.spacy --form scierc --related-sentences",
    fits=lambda path: has_keys(path, "sentences", "ner"),
    read=each_file(read_scierc),
    options=(SPANS_KEY, RELATED_SENTENCES, ENCODING),
    report=RelationReport,
)

CONLL04 = Form(
    name="conll04",
    title='CoNLL04: a token a line after "#doc ID", BIO tags, relations by token numbers',
    holds=("entities", "spans", "relations"),
    sample={
        "train.txt": (
            "#doc 1\n0\tOslo\tB-Loc\t['In']\t[2]\n1\tin\tO\t['N']\t[1]\n"
            "2\tNorway\tB-Loc\t['N']\t[2]\n"
        )
    },
    example="train.txt dev.txt train.spacy --form conll04 --ids spert_split_ids.txt --split train",
    fits=lambda path: head(path).lstrip().startswith("#doc "),
    read=_read_conll04,
    options=(SPANS_KEY, IDS, SPLIT, ENCODING),
    report=RelationReport,
)

ERFGC = Form(
    name="erfgc",
    title="Recipes as graphs (ERFGC): columns that look like CoNLL-U, heads between entities",
    holds=("tags", "entities", "spans", "relations"),
    sample={
        "recipes.conllu": (
            "1\tHeat\t_\tVV0\tB-Ac\t_\t0\troot\t_\t_\n2\tpan\t_\tNN1\tB-T\t_\t1\tt\t[(1, 'o')]\t_\n"
        )
    },
    example="train.conllu train.spacy --form erfgc",
    read=each_file(read_erfgc),
    options=(SPANS_KEY, ENCODING),
    report=ErfgcReport,
)

GRAPH = Form(
    name="graph",
    title='JSON {"words": [], "pos_tags": [], "head_indices": [], "head_tags": []}; heads from 1',
    holds=("tags", "entities", "spans", "dep_graph"),
    sample={
        "graphs.json": json.dumps(
            {"words": ["Rain", "fell"], "head_indices": [2, 0], "head_tags": ["subj", ""]}
        )
    },
    example="graphs.json graphs.spacy --form graph",
    fits=lambda path: has_keys(path, "words", "head_indices"),
    read=each_file(read_token_graphs),
    options=(SPANS_KEY, ENCODING),
    report=RelationReport,
)

TREEBANK = Form(
    name="conllu-layers",
    title="A treebank whose DEPS become graphs, with entities, relations and frames beside it",
    holds=("sentences", "trees", "tags", "entities", "spans", "relations", "dep_graph", "frames"),
    sample={"en_x-ud-dev.conllu": SAMPLE},
    example=("en_x-ud-dev.conllu dev.spacy --form conllu-layers --layers en_x-layers-dev.jsonl"),
    read=_read_treebank,
    options=(SPANS_KEY, LAYERS, N_SENTS, BY_DOC, ENCODING),
    report=RelationReport,
)
