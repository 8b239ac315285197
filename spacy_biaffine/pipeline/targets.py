"""What the tagger can learn, and how each is written on a Doc.

Blank tokens get what spaCy's trained pipelines give them: the tag _SP, the part of speech SPACE.
No other label is written on them, and no entity begins or ends with one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from spacy.parts_of_speech import IDS as UPOS
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from ..decode.bioes import span_type, spans_of_tags
from ..doc.labels import label_of
from ..doc.scores import blocked_tokens, register_token_label
from ..doc.segments import sentences_of
from ..gold.labels import aligned_labels
from ..gold.spans import aligned_tags

EXTENSION = "_."


@dataclass(frozen=True)
class Target:
    """One target.

    name: as in the config. gold: the gold label of each predicted token, "" where none is known.
    assign: write labels, one per token and "" at blank ones, on a Doc; what it holds is kept unless
    the last argument, overwrite, is true. check: raises ValueError for a label that can't be
    written.
    """

    name: str
    gold: Callable[[Example], list[str]]
    assign: Callable[[Doc, Sequence[str], bool], None]
    check: Callable[[str], None]


def get_target(name: str) -> Target:
    """The target of this name. Raises ValueError with those there are."""
    if name in TARGETS:
        return TARGETS[name]
    extension = name.removeprefix(EXTENSION)
    if not name.startswith(EXTENSION) or not extension.isidentifier():
        raise ValueError(
            f"target is {name!r}; it must be one of {', '.join(TARGETS)}, or a token extension "
            f"such as '_.supertag'."
        )
    register_token_label(extension)
    return _token_target(name, partial(_put_extension, extension), "", _check_any)


def _token_target(
    name: str, put: Callable[[Token, str], None], blank: str, check: Callable[[str], None]
) -> Target:
    """A target whose labels stand on single tokens, without regard to the others."""
    gold = partial(aligned_labels, target=name)
    return Target(name, gold, partial(_assign_each, name, put, blank), check)


def _assign_each(
    target: str,
    put: Callable[[Token, str], None],
    blank: str,
    doc: Doc,
    labels: Sequence[str],
    overwrite: bool,
) -> None:
    """Token by token; blank: the label of blank tokens, none if empty."""
    for token, label in zip(doc, labels, strict=True):
        if token.is_space:
            if blank:
                put(token, blank)
        elif overwrite or not label_of(token, target):
            put(token, label)


def _put_extension(name: str, token: Token, label: str) -> None:
    token._.set(name, label)


def _put_tag(token: Token, label: str) -> None:
    token.tag_ = label


def _put_pos(token: Token, label: str) -> None:
    token.pos_ = label


def _assign_morph(doc: Doc, labels: Sequence[str], overwrite: bool) -> None:
    """Case=Nom|POS=NOUN: the part of speech and the other features go where they belong, and each
    is kept where it is there, as in spaCy's morphologizer."""
    for token, label in zip(doc, labels, strict=True):
        features = doc.vocab.morphology.feats_to_dict("POS=SPACE" if token.is_space else label)
        pos = features.pop("POS", "")
        if overwrite or token.is_space or not token.pos:
            token.pos_ = pos
        if overwrite or token.is_space or not token.has_morph():
            token.set_morph(features)  # type: ignore[attr-defined]  # not in the stubs


def tagged_entities(doc: Doc, tags: Sequence[str]) -> list[Span]:
    """The entities of BIOES tags, which never cross the edge of a sentence, nor begin or end with a
    blank token."""
    return [
        Span(doc, int(words[start]), int(words[end - 1]) + 1, label=kind)
        for words in sentences_of([doc])
        for start, end, kind in spans_of_tags([tags[word] for word in words])
    ]


def _assign_entities(doc: Doc, labels: Sequence[str], overwrite: bool) -> None:
    found = tagged_entities(doc, labels)
    kept = [] if overwrite else list(doc.ents)
    blocked = [] if overwrite else blocked_tokens(doc)
    taken = {token.i for span in (*kept, *blocked) for token in span}
    free = [span for span in found if not any(token.i in taken for token in span)]
    doc.set_ents([*kept, *free], blocked=blocked)


def _check_any(label: str) -> None:
    pass


def _check_pos(label: str) -> None:
    if label not in UPOS:
        known = ", ".join(filter(None, UPOS))
        raise ValueError(f"'{label}' is no part of speech; spaCy takes {known}.")


def _check_morph(label: str) -> None:
    parts = dict(part.partition("=")[::2] for part in label.split("|"))
    _check_pos(parts.get("POS", ""))


def _check_entity(label: str) -> None:
    if label != "O" and (label[:2] not in {"B-", "I-", "E-", "S-"} or not span_type(label)):
        raise ValueError(f"'{label}' is no BIOES tag, such as B-LOC or O.")


TARGETS = {
    target.name: target
    for target in (
        _token_target("tag", _put_tag, "_SP", _check_any),
        _token_target("pos", _put_pos, "SPACE", _check_pos),
        Target("morph", partial(aligned_labels, target="morph"), _assign_morph, _check_morph),
        Target("ent", aligned_tags, _assign_entities, _check_entity),
    )
}
