"""The weights of a Hugging Face checkpoint of BERT's kind, for our own module."""

from typing import Any

from torch import Tensor

from ..nn.graph_encoders import BertSizes, GraphBert, PretrainedLayers
from ..nn.graph_transformer import ACTIVATIONS

FAMILY = ("bert", "roberta", "xlm-roberta", "camembert", "electra")
"""Model types whose layers are BERT's."""

COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "camembert")
"""Those whose first position is the one after the number of the padding piece."""

NAMES = {
    "embeddings.word_embeddings.": "embeddings.pieces.",
    "embeddings.position_embeddings.": "embeddings.positions.",
    "embeddings.LayerNorm.": "embeddings.norm.",
    "embeddings_project.": "embeddings.projection.",
    "encoder.layer.": "transformer.layers.",
    ".attention.self.": ".attention.",
    ".attention.output.dense.": ".attention_output.",
    ".attention.output.LayerNorm.": ".attention_norm.",
    ".intermediate.dense.": ".feed_in.",
    ".output.dense.": ".feed_out.",
    ".output.LayerNorm.": ".feed_norm.",
}
"""Parts of parameter names, theirs and ours, to be replaced in this order."""


def bert_sizes(config: Any, name: str) -> BertSizes:
    """The sizes in a Hugging Face config. Raises ValueError for a model that is not BERT's kind."""
    positions = getattr(config, "position_embedding_type", "absolute")
    if config.model_type not in FAMILY or positions != "absolute":
        raise ValueError(
            f"SynG2GTransformer: {name!r} is a {config.model_type} with {positions} positions; it "
            f"can start from {', '.join(FAMILY)} with absolute ones. For others, put "
            f"spacy-biaffine.SynG2GLayers.v1 over spacy-biaffine.FrozenTransformer.v1."
        )
    if config.hidden_act not in ACTIVATIONS:
        raise ValueError(
            f"SynG2GTransformer: {name!r} has the activation {config.hidden_act}; known are "
            f"{', '.join(ACTIVATIONS)}."
        )
    return BertSizes(
        pieces=config.vocab_size,
        positions=config.max_position_embeddings,
        first=config.pad_token_id + 1 if config.model_type in COUNT_FROM_PADDING else 0,
        embedding=getattr(config, "embedding_size", config.hidden_size),
        width=config.hidden_size,
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        hidden=config.intermediate_size,
        activation=config.hidden_act,
        norm_eps=config.layer_norm_eps,
    )


def copy_weights(module: GraphBert | PretrainedLayers, state: dict[str, Tensor]) -> None:
    """Fill in the weights of a checkpoint; relations and tags keep theirs.

    Raises ValueError where the two do not fit together, weight by weight.
    """
    weights = {_our_name(name): tensor for name, tensor in state.items() if _is_read(name)}
    weights["embeddings.kind"] = state["embeddings.token_type_embeddings.weight"][0]
    if isinstance(module, PretrainedLayers):
        del weights["embeddings.pieces.weight"]
    missing, unexpected = module.load_state_dict(weights, strict=False)
    new = ("transformer.relations.", "transformer.value_relations.", "tags.")
    wrong = [name for name in missing if not name.startswith(new)] + unexpected
    if wrong:
        raise ValueError(
            f"SynG2GTransformer: the checkpoint is not laid out like BERT; there is nothing to "
            f"go with {', '.join(wrong[:5])}."
        )


def _is_read(name: str) -> bool:
    kept_elsewhere = ("pooler.", "embeddings.token_type_embeddings.")
    buffers = ("embeddings.position_ids", "embeddings.token_type_ids")
    return not name.startswith(kept_elsewhere) and name not in buffers


def _our_name(name: str) -> str:
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name
