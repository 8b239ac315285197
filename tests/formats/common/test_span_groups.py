"""Loading span groups fast gives what DocBin gives."""

import srsly
from conllu_samples import CONTRACTED, SHORT, docs
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.span_groups import docs_of
from spacy_biaffine.formats.conllu.kept import GROUP


def described(doc: Doc) -> dict:
    return {
        key: (
            group.name,
            group.attrs,
            [(s.start, s.end, s.start_char, s.end_char, s.label_, s.kb_id_, s.id_) for s in group],
        )
        for key, group in doc.spans.items()
    }


def samples() -> list[Doc]:
    first, second = docs(CONTRACTED + SHORT)
    group = SpanGroup(first, name="other name", attrs={"scores": [0.5, 1], "edges": [[0, 1, "x"]]})
    group.append(Span(first, 1, 3, label="A", kb_id="Q1", span_id="s1"))
    group.append(Span(first, 0, 6, label="B"))
    first.spans["key"] = first.spans["same"] = group
    first.spans["empty"] = []
    bare = Doc(first.vocab, ["no", "groups"])
    return [bare, first, bare.copy(), second]


def test_same_as_docbin():
    data = DocBin(docs=samples()).to_bytes()
    wanted = list(DocBin().from_bytes(data).get_docs(Vocab()))
    found = list(docs_of(DocBin().from_bytes(data), Vocab()))
    assert list(map(described, found)) == list(map(described, wanted))
    assert [doc.to_json() for doc in found] == [doc.to_json() for doc in wanted]
    assert set(found[1].spans) == {GROUP, "key", "same", "empty"}


def test_old_forms():
    first, second = docs(SHORT * 2)
    second.spans["more"] = [second[0:1]]
    docbin = DocBin(docs=[first, first, second])
    old = [group.to_bytes() for group in first.spans.values()]
    docbin.span_groups[:2] = [b"", srsly.msgpack_dumps(old)]
    data = docbin.to_bytes()
    found = list(docs_of(DocBin().from_bytes(data), Vocab()))
    assert [set(doc.spans) for doc in found] == [set(), {GROUP}, {GROUP, "more"}]
    assert described(found[1]) == described(first)


def test_empty_docbin():
    assert list(docs_of(DocBin(), Vocab())) == []
