"""Fit config.cfg to a corpus. Layers without data are left out, and corpora that are not there.

python configure.py CORPUS/config.cfg --corpus CORPUS --lang fr --encoder path/to/encoder

Without an encoder the pipeline learns its word vectors itself (spaCy's HashEmbedCNN).
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab
from thinc.api import Config

from spacy_biaffine.doc.graphs import FRAMES, has_graph
from spacy_biaffine.formats.common.docbin import read_docbin

CONFIG = Path(__file__).with_name("config.cfg")

LEARNS = {
    "norm_biaffine_parser": "DEP",
    "xpos_tagger": "TAG",
    "morph_tagger": "POS",
    "trainable_lemmatizer": "LEMMA",
    "global_pointer_ner": "ENT_IOB",
    "syntax_srl": FRAMES,
}
"""Components to the attribute of tokens that they learn, or to the graph."""

GIVEN = "spacy-biaffine.GivenCorpus.v1"

OWN_VECTORS = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 128,
    "depth": 4,
    "embed_size": 5000,
    "window_size": 1,
    "maxout_pieces": 3,
    "subword_features": True,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpus", type=Path, required=True, help="what corpora.py has written")
    parser.add_argument("--lang", required=True)
    parser.add_argument("--encoder", default="", help="folder, hub name or package:PACKAGE/FOLDER")
    args = parser.parse_args()
    config = load_config(CONFIG)
    corpora = {file.stem: file for file in sorted((args.corpus / "train").glob("*.spacy"))}
    found = {layer for file in corpora.values() for layer in layers_in(file)}
    lacking = [name for name, layer in LEARNS.items() if layer not in found]
    for name in lacking:
        print(f"left out: {name}, the corpus has no {LEARNS[name]}")
    keep(config, lacking, list(corpora))
    config["nlp"]["lang"] = args.lang
    config["paths"] |= {"corpus": args.corpus.as_posix(), "encoder": args.encoder or None}
    if not args.encoder:
        config["components"]["tok2vec"]["model"] = OWN_VECTORS
        config["vars"]["width"] = OWN_VECTORS["width"]
        del config["training"]["optimizer"]["rate_factors"]
    config.to_disk(args.out)


def layers_in(file: Path) -> Iterator[str]:
    """The layers that any Doc of a file has."""
    docs = list(read_docbin(file, Vocab()))
    return (layer for layer in LEARNS.values() if any(has(doc, layer) for doc in docs))


def has(doc: Doc, layer: str) -> bool:
    return has_graph(doc, layer) if layer == FRAMES else doc.has_annotation(layer)


def keep(config: Config, lacking: list[str], corpora: list[str]) -> None:
    """Take components and corpora out. Without roles nothing reads trees that others predicted."""
    for name in lacking:
        config["nlp"]["pipeline"].remove(name)
        del config["components"][name]
    readers: dict[str, Any] = config["corpora"]["train"]["corpora"]
    for name, reader in list(readers.items()):
        if Path(reader["path"]).stem not in corpora:
            del readers[name]
        elif "syntax_srl" in lacking:
            readers[name] = {"@readers": GIVEN, "path": reader["path"]}


if __name__ == "__main__":
    main()
