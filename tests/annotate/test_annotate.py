"""Annotating files in one process: order, forms, resuming, bad records."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import spacy
from factories import FACTORIES, Factory, gold_docs
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.annotate.description import model_folder
from spacy_biaffine.annotate.forms import form_of
from spacy_biaffine.annotate.local import Run, run_here
from spacy_biaffine.annotate.records import PlainText
from spacy_biaffine.annotate.run import Summary, annotate, find_files
from spacy_biaffine.annotate.shards import Shard, cut
from spacy_biaffine.annotate.worker import Job, Worker
from spacy_biaffine.formats.common.docbin import read_docbin
from spacy_biaffine.formats.props.api import write_conll05
from spacy_biaffine.formats.relations.api import read_spert

TEXTS = [f"Letter {number} came. Nobody slept." for number in range(10)]


@Language.component("annotate_test_fails")
def fails(doc: Doc) -> Doc:
    """Fails where it is told to."""
    if "broken" in doc.text or doc.vocab.lang == "xx":
        raise RuntimeError("this component is out of order")
    return doc


@Language.component("annotate_test_frames")
def frames(doc: Doc) -> Doc:
    """Gives each Doc a frame, and two on one word where it is told to."""
    from factories import predicate

    predicate(doc, 0, "come.01")
    if "twice" in doc.text:
        predicate(doc, 0, "go.01")
    return doc


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences, and entities of one word."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "NUMBER", "pattern": [{"IS_DIGIT": True}]}])
    nlp.add_pipe("annotate_test_fails")
    return saved(nlp, tmp_path_factory.mktemp("model"))


def saved(nlp: Language, folder: Path) -> Path:
    nlp.to_disk(folder)
    return folder


def lines(path: Path, *texts: str) -> Path:
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def start(
    model: Path,
    source: Path,
    target: Path,
    form: str,
    run: Run = run_here,
    *,
    spans_key: str | None = None,
    shard_size: int = 3,
    by_doc: bool = False,
) -> Summary:
    job = Job(str(model), form, spans_key, None, -1)
    return annotate(job, [source], target, run, shard_size=shard_size, by_doc=by_doc)


def stopping_after(n_shards: int) -> Run:
    """A run that is stopped when so many shards are written."""

    def run(job: Job, shards: Iterator[Shard]) -> Iterator:
        yield from islice(run_here(job, shards), n_shards)
        raise KeyboardInterrupt

    return run


def recording(seen: list[int]) -> Run:
    """A run that notes which shards it was given."""

    def run(job: Job, shards: Iterator[Shard]) -> Iterator:
        for shard in run_here(job, shards):
            seen.append(shard.number)
            yield shard

    return run


def bad_in(target: Path) -> list[tuple[str, str, str]]:
    path = target.with_name(target.name + ".bad.jsonl")
    found = [json.loads(line) for line in path.open(encoding="utf-8")]
    return [(each["place"].rpartition(":")[2], each["reason"], each["text"]) for each in found]


def records_in(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def names_beside(target: Path) -> set[str]:
    return {each.name for each in target.parent.iterdir()}


def test_jsonl_has_every_layer(model, tmp_path):
    source = lines(tmp_path / "in.jsonl", '{"id": 1, "text": "Oslo 7"}')
    start(model, source, tmp_path / "out.jsonl", form_of(tmp_path / "out.jsonl"))
    (record,) = records_in(tmp_path / "out.jsonl")
    assert record["entities"] == [{"id": 0, "start": 5, "end": 6, "label": "NUMBER"}]
    assert len(record["tokens"]) == 2 and record["meta"] == {"id": 1}


def test_texts_are_annotated_in_order(model, tmp_path):
    source = lines(tmp_path / "in.txt", *TEXTS)
    summary = start(model, source, tmp_path / "out.jsonl", "entities")
    found = records_in(tmp_path / "out.jsonl")
    assert [each["text"] for each in found] == TEXTS
    assert [each["entities"] for each in found] == [[[7, 8, "NUMBER"]]] * 10
    assert (summary.shards, summary.docs, summary.words, summary.bad) == (4, 10, 70, [])
    assert names_beside(source) == {"in.txt", "out.jsonl", "out.jsonl.job.json"}


def test_shards_of_docs_are_a_folder_and_one_is_a_file(model, tmp_path):
    source = lines(tmp_path / "in.txt", *TEXTS, "")
    assert start(model, source, tmp_path / "a.spacy", "spacy").target == tmp_path / "a"
    docs = list(read_docbin(tmp_path / "a", Vocab()))
    assert [doc.text for doc in docs] == [*TEXTS, ""]
    assert [len(list(doc.sents)) for doc in docs] == [2] * 10 + [0]
    start(model, source, tmp_path / "b.spacy", "spacy", shard_size=100)
    in_one = DocBin().from_disk(tmp_path / "b.spacy").get_docs(Vocab())
    assert [doc.to_json() for doc in in_one] == [doc.to_json() for doc in docs]


def test_conllu_comes_back_with_its_words_and_comments(model, tmp_path):
    rows = "1\tOslo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t7.\t_\t_\t_\t_\t_\t_\t_\tA=b\n\n"
    text = "".join(f"# sent_id = {number}\n# text = Oslo7.\n{rows}" for number in range(5))
    (tmp_path / "in.conllu").write_text(text, encoding="utf-8")
    start(model, tmp_path / "in.conllu", tmp_path / "out.conllu", "conllu")
    assert (tmp_path / "out.conllu").read_text(encoding="utf-8") == text


def test_text_to_conllu_numbers_docs_across_shards(model, tmp_path):
    source = lines(tmp_path / "in.txt", *TEXTS)
    start(model, source, tmp_path / "out.conllu", "conllu")
    found = (tmp_path / "out.conllu").read_text(encoding="utf-8")
    assert [f"# newdoc id = d{n}" in found for n in (1, 10, 11)] == [True, True, False]
    start(model, source, tmp_path / "whole.conllu", "conllu", shard_size=100)
    assert (tmp_path / "whole.conllu").read_text(encoding="utf-8") == found


@pytest.mark.parametrize("shard_size", [3, 100])
def test_relations_are_one_array(model, tmp_path, shard_size):
    source = lines(tmp_path / "in.txt", *TEXTS)
    start(model, source, tmp_path / "out.json", "spert", shard_size=shard_size)
    assert len(json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))) == 10
    docs = list(read_spert(tmp_path / "out.json", Vocab()))
    assert [doc.spans["entities"][0].label_ for doc in docs] == ["NUMBER"] * 10


def test_roles_and_what_their_form_cannot_hold(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("annotate_test_frames")
    model = saved(nlp, tmp_path / "model")
    source = lines(tmp_path / "in.txt", "Come now", "Come twice", "Come later")
    summary = start(model, source, tmp_path / "out.txt", "conll05")
    write_conll05(list(nlp.pipe(["Come now", "Come later"])), tmp_path / "wanted.txt")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == (
        tmp_path / "wanted.txt"
    ).read_text(encoding="utf-8")
    ((line, reason, text),) = bad_in(tmp_path / "out.txt")
    assert (line, text) == ("2", "Come twice")
    assert "Two predicates" in reason
    assert summary.docs == 2


def test_other_keys_of_json_lines_are_written_back(model, tmp_path):
    source = lines(tmp_path / "in.jsonl", '{"id": 1, "text": "Oslo 7", "entities": "old"}')
    start(model, source, tmp_path / "out.jsonl", "entities")
    assert records_in(tmp_path / "out.jsonl") == [
        {"id": 1, "text": "Oslo 7", "entities": [[5, 6, "NUMBER"]]}
    ]


def test_broken_records_are_put_aside_and_the_others_go_on(model, tmp_path):
    given = ['{"text": "One."}', '{"text": "broken"}', '{"text": ', '{"text": "\\ud800"}']
    source = lines(tmp_path / "in.jsonl", *given, '{"text": "Two."}')
    summary = start(model, source, tmp_path / "out.jsonl", "entities")
    assert [each["text"] for each in records_in(tmp_path / "out.jsonl")] == ["One.", "Two."]
    lost = bad_in(tmp_path / "out.jsonl")
    assert [(line, text) for line, _, text in lost] == [(str(n), given[n - 1]) for n in (2, 3, 4)]
    assert lost[0][1] == "RuntimeError: this component is out of order"
    assert len(summary.bad) == 3
    assert summary.bad[0].startswith(f"{source}:2: RuntimeError")


def test_nothing_is_done_with_a_pipeline_that_fails_on_everything(tmp_path):
    nlp = spacy.blank("xx")
    nlp.add_pipe("annotate_test_fails")
    model = saved(nlp, tmp_path / "model")
    source = lines(tmp_path / "in.txt", *TEXTS)
    with pytest.raises(ValueError, match=r"fails on every text.*out of order"):
        start(model, source, tmp_path / "out.jsonl", "entities")
    assert not list((tmp_path / "out.jsonl.parts" / "shards").iterdir())


@pytest.mark.parametrize(("name", "form"), [("out.jsonl", "entities"), ("out.spacy", "spacy")])
@pytest.mark.parametrize("stops", [0, 1, 3, 4])
def test_a_stopped_run_goes_on_to_the_same_bytes(model, tmp_path, name, form, stops):
    source = lines(tmp_path / "in.txt", *TEXTS[:5], "broken", *TEXTS[5:])
    whole = start(model, source, tmp_path / f"whole-{name}", form).target
    with pytest.raises(KeyboardInterrupt):
        start(model, source, tmp_path / name, form, stopping_after(stops))
    seen: list[int] = []
    summary = start(model, source, tmp_path / name, form, recording(seen))
    assert seen == list(range(stops, 4))
    assert summary.earlier == min(3 * stops, 11)
    assert bytes_in(summary.target) == bytes_in(whole)
    assert bad_in(tmp_path / name) == bad_in(tmp_path / f"whole-{name}")


def bytes_in(path: Path) -> list[bytes]:
    return [each.read_bytes() for each in (sorted(path.iterdir()) if path.is_dir() else [path])]


def test_torn_files_of_a_killed_run_are_no_shards(model, tmp_path):
    source = lines(tmp_path / "in.txt", *TEXTS)
    with pytest.raises(KeyboardInterrupt):
        start(model, source, tmp_path / "out.spacy", "spacy", stopping_after(1))
    (tmp_path / "out.spacy.parts" / "shards" / ".00001.spacy.77.tmp").write_bytes(b"half")
    summary = start(model, source, tmp_path / "out.spacy", "spacy")
    assert sorted(each.name for each in summary.target.iterdir()) == [
        f"0000{number}.spacy" for number in range(4)
    ]


def test_a_finished_run_is_not_run_again(model, tmp_path):
    source = lines(tmp_path / "in.txt", *TEXTS)
    start(model, source, tmp_path / "out.spacy", "spacy")
    seen: list[int] = []
    summary = start(model, source, tmp_path / "out.spacy", "spacy", recording(seen))
    assert (seen, summary.shards, summary.target) == ([], 0, tmp_path / "out")


def test_an_output_of_other_inputs_is_left_as_it_is(model, tmp_path):
    source = lines(tmp_path / "in.txt", *TEXTS)
    target = tmp_path / "out.jsonl"
    start(model, source, target, "entities")
    before = target.read_bytes()
    lines(source, "Other.")
    with pytest.raises(ValueError, match=r"out.jsonl was begun with another inputs; .* remove"):
        start(model, source, target, "entities")
    with pytest.raises(ValueError, match="another inputs, another shard_size"):
        start(model, source, target, "entities", shard_size=4)
    assert target.read_bytes() == before


def test_a_file_of_somebody_else_is_left_as_it_is(model, tmp_path):
    source = lines(tmp_path / "in.txt", *TEXTS)
    target = lines(tmp_path / "out.jsonl", "mine")
    with pytest.raises(ValueError, match="no run of this command has made it"):
        start(model, source, target, "entities")
    assert target.read_text(encoding="utf-8") == "mine\n"
    assert names_beside(target) == {"in.txt", "out.jsonl"}


def test_nothing_to_annotate_leaves_nothing_behind(model, tmp_path):
    source = lines(tmp_path / "in.txt")
    with pytest.raises(ValueError, match="nothing to annotate"):
        start(model, source, tmp_path / "out.jsonl", "entities")
    assert names_beside(source) == {"in.txt"}


def test_shards_without_docs_are_no_problem(model, tmp_path):
    source = lines(tmp_path / "in.txt", "broken", "broken", "One.", "broken")
    for name, form in (("out.spacy", "spacy"), ("out.json", "spert")):
        start(model, source, tmp_path / name, form, shard_size=1)
    assert [doc.text for doc in read_docbin(tmp_path / "out", Vocab())] == ["One."]
    assert len(json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))) == 1


def test_files_in_folders_in_the_order_of_names(tmp_path):
    for name in ("b.txt", "a.jsonl", "notes.md"):
        lines(tmp_path / name)
    out = tmp_path / "elsewhere" / "out.spacy"
    assert [each.name for each in find_files([tmp_path], out)] == ["a.jsonl", "b.txt"]
    with pytest.raises(ValueError, match="among its own inputs"):
        find_files([tmp_path], tmp_path / "out.spacy")
    with pytest.raises(ValueError, match=r"must end in .txt"):
        find_files([tmp_path / "notes.md"], out)
    with pytest.raises(ValueError, match="does not exist"):
        find_files([tmp_path / "c.txt"], out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no file in .* ends in"):
        find_files([tmp_path / "empty"], out)


def test_a_wrong_folder_is_told_and_the_right_one_guessed(model, tmp_path):
    with pytest.raises(ValueError, match="no folder, and no installed package"):
        model_folder(str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"it has no config.cfg$"):
        model_folder(str(tmp_path))
    (tmp_path / "model-best").mkdir()
    (tmp_path / "model-best" / "config.cfg").touch()
    with pytest.raises(ValueError, match=r"did you mean .*model-best\?"):
        model_folder(str(tmp_path))


def test_memory_is_given_back_after_each_shard(model):
    worker = Worker(Job(str(model), "conllu", None, None, -1))
    texts = (PlainText(f"in:{n}", f"word{n} other{n}") for n in range(3000))
    sizes = []
    for shard in cut(texts, 1000):
        worker(shard)
        sizes.append((len(worker.nlp.vocab.strings), sum(1 for _ in worker.nlp.vocab)))
    assert len(set(sizes[1:])) == 1


@pytest.mark.parametrize("factory", FACTORIES, ids=lambda each: f"{each.name}-{each.kind}")
def test_every_component_finds_in_shards_what_it_finds_at_once(factory: Factory, tmp_path: Path):
    nlp = factory.make()
    model = saved(nlp, tmp_path / "model")
    texts = [doc.text for doc in gold_docs(nlp.vocab)] * 2 + ["Unheard words.", ""]
    start(model, lines(tmp_path / "in.txt", *texts), tmp_path / "out.spacy", "spacy", shard_size=2)
    found = list(read_docbin(tmp_path / "out", Vocab()))
    assert [factory.read(doc) for doc in found] == [factory.read(doc) for doc in nlp.pipe(texts)]
