"""The labels that stand on tokens."""

from spacy.tokens import Doc, Token

from ..decode.bioes import bioes_labels


def label_of(token: Token, target: str) -> str:
    """What stands on a token: its tag, pos, morph or _.NAME; "" where nothing does and on blanks.

    morph is UPOS and FEATS in one label, as in spaCy's morphologizer: Case=Nom|POS=NOUN.
    """
    if token.is_space:
        return ""
    if target == "tag":
        return token.tag_
    if target == "pos":
        return token.pos_
    if target == "morph":
        feats = str(token.morph)
        return "|".join(filter(None, [feats, token.pos_ and f"POS={token.pos_}"]))
    return token._.get(target.removeprefix("_.")) or ""


def labels_on(doc: Doc, target: str) -> set[str]:
    """The labels of a gold Doc, of entities all BIOES tags that their types can have."""
    if target != "ent":
        return {label_of(token, target) for token in doc} - {""}
    if not len(doc) or not doc.has_annotation("ENT_IOB"):
        return set()
    return bioes_labels({span.label_ for span in doc.ents})
