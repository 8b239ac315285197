"""Random checkpoints of BERT's kind, made on the spot: no hub, no network."""

from collections.abc import Callable
from pathlib import Path

import tokenizers
import transformers

HIDDEN, DEPTH, POSITIONS = 16, 3, 40
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,'[]"
PIECES = [*LETTERS, *(f"##{letter}" for letter in LETTERS), "the", "man", "rain", "fell"]


def save_bert(folder: Path) -> None:
    sizes = _sizes(_save_wordpieces(folder))
    transformers.BertModel(transformers.BertConfig(**sizes)).save_pretrained(folder)


def save_electra(folder: Path) -> None:
    """Its embeddings are narrower than its layers."""
    sizes = {**_sizes(_save_wordpieces(folder)), "embedding_size": 6, "hidden_act": "relu"}
    transformers.ElectraModel(transformers.ElectraConfig(**sizes)).save_pretrained(folder)


def save_roberta(folder: Path) -> None:
    """Its positions start behind the padding piece."""
    bpe = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator(["the man saw the rain"] * 4, vocab_size=300, special_tokens=special)
    bpe.save_model(str(folder))
    transformers.RobertaTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    ids = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    config = transformers.RobertaConfig(**_sizes(bpe.get_vocab_size()), **ids)
    transformers.RobertaModel(config).save_pretrained(folder)


SAVE: dict[str, Callable[[Path], None]] = {
    "bert": save_bert,
    "electra": save_electra,
    "roberta": save_roberta,
}


def _save_wordpieces(folder: Path) -> int:
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *PIECES]
    (folder / "vocab.txt").write_text("\n".join(vocab), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return len(vocab)


def _sizes(vocab_size: int) -> dict[str, int]:
    return {
        "vocab_size": vocab_size,
        "hidden_size": HIDDEN,
        "num_hidden_layers": DEPTH,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.3,  # large enough for every layer to matter
    }
