"""Colors of entity types in displaCy, which knows those of OntoNotes alone."""

from spacy.displacy.render import DEFAULT_LABEL_COLORS

OF_KIND = {
    "PERSON": ("PER", "PEOP", "NAME"),
    "ORG": ("ORGANIZATION", "CORPORATION", "COMPANY", "GROUP", "GOVERNMENT"),
    "LOC": ("LOCATION", "ADDRESS", "SCENE"),
    "PRODUCT": ("FOOD", "MATERIAL", "VEH"),
    "WORK_OF_ART": ("CREATIVE-WORK", "BOOK", "MOVIE", "GAME"),
    "EVENT": ("TASK",),
    "LAW": ("METHOD",),
    "QUANTITY": ("METRIC",),
    "NORP": ("POSITION",),
}
"""Types of the corpora that this package reads, by the type of OntoNotes whose color they take."""


def colors() -> dict[str, str]:
    """Color by type, as displaCy asks for it."""
    return {name: DEFAULT_LABEL_COLORS[known] for known, names in OF_KIND.items() for name in names}
