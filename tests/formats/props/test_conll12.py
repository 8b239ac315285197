"""OntoNotes' columns, and files in which the predicates alone are given."""

from pathlib import Path

import pytest

from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.forms import form_named, form_of

ONTONOTES = """\
#begin document (nw/a); part 000
nw/a 0 0 Ben   NNP (TOP(S(NP*)    -    -  -  Eva (PERSON) (ARG0*)        (ARG0*)   (3)
nw/a 0 1 broke VBD      (VP*    break  01 1  Eva    *       (V*)            *       -
nw/a 0 2 the    DT   (NP(NP*      -    -  -  Eva    *     (ARG1*    (ARG1(ARG1-A*  -
nw/a 0 3 Red    NNP     *         -    -  -  Eva (PRODUCT*  *               *       -
nw/a 0 4 Pot    NNP     *)        -    -  -  Eva    *)      *              *))     (4)
nw/a 0 5 made   VBN  (VP*)))))   make  02 1  Eva    *       *)             (V*)     -

nw/a 0 0 Rain   NN  (TOP(NP*))    -    -  -   -     *    -
#end document
"""


def read(tmp_path: Path, form: str, text: str, **options):
    path = tmp_path / "in.conll"
    path.write_text(text, encoding="utf-8")
    report = form_named(form).report()
    return list(form_named(form).read([path], "en", report, **options)), report


def shown(doc):
    return [
        (
            frame.predicate[0].text,
            frame.sense,
            [(role.label, [span.text for span in role.spans]) for role in frame.roles],
        )
        for frame in doc._.frames
    ]


def test_ontonotes(tmp_path):
    (doc, other), report = read(tmp_path, "conll12", ONTONOTES)
    assert shown(doc) == [
        ("broke", "break.01", [("ARG0", ["Ben"]), ("ARG1", ["the Red Pot made"])]),
        (
            "made",
            "make.02",
            [("ARG0", ["Ben"]), ("ARG1", ["the Red Pot"]), ("ARG1-A", ["the Red Pot"])],
        ),
    ]
    assert [(e.text, e.label_) for e in doc.ents] == [("Ben", "PERSON"), ("Red Pot", "PRODUCT")]
    assert [token.tag_ for token in doc][:2] == ["NNP", "VBD"]
    assert (len(other._.frames), len(other.ents)) == (0, 0)
    assert report.not_kept == {
        "mentions of coreference": 2,
        "words with a speaker": 6,
        "trees of phrases": 2,
        "senses of words": 2,
    }
    assert form_of(tmp_path / "in.conll") is form_named("conll12")
    (both,), _ = read(tmp_path, "conll12", ONTONOTES, n_sents=2)
    assert len(list(both.sents)) == 2 and len(both.ents) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(V*) ", "(V* ", "is not closed"),
        ("*))     (4)", "*)))    (4)", "closes what is not open"),
        ("   (V*)     -", "   (V*)", "columns"),
        ("(PERSON)", "PERSON", "is wanted"),
    ],
)
def test_mistakes(old, new, message, tmp_path):
    assert old in ONTONOTES
    with pytest.raises(FormatError, match=rf"in.conll:\d+: .*({message})"):
        read(tmp_path, "conll12", ONTONOTES.replace(old, new))


def test_given_predicates(tmp_path):
    spans = "Birds NNS -\nsing VBP sing\n. . -\n"
    (doc,), _ = read(tmp_path, "conll05", spans, tag_column=2, props_column=3, blind=True)
    assert shown(doc) == [("sing", None, [])]
    row = "{0}\t{1}\tx\tx\tN\tN\t_\t_\t{2}\t{2}\td\td\t{3}\t{4}\n"
    words = row.format(1, "Birds", 2, "_", "_") + row.format(2, "sing", 0, "Y", "{0}")
    for sense, found in (("_", None), ("sing.01", "sing.01")):
        (doc,), _ = read(tmp_path, "conll09", words.format(sense), blind=True)
        assert shown(doc) == [("sing", found, [])]
    with pytest.raises(FormatError, match=r"0 argument columns, 1 predicates .*--blind"):
        read(tmp_path, "conll09", words.format("_"))
