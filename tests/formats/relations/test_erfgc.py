"""Recipes as graphs, in columns that look like CoNLL-U."""

import pytest
from relation_cases import relations, spans
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.relations.erfgc import ErfgcReport, read_erfgc


def row(number, form, tag, head, deprel, *rest):
    return "\t".join([str(number), form, "_", "NN1", tag, "_", str(head), deprel, *rest])


SOUP = "\n".join(
    [
        row(1, "Boil", "B-Ac", 0, "root", "_", "_"),
        row(2, "red", "B-F", 1, "t", "[(5,", "'f-eq')]"),
        row(3, "beans", "I-F", 0, "root", "_"),
        row(4, "and", "O", 0, "root", "_", "_"),
        row(5, "serve", "B-Ac", 1, "a", "[(1, 'v')]", "_"),
    ]
)


def read(tmp_path, text, **options):
    path = tmp_path / "recipes.conllu"
    path.write_text(text, encoding="utf8")
    return list(read_erfgc(path, Vocab(), **options))


def test_entities_and_all_heads(tmp_path):
    (doc,) = read(tmp_path, SOUP + "\n\n")
    assert spans(doc) == [("Boil", "Ac"), ("red beans", "F"), ("serve", "Ac")]
    assert relations(doc) == [
        ("red beans", "t", "Boil"),
        ("red beans", "f-eq", "serve"),
        ("serve", "a", "Boil"),
        ("serve", "v", "Boil"),
    ]
    assert [token.tag_ for token in doc] == ["NN1"] * 5


def test_a_recipe_a_block(tmp_path):
    report = ErfgcReport()
    assert len(read(tmp_path, f"{SOUP}\n\n{SOUP}\n", report=report)) == 2
    assert dict(report.rows())["relations"] == 8


def test_lists_that_are_cut_short_are_counted(tmp_path):
    report = ErfgcReport()
    (doc,) = read(tmp_path, SOUP.replace("'f-eq')]", "'f-eq'),"), report=report)
    assert ("red beans", "f-eq", "serve") in relations(doc)
    assert dict(report.rows())["lists of heads cut in the file"] == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2\tred", "7\tred", "recipes.conllu:2: wanted nine columns"),
        ("\t1\tt\t[(5,", "\tone\tt\t[(5,", "recipes.conllu:2: no heads: 'one'"),
        ("\t'f-eq')]", "\t'f-eq'", "recipes.conllu:2: no heads"),
        ("\t1\tt\t", "\t4\tt\t", "recipes.conllu:2: an edge at word 4, which begins no entity"),
        ("B-F", "F", "recipes.conllu:2: 'F' is no tag"),
    ],
)
def test_bad_recipes(tmp_path, old, new, message):
    with pytest.raises(FormatError, match=message):
        read(tmp_path, SOUP.replace(old, new, 1))
    report = ErfgcReport()
    docs = read(tmp_path, SOUP.replace(old, new, 1) + f"\n\n{SOUP}", skip_bad=True, report=report)
    assert len(docs) == 1
    assert sum(report.skipped.values()) == 1
