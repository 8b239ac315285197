"""Files with relations and other graphs <-> spaCy Docs: the names other modules use."""

from ..conllu.enhanced import set_enhanced
from .conll04 import read_conll04, read_ids
from .layers import add_layers
from .scierc import read_scierc
from .spert import read_spert, spert_record, write_spert
from .to_docs import ENTITIES, RelationReport, identifier_of
from .token_graphs import read_token_graphs

__all__ = [
    "ENTITIES",
    "RelationReport",
    "add_layers",
    "identifier_of",
    "read_conll04",
    "read_ids",
    "read_scierc",
    "read_spert",
    "read_token_graphs",
    "set_enhanced",
    "spert_record",
    "write_spert",
]
