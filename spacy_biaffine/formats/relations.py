"""Files with relations and other graphs <-> spaCy Docs: the names other modules use."""

from .layers import add_layers
from .relations_conll04 import read_conll04, read_ids
from .relations_docs import ENTITIES, RelationReport, identifier_of
from .relations_enhanced import set_enhanced
from .relations_graph import read_token_graphs
from .relations_scierc import read_scierc
from .relations_spert import read_spert, spert_record, write_spert

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
