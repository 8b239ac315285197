"""Finding one's way in a treebank folder by file names."""

from pathlib import Path

SPLITS = ("train", "dev", "test")


def find_splits(folder: Path) -> dict[str, Path]:
    """The files *-ud-train.conllu, -dev and -test of a UD treebank folder, as far as present.

    Raises ValueError where there is none, or more than one of a split.
    """
    found = {}
    for split in SPLITS:
        files = sorted(folder.glob(f"*-ud-{split}.conllu"))
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise ValueError(f"several {split} files in {folder}: {names}; give one file")
        if files:
            found[split] = files[0]
    if not found:
        wanted = ", ".join(f"*-ud-{split}.conllu" for split in SPLITS)
        raise ValueError(f"no treebank in {folder}, and no .spacy file: looked for {wanted}")
    return found
