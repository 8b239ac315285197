"""The registered architecture of the graph parser."""

from functools import partial

from thinc.api import Model

from ..nn.graph_parser import BiaffineGraphParser
from .arc_heads import ArcHead
from .graph_model import graph_model
from .torch_layer import DocEncoder, torch_layer


def NormBiaffineGraphParser(  # noqa: N802 (spaCy names architectures like classes)
    tok2vec: DocEncoder,
    arcs: ArcHead,
    tagger_size: int = 100,
    tagger_lstm: bool = True,
    tag_size: int = 100,
    lstm_layers: int = 1,
    lstm_hidden: int = 400,
    layer_norm: bool = False,
    arc_size: int = 300,
    label_size: int = 100,
    normalize: bool = True,
    xavier_normal: bool = False,
    hops: int = 0,
    max_length: int = 1000,
    mixed_precision: bool = False,
    nO: int | None = None,
) -> Model:
    """The graph parser of "Dependency Parsing is More Parameter-Efficient with Normalization".

    tok2vec: one vector per token; any encoder.
    arcs: `spacy-biaffine.TreeArcs.v1`, one head per word as in the paper, or
        `spacy-biaffine.GraphArcs.v1`, any number of them.
    tagger_size: width of the tagger that finds entities; 0 for none: they are on the Doc.
    tagger_lstm: whether the tagger has a BiLSTM layer below its MLP.
    tag_size: width of the embedding of the tagger's own tags, or without a tagger of those that are
        on the Doc; 0 for none.
    lstm_layers, lstm_hidden: N (0 to 10) bidirectional layers and their width per direction.
    layer_norm: LayerNorm after each of them.
    arc_size, label_size: width of the projections for arcs and labels.
    normalize: scale arc scores by 1 / sqrt(arc_size); off, they are raw.
    xavier_normal: draw projections and arc weights from a normal rather than uniform distribution.
    hops: as in `spacy-biaffine.NormBiaffineParser.v1`.
    max_length: longest sentence in words that is parsed as a whole; longer ones are parsed in
        parts, with no arcs between them. Memory grows as its square.
    mixed_precision: half precision on a GPU.
    nO: number of labels; set by the component.
    """
    for name, value, most in (("lstm_layers", lstm_layers, 10), ("hops", hops, 3)):
        if not 0 <= value <= most:
            raise ValueError(f"{name} must be 0 to {most}, not {value}.")
    if max_length < 1:
        raise ValueError(f"max_length must be 1 or more, not {max_length}.")
    parser = partial(
        BiaffineGraphParser,
        arcs=arcs,
        tagger_size=tagger_size,
        tagger_lstm=tagger_lstm,
        tag_size=tag_size,
        layers=lstm_layers,
        hidden=lstm_hidden,
        layer_norm=layer_norm,
        arc_size=arc_size,
        label_size=label_size,
        normalize=normalize,
        xavier_normal=xavier_normal,
        hops=hops,
    )
    return graph_model(
        tok2vec,
        torch_layer("biaffine_graph_parser", parser, mixed_precision=mixed_precision),
        arcs=arcs,
        max_length=max_length,
        has_tagger=tagger_size > 0,
        reads_tags=tag_size > 0 and not tagger_size,
        nO=nO,
    )
