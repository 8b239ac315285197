"""Registered architectures: one short builder per component."""

from functools import partial

from thinc.api import Model

from ..decode.mst import decode_trees
from ..nn.global_pointer import SpanPointer
from ..nn.label_attention import LabelAttentionNetwork
from ..nn.parser import BiaffineParser
from ..nn.splitter import SentenceSplitter
from .parser_model import parser_model
from .span_model import span_model
from .tagger_model import tagger_model
from .torch_layer import DocEncoder, torch_layer


def NormBiaffineParser(  # noqa: N802 (spaCy names architectures like classes)
    tok2vec: DocEncoder,
    lstm_layers: int = 1,
    lstm_hidden: int = 400,
    layer_norm: bool = False,
    tag_size: int = 0,
    arc_size: int = 500,
    label_size: int = 100,
    splitter_size: int = 128,
    normalize: bool = True,
    xavier_normal: bool = False,
    hops: int = 0,
    max_length: int = 1000,
    mixed_precision: bool = False,
    nO: int | None = None,
) -> Model:
    """The dependency parser of "Dependency Parsing is More Parameter-Efficient with Normalization".

    tok2vec: one vector per token; any encoder.
    lstm_layers, lstm_hidden: N (0 to 10) bidirectional layers and their width per direction.
    layer_norm: LayerNorm after each of them.
    tag_size: width of the embedding of the tag that is on the Doc; 0 for none.
    arc_size, label_size: width of the projections for arcs and labels.
    splitter_size: hidden width of the sentence splitter.
    normalize: scale arc scores by 1 / sqrt(arc_size); off, they are raw.
    xavier_normal: draw projections and arc weights from a normal rather than uniform distribution.
    hops: pairs of biaffine and graph attention (0 to 3) that bring likely heads and dependents into
        the state of each word before it is scored: the paper's k-hop parser, k = hops + 1.
    max_length: longest sentence in words that is parsed as a whole. Memory grows as its square.
    mixed_precision: half precision on a GPU.
    nO: number of labels; set by the component.
    """
    if not 0 <= lstm_layers <= 10:
        raise ValueError(f"lstm_layers must be 0 to 10, not {lstm_layers}.")
    if not 0 <= hops <= 3:
        raise ValueError(f"hops must be 0 to 3, not {hops}.")
    parser = partial(
        BiaffineParser,
        layers=lstm_layers,
        hidden=lstm_hidden,
        layer_norm=layer_norm,
        tag_size=tag_size,
        arc_size=arc_size,
        label_size=label_size,
        normalize=normalize,
        xavier_normal=xavier_normal,
        hops=hops,
    )
    return parser_model(
        tok2vec,
        torch_layer(
            "sentence_splitter",
            partial(SentenceSplitter, hidden=splitter_size),
            mixed_precision=mixed_precision,
        ),
        torch_layer(
            "biaffine_parser", parser, mixed_precision=mixed_precision, decode=decode_trees
        ),
        max_length=max_length,
        reads_tags=tag_size > 0,
        nO=nO,
    )


def LabelAttentionTagger(  # noqa: N802 (the same)
    tok2vec: DocEncoder,
    lstm_layers: int = 3,
    lstm_hidden: int = 200,
    heads: int = 5,
    mixed_precision: bool = False,
    nO: int | None = None,
) -> Model:
    """The tagger of "Hierarchically-Refined Label Attention Network for Sequence Labeling".

    tok2vec: one vector per token; any encoder. The paper's is `spacy-biaffine.CharWordBiLSTM.v1`.
    lstm_layers, lstm_hidden: BiLSTM-LAN layers (the last one gives the scores) and their width per
        direction. A label embedding is as wide as both directions.
    heads: attention heads of the hidden layers; a divisor of twice lstm_hidden.
    mixed_precision: half precision on a GPU.
    nO: number of labels; set by the component.
    """
    if lstm_layers < 1:
        raise ValueError(f"lstm_layers must be 1 or more, not {lstm_layers}.")
    if heads < 1 or 2 * lstm_hidden % heads:
        raise ValueError(
            f"heads ({heads}) must divide the width of a label embedding, 2 * lstm_hidden = "
            f"{2 * lstm_hidden}."
        )
    network = partial(LabelAttentionNetwork, layers=lstm_layers, hidden=lstm_hidden, heads=heads)
    return tagger_model(
        tok2vec,
        torch_layer("label_attention_network", network, mixed_precision=mixed_precision),
        nO=nO,
    )


def GlobalPointer(  # noqa: N802 (the same)
    tok2vec: DocEncoder,
    lstm_layers: int = 1,
    lstm_hidden: int = 200,
    head_size: int = 64,
    efficient: bool = True,
    max_length: int = 1000,
    max_span_length: int | None = None,
    mixed_precision: bool = False,
    nO: int | None = None,
) -> Model:
    """The span finder of "Efficient GlobalPointer: Fewer Parameters, Better Results".

    tok2vec: one vector per token; any encoder.
    lstm_layers, lstm_hidden: bidirectional layers above it and their width per direction; 0 for an
        encoder that is trained itself.
    head_size: width d of q and k, an even number.
    efficient: one q and k for all types; off, each type has its own, as in GlobalPointer.
    max_length: longest sentence in words that is read as a whole; longer ones are read in windows
        of this length, each half over the one before. Memory grows as its square.
    max_span_length: longest entity in words; none for any.
    mixed_precision: half precision on a GPU.
    nO: number of labels; set by the component.
    """
    if lstm_layers < 0:
        raise ValueError(f"lstm_layers must be 0 or more, not {lstm_layers}.")
    if head_size < 2 or head_size % 2:
        raise ValueError(f"head_size must be an even number above 0, not {head_size}.")
    if max_length < 1 or (max_span_length is not None and max_span_length < 1):
        raise ValueError("max_length and max_span_length must be 1 or more.")
    pointer = partial(
        SpanPointer,
        layers=lstm_layers,
        hidden=lstm_hidden,
        size=head_size,
        efficient=efficient,
        max_span_length=max_span_length,
    )
    return span_model(
        tok2vec,
        torch_layer("global_pointer", pointer, mixed_precision=mixed_precision, threshold=0.0),
        max_length=max_length,
        max_span_length=max_span_length,
        nO=nO,
    )
