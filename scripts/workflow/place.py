"""Where everything is that belongs to a folder and a config.

corpus/FOLDER/ holds the converted splits, corpus/FOLDER/CONFIG/ those with what the config reads
beside trees and tags; training/, metrics/ and packages/ hold what was made with CONFIG under
FOLDER/CONFIG/. FOLDER is the name of the folder, CONFIG that of the file.
"""

import argparse
import re
from pathlib import Path

from .learned import TREES, Learned
from .sources import Options, find_source


class Place:
    """Paths and names."""

    def __init__(self, args: argparse.Namespace) -> None:
        options = Options(args.form.split(), args.n_sents, args.merge_mwt, args.skip_bad)
        self.learned = Learned(args.config)
        self.source = find_source(args.treebank, options, self.learned)
        self.lang: str = args.lang or self.source.lang or self.learned.lang
        self.name = args.treebank.resolve().name
        config = args.config.stem
        self.corpus = Path("corpus", self.name)
        if self.learned.reads_layers or args.form:
            self.corpus /= config
        self.model = Path("training", self.name, config, "model-best")
        self.metrics = Path("metrics", self.name, f"{config}.json")
        self.packages = Path("packages", self.name, config)

    def corpus_file(self, split: str) -> Path:
        """The .spacy file of a split, or its folder of shards."""
        file = self.corpus / f"{split}.spacy"
        return file if file.exists() else file.with_suffix("")

    def evaluation_split(self) -> str:
        """'test', or 'dev' where there is no test split."""
        return "test" if self.corpus_file("test").exists() else "dev"

    def package_name(self, name: str) -> str:
        """The package's name without the language that `spacy package` puts before it.

        Inferred: 'sampler' of en_sampler-ud-train.conllu, and what is not a parser alone is named
        after its config too: 'sampler_ner'.
        """
        if not name:
            name = self.source.name
            if any(gold != TREES for gold in self.learned.golds):
                name = f"{name}_{self.model.parent.name}"
        return re.sub(r"\W+", "_", name).removeprefix(f"{self.lang}_")

    def wheel(self, name: str, version: str) -> Path:
        """The wheel that `spacy package` builds."""
        full = f"{self.lang}_{self.package_name(name)}-{version}"
        return self.packages / full / "dist" / f"{full}-py3-none-any.whl"
