"""A hundred hostile texts through the family, the commands and the page: no crash, no loss."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from cli.cli_cases import call
from hostile_texts import KINDS, SHORT, TEXTS
from saved_family import PARTS, SAVED
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine import __version__
from spacy_biaffine.annotate.forms import FORMS, SPACY
from spacy_biaffine.annotate.run import Summary, annotate
from spacy_biaffine.annotate.shards import Finished, Shard
from spacy_biaffine.annotate.worker import Job, Worker
from spacy_biaffine.formats.common.docbin import read_docbin
from spacy_biaffine.formats.conllu.api import read_conllu

MODEL = SAVED / f"family-{__version__}"


@pytest.fixture(scope="module")
def nlp() -> Language:
    """The family. Tests leave it as it is."""
    return spacy.load(MODEL)


@pytest.fixture(scope="module")
def docs(nlp: Language) -> list[Doc]:
    """All texts, annotated."""
    return list(nlp.pipe(TEXTS))


def test_there_are_a_hundred() -> None:
    assert len(TEXTS) == len(set(TEXTS)) >= 100


@pytest.mark.parametrize("kind", KINDS)
def test_annotation_is_well_formed(nlp: Language, docs: list[Doc], kind: str) -> None:
    for text, doc in zip(TEXTS, docs, strict=True):
        if text in KINDS[kind]:
            check(nlp, text, doc)


def check(nlp: Language, text: str, doc: Doc) -> None:
    """Raises AssertionError where an annotation is not what its component promises."""
    assert doc.text == text
    assert sum(map(len, doc.sents)) == len(doc)
    for sent in doc.sents:
        heads = np.array([token.head.i - sent.start for token in sent])
        assert ((heads >= 0) & (heads < len(sent))).all()
        (root,) = np.flatnonzero(heads == np.arange(len(sent)))
        for _ in range(len(sent).bit_length()):
            heads = heads[heads]
        assert (heads == root).all()
    words = [token for token in doc if not token.is_space]
    known = set(nlp.get_pipe("norm_biaffine_parser").labels) | {"dep"}
    assert all(token.dep_ in known | {"ROOT"} for token in words)
    assert all(token.tag_ in nlp.get_pipe("label_attention_tagger").labels for token in words)
    kinds = nlp.get_pipe("global_pointer_ner").labels
    assert all(entity.label_ in kinds and entity.text.strip() == entity.text for entity in doc.ents)
    entities = {(entity.start, entity.end, entity.label) for entity in doc.ents}
    for relation in doc._.relations:
        for span in (relation.head, relation.tail):
            assert (span.start, span.end, span.label) in entities
    for frame in doc._.frames:
        sent = frame.predicate[0].sent
        pieces = [*frame.predicate, *(span for role in frame.roles for span in role.spans)]
        assert all(sent.start <= span.start < span.end <= sent.end for span in pieces)


def test_saved_and_read(docs: list[Doc]) -> None:
    vocab = Vocab()
    read = [Doc(vocab).from_bytes(doc.to_bytes()) for doc in docs]
    in_one = DocBin().from_bytes(DocBin(docs=docs).to_bytes()).get_docs(Vocab())
    for doc, one, other in zip(docs, read, in_one, strict=True):
        assert found_in(one) == found_in(other) == found_in(doc)


def found_in(doc: Doc) -> dict[str, Any]:
    """The text, its tokens, and what each component found."""
    tokens = [(token.text, token.whitespace_) for token in doc]
    return {"tokens": tokens} | {kind: part.read(doc) for kind, part in PARTS.items()}


@pytest.mark.slow
def test_two_processes(nlp: Language, docs: list[Doc]) -> None:
    found = nlp.pipe(TEXTS, n_process=2, batch_size=32)
    assert [doc.text for doc in found] == TEXTS


@pytest.mark.slow
@pytest.mark.parametrize("words", ["word ", "Cold rain fell all night . ", "rain\n", "\0 "])
def test_twenty_thousand_words(nlp: Language, words: str) -> None:
    text = words * (20_000 // len(words.split()))
    check(nlp, text, nlp(text))


def test_half_a_surrogate_pair_is_refused_and_nothing_is_broken(nlp: Language) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        nlp("rain \ud800 fell")
    check(nlp, "Rain fell .", nlp("Rain fell ."))


# Files: number in = number out + number left out.

GOOD_JSON = [
    b'\xef\xbb\xbf{"text": "behind a byte order mark"}',
    b'{"text": "a line of Windows"}\r',
    b'{"text": "\\ud83d\\ude00 a whole pair"}',
    b'{"text": "null \\u0000 byte", "id": 7}',
    b'{"text": "long", "other": "' + b"y" * 300_000 + b'"}',
    b'{"text": "nested", "other": ' + b"[" * 50 + b"]" * 50 + b"}",
    b'{"id": "\\u2028", "text": "no end"}',
]
BAD_JSON = {
    b'{"text": "a\\ud800b"}': "half of a surrogate pair, \\ud800",
    b'{"text": "a", "id": ["\\udfff"]}': "half of a surrogate pair, \\udfff",
    b'{"text": "a", "\\ud800": 1}': "half of a surrogate pair",
    b'{"text": "caf\xe9"}': "no UTF-8 (byte 0xe9",
    b"\xff\xfe\x00{": "no UTF-8",
    b'{"text": ': "no JSON",
    b'{"text": "a"} {"text": "b"}': "no JSON",
    b"{'text': 'a'}": "no JSON",
    b'{"text": "a\x01b"}': "no JSON",
    b"\x00": "no JSON",
    b"[" * 100_000: "no JSON",
    b'{"text": "a", "n": NaN}': "NaN is no number",
    b'{"text": "a", "n": ' + b"9" * 5_000 + b"}": "no JSON",
    b'{"text": "a", "text": "b"}': "'text' stands twice",
    b'{"text": "a", "more": [{"k": 1, "k": 2}]}': "'k' stands twice",
    b"[]": "must be an object",
    b"3": "must be an object",
    b'"text"': "must be an object",
    b"null": "must be an object",
    b"{}": 'a string as "text"',
    b'{"text": null}': 'a string as "text"',
    b'{"text": ["a"]}': 'a string as "text"',
    b'{"Text": "a"}': 'a string as "text"',
}
ROW = "1\t{}\t_\t_\t_\t_\t0\troot\t_\t_"
GOOD_CONLLU = [
    ROW.format("\ufffe\x00"),
    "# \u202e\n" + ROW.format("a b"),
    ROW.format("x" * 9_000) + "\r",
    ROW.format("_"),
]
BAD_CONLLU = [
    ROW.format("caf\udce9"),  # as surrogateescape writes a byte that is no UTF-8
    ROW.format("a") + "\t_",
    "1 a _ _ _ _ 0 root _ _",
    ROW.format("a").replace("\t0\t", "\t7\t"),
    ROW.format("a").replace("\t0\t", "\t" + "9" * 5_000 + "\t"),
    ROW.format("a") + "\n" + ROW.format("b"),
    ROW.format("a").replace("1\t", "1-2\t"),
    "\x00",
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory, nlp: Language) -> dict[Path, int]:
    """Files of every kind, with the number of records in each."""
    folder = tmp_path_factory.mktemp("hostile")
    in_lines = [text for text in SHORT if "\n" not in text and not text.endswith("\r")]
    (folder / "a.txt").write_text(
        "".join(f"{text}\n" for text in in_lines), newline="", encoding="utf-8"
    )
    as_json = [json.dumps({"text": text, "n": n}).encode() for n, text in enumerate(SHORT)]
    (folder / "b.jsonl").write_bytes(b"\n".join([*GOOD_JSON, b"", *as_json, b"  ", *BAD_JSON]))
    blocks = [*GOOD_CONLLU[:2], *BAD_CONLLU, *GOOD_CONLLU[2:]]
    conllu = "\n\n".join(blocks).encode("utf-8", "surrogateescape")
    (folder / "c.conllu").write_bytes(conllu)
    DocBin(docs=map(nlp.make_doc, SHORT)).to_disk(folder / "d.spacy")
    (folder / "e.spacy").write_bytes(b"\x00 no DocBin")
    counts = [
        len(in_lines),
        len(GOOD_JSON) + len(SHORT) + len(BAD_JSON),
        len(blocks),
        len(SHORT),
        1,
    ]
    return dict(zip(sorted(folder.iterdir()), counts, strict=True))


Start = Callable[[Iterable[Path], Path, str], Summary]


@pytest.fixture(scope="module")
def start() -> Start:
    """Annotates files, with a pipeline that is loaded once."""
    worker = Worker(Job(str(MODEL), SPACY, None, None, -1))

    def run(job: Job, shards: Iterable[Shard]) -> Iterator[Finished]:
        worker.job = job
        yield from map(worker, shards)

    def begin(files: Iterable[Path], target: Path, form: str) -> Summary:
        return annotate(worker.job._replace(form=form), list(files), target, run, shard_size=100)

    return begin


def bad_in(target: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in open(f"{target}.bad.jsonl", encoding="utf8")]


@pytest.mark.parametrize("form", FORMS)
def test_no_record_is_lost(
    form: str, start: Start, sources: dict[Path, int], tmp_path: Path
) -> None:
    target = tmp_path / ("out.spacy" if form == SPACY else f"out.{form}")
    summary = start(sources, target, form)
    bad = bad_in(target)
    assert summary.docs + len(bad) == sum(sources.values())
    assert all(each["reason"] for each in bad)
    assert len({each["place"] for each in bad}) == len(bad)
    if form == SPACY:
        assert sum(1 for _ in read_docbin(summary.target, Vocab())) == summary.docs
    elif form == "entities":
        assert sum(1 for _ in srsly.read_jsonl(target)) == summary.docs
    elif form == "spert":
        assert len(json.loads(target.read_text(encoding="utf8"))) == summary.docs
    elif form == "conllu":
        # Docs that do not come from CoNLL-U are named there.
        read = list(read_conllu(target, Vocab(), by_doc=True))
        named = target.read_text(encoding="utf8").count("# newdoc id = d")
        assert named == summary.docs - len(GOOD_CONLLU) and len(read) >= named


def test_bad_records_say_what_is_wrong(
    start: Start, sources: dict[Path, int], tmp_path: Path
) -> None:
    start(sources, tmp_path / "out.jsonl", "entities")
    bad = {each["place"].rpartition("/")[2]: each for each in bad_in(tmp_path / "out.jsonl")}
    first = len(GOOD_JSON) + len(SHORT) + 3  # two lines of blanks are no records
    for number, (line, reason) in enumerate(BAD_JSON.items(), first):
        each = bad[f"b.jsonl:{number}"]
        assert reason in each["reason"], each["reason"]
        assert each["text"].encode("utf-8", "surrogateescape") == line
    in_conllu = [each for place, each in bad.items() if place.startswith("c.conllu")]
    assert len(in_conllu) == len(BAD_CONLLU)
    assert "no DocBin" in bad["e.spacy"]["reason"]
    assert len(bad) == len(BAD_JSON) + len(BAD_CONLLU) + 1


def test_texts_come_out_as_they_went_in(
    start: Start, sources: dict[Path, int], tmp_path: Path
) -> None:
    (texts,) = (path for path in sources if path.suffix == ".txt")
    start([texts], tmp_path / "out.jsonl", "entities")
    lines = texts.read_bytes().decode().split("\n")[:-1]
    assert [each["text"] for each in srsly.read_jsonl(tmp_path / "out.jsonl")] == lines


def test_numbers_that_json_cannot_write_are_no_output(start: Start, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        '{"text": "a", "n": 1e999}\n{"text": "b"}\n', encoding="utf-8"
    )
    summary = start([tmp_path / "in.jsonl"], tmp_path / "out.jsonl", "entities")
    (bad,) = bad_in(tmp_path / "out.jsonl")
    assert summary.docs == 1 and "JSON compliant" in bad["reason"]


# Commands.


def test_evaluate_on_its_own_predictions(docs: list[Doc], tmp_path: Path) -> None:
    DocBin(docs=docs).to_disk(tmp_path / "gold.spacy")
    scores = tmp_path / "new" / "scores.json"
    code, output = call("evaluate", MODEL, tmp_path / "gold.spacy", "--json", scores)
    assert code == 0, output
    (gold,) = srsly.read_json(scores)["gold"]
    assert gold["docs"] == sum(map(bool, map(len, docs)))
    assert gold["scores"]["trees"]["dep_las"] == pytest.approx(1.0, abs=0.01)


def test_evaluate_says_which_file_is_broken(tmp_path: Path) -> None:
    whole = DocBin(docs=[Doc(Vocab(), words=["a"])]).to_bytes()
    for name, content in {"a": b"", "b": b"text", "c": whole[:-9], "d": whole[:20] + whole}.items():
        (tmp_path / f"{name}.spacy").write_bytes(content)
        code, output = call("evaluate", MODEL, tmp_path / f"{name}.spacy")
        assert code == 1 and f"{name}.spacy is no DocBin" in output, output


def test_render_shows_markup_as_text(tmp_path: Path) -> None:
    text = " ".join(KINDS["markup"] + KINDS["control characters"])
    (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    code, output = call("render", tmp_path / "in.txt", tmp_path / "out.html", "--model", MODEL)
    assert code == 0, output
    html = (tmp_path / "out.html").read_text(encoding="utf8")
    assert "&lt;script" in html
    assert not re.search(r"<script|<img|\ufeff|[\x00-\x08\x0e-\x1f\x7f-\x9f]", html)


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_render_says_where_a_text_is_no_utf8(source: str, tmp_path: Path) -> None:
    raw = b"Rain fell.\ncaf\xe9\n"
    path = tmp_path / "in.txt" if source == "file" else "-"
    (tmp_path / "in.txt").write_bytes(raw)
    code, output = call("render", path, tmp_path / "o.html", "--model", MODEL, input=raw)
    assert code == 1
    assert f"{path}:2: this is no UTF-8 (byte 0xe9)" in output


# The page.


@pytest.fixture(scope="module")
def client() -> Any:
    """The page on the family."""
    pytest.importorskip("starlette")
    from starlette.testclient import TestClient

    from spacy_biaffine.serve.app import make_app

    app = make_app(lambda: spacy.load(MODEL), max_length=2_000)
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


@pytest.mark.parametrize("kind", KINDS)
def test_page(client: Any, kind: str) -> None:
    for text in KINDS[kind]:
        response = client.post("/", data={"text": text})
        too_long = len(text.replace("\r\n", "\n")) > 2_000
        assert response.status_code == (413 if too_long else 200 if text.strip() else 400), text
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]", response.text)
        assert not re.search("<script|<img|Traceback", response.text)
        assert response.text.count("</textarea>") == response.text.count("</style>") == 1


@pytest.mark.parametrize(
    "raw", [b"text=a%ED%A0%80b", b"text=%FF%FE%00", b"text=\xff\xfe", b"text=%%%"]
)
def test_page_of_bytes_that_are_no_text(client: Any, raw: bytes) -> None:
    form = {"content-type": "application/x-www-form-urlencoded; charset=utf-16"}
    response = client.post("/", content=raw, headers=form)
    assert response.status_code == 200
    response.text.encode()
