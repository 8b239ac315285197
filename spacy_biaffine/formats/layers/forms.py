"""The form of this package: JSON lines with every layer."""

import json

from ...doc.layers import BY_NAME
from ..form import Form, each_file, head
from ..options import ENCODING
from .read import LayersReport, read_layers
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
