"""The forms that hold every layer: that of this package, and spaCy's own."""

import json

from ...doc.layers import BY_NAME
from ..form import Form, each_file, head
from ..options import ENCODING
from .read import LayersReport, read_layers
from .spacy_json import is_spacy_json, read_spacy_json, spacy_json_text
from .write import FORMAT, layers_text

LAYERS_JSON = Form(
    name="layers",
    title="JSON lines with every layer, by characters and ids; see docs/layers.md",
    holds=tuple(BY_NAME),
    sample={
        "a.layers.jsonl": json.dumps(
            {
                "format": FORMAT,
                "text": "Rain fell",
                "tokens": [
                    {"start": 0, "end": 4, "pos": "NOUN", "head": 1, "dep": "nsubj"},
                    {"start": 5, "end": 9, "pos": "VERB", "head": 1, "dep": "root"},
                ],
                "sentences": [{"start": 0, "end": 9}],
                "frames": [
                    {
                        "predicate": [{"start": 5, "end": 9}],
                        "sense": "fall.01",
                        "roles": [{"label": "A1", "spans": [{"start": 0, "end": 4}]}],
                    }
                ],
            }
        )
        + "\n"
    },
    example="a.layers.jsonl a.spacy",
    fits=lambda path: f'"{FORMAT}"' in head(path)[:200],
    read=each_file(read_layers),
    options=(ENCODING,),
    report=LayersReport,
    write=layers_text,
    keeps_keys=True,
    suffix=".layers.jsonl",
)


SPACY_JSON = Form(
    name="spacy-json",
    title="What spaCy's Doc.to_json gives, one a line or in an array; without scores",
    holds=tuple(BY_NAME),
    sample={
        "doc.json": json.dumps(
            {
                "text": "Rain fell",
                "ents": [{"start": 0, "end": 4, "label": "WEATHER"}],
                "sents": [{"start": 0, "end": 9}],
                "tokens": [
                    {"id": 0, "start": 0, "end": 4, "tag": "NN", "dep": "nsubj", "head": 1},
                    {"id": 1, "start": 5, "end": 9, "tag": "VBD", "dep": "ROOT", "head": 1},
                ],
            }
        )
    },
    example="doc.json a.spacy -l en",
    fits=lambda path: is_spacy_json(head(path)),
    read=each_file(read_spacy_json),
    options=(ENCODING,),
    report=LayersReport,
    write=spacy_json_text,
)
