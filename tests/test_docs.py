"""The documentation: its code runs, its configs can be made, its commands exist, its links lead
somewhere, and its tables of settings say what the code says. Pages need not be listed."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
import srsly
from documents import configs, pages, settings, stand_in
from documents.commands import BadCommandError, check_path, check_script, check_span
from documents.pages import OTHERS, PAGES, ROOT, Block, Table

from spacy_biaffine.experiments.grid import KEYS, read_grid

LANGUAGES = {"python", "bash", "ini", "json", "yaml", "text"}

ALL = [(page, block) for page in PAGES for block in pages.blocks_of(page)]

TABLES = {table.name: table for page in PAGES for table in pages.tables_of(page)}


def blocks(language: str) -> pytest.MarkDecorator:
    """A test for each block of a language."""
    found = [block for _, block in ALL if block.language == language]
    return pytest.mark.parametrize("block", found, ids=lambda block: block.place)


def in_language(language: str) -> pytest.MarkDecorator:
    """A test for each page with blocks of a language."""
    found: dict[Path, list[Block]] = {}
    for page, block in ALL:
        if block.language == language:
            found.setdefault(page, []).append(block)
    names = [pages.name_of(page) for page in found]
    return pytest.mark.parametrize(("page", "code"), found.items(), ids=names)


def each_page(*more: Path) -> pytest.MarkDecorator:
    """A test for each page."""
    return pytest.mark.parametrize("page", [*PAGES, *more], ids=pages.name_of)


def run_python(page: Path, code: list[Block]) -> None:
    """Run the blocks of a page one after the other, and compare what they print."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in code:
        printed = io.StringIO()
        source = "\n" * block.line + block.text
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec"), names)
        if block.output is not None:
            assert printed.getvalue() == block.output, block.place


@in_language("python")
def test_code(
    page: Path, code: list[Block], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("spacy.load", stand_in.load)
    run_python(page, code)


@blocks("ini")
def test_config(block: Block) -> None:
    configs.check_config(block.text)


@blocks("bash")
def test_commands(block: Block) -> None:
    check_script(block.text)


@blocks("json")
def test_json(block: Block) -> None:
    try:
        srsly.json_loads(block.text)
    except ValueError:
        assert [srsly.json_loads(line) for line in block.text.splitlines()]


@in_language("yaml")
def test_yaml(page: Path, code: list[Block], tmp_path: Path) -> None:
    """What has axes is a grid; the other blocks of its page are parts of grids."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    grid = tmp_path / "experiments" / "grid.yml"
    grid.parent.mkdir()
    contents = [srsly.yaml_loads(block.text) for block in code]
    whole = [n for n, content in enumerate(contents) if "axes" in content]
    for number in whole:
        grid.write_text(code[number].text, encoding="utf-8")
        assert read_grid(grid, {"data": "corpus"}).cells
    for content in contents:
        assert not whole or set(content) <= set(KEYS), page


@each_page()
def test_all_code_is_looked_at(page: Path) -> None:
    """Every block says what it is; one that says nothing is what the Python above it prints."""
    unknown = [b.place for b in pages.blocks_of(page) if b.language not in LANGUAGES]
    assert not unknown, unknown


@each_page()
def test_code_within_lines(page: Path) -> None:
    for place, text in pages.code_spans(page):
        try:
            check_path(text)
            check_span(text)
        except (BadCommandError, ValueError) as error:
            pytest.fail(f"{place}: `{text}`: {error}")
        if re.fullmatch(r"spacy-biaffine\.\w+\.v\d+", text):
            assert text in settings.registered(), f"{place}: {text} is not registered"


@each_page(*OTHERS)
def test_links(page: Path) -> None:
    for place, target in pages.links_of(page):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{place}: there is no {path}"
        if anchor:
            assert anchor in pages.anchors_of(file), f"{place}: {path} has no heading #{anchor}"


@pytest.mark.parametrize("name", settings.defaults())
def test_every_setting_has_its_default(name: str) -> None:
    """There is a table for everything that can be set, with the names and defaults of the code."""
    assert name in TABLES, f"no page has a table for {name}"
    check_table(TABLES[name], settings.defaults()[name])


def check_table(table: Table, defaults: dict[str, Any]) -> None:
    """Compare a table with the code."""
    documented: dict[str, Any] = {}
    for names, default in table.rows:
        each = default.split(", ") if len(names) > 1 else [default]
        if len(each) == 1:
            each *= len(names)
        assert not documented.keys() & set(names), f"{table.place}: {names} twice"
        documented |= zip(names, map(settings.read, each), strict=True)
    assert set(documented) == set(defaults), table.place
    for name, default in defaults.items():
        assert settings.same(documented[name], default), f"{table.place}: {name} is {default!r}"


def test_the_reference_has_all_that_is_registered() -> None:
    """And all modules of torch."""
    text = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs/reference").glob("*.md"))
    public = settings.objects() - {"spacy_biaffine.pictures.colors.colors"}
    modules = (ROOT / "spacy_biaffine/nn").glob("[a-z]*.py")
    public |= {f"spacy_biaffine.nn.{module.stem}\n" for module in modules}
    missing = [place for place in public if place not in text]
    assert not missing, missing


BAD_COMMANDS = {
    "an option": "python -m spacy biaffine convert IN OUT --n-sent 3",
    "a command": "python -m spacy biaffine convrt IN OUT",
    "an argument": "python -m spacy biaffine convert IN",
    "one too many": "python -m spacy biaffine render IN OUT MORE",
    "a choice": "python -m spacy biaffine convert-entities IN OUT --form jsonl",
    "a config": "python -m spacy train configs/parsr.cfg --output training",
    "a section": "python -m spacy train configs/parser.cfg --trainng.max_steps 3",
    "a setting": "python -m spacy train configs/parser.cfg --training.max_step 3",
    "a step": "spacy project run al",
    "a variable": "spacy project run all . --vars.treebnk DIR",
    "a value": "spacy project run all . --vars.config configs/parsr.cfg",
    "an index": 'pip install "spacy-biaffine[plots]"',
    "an extra": 'pip install -e ".[plot]"',
    "a script": "python scripts/parse_corpora.py PIPELINE DIR PARSED",
    "its option": "python benchmarks/throughput.py MODEL test.spacy --nothing",
    "a program": "spcy train",
    "nothing": "# python -m spacy train",
    "after others": "cd DIR && python -m spacy evaluat MODEL GOLD",
}


@pytest.mark.parametrize("command", BAD_COMMANDS.values(), ids=BAD_COMMANDS)
def test_a_wrong_command_is_found(command: str) -> None:
    with pytest.raises(BadCommandError):
        check_script(command)


BAD_CONFIGS = {
    "a factory": '[components.parser]\nfactory = "norm_biafine_parser"',
    "a setting": '[components.parser]\nfactory = "norm_biaffine_parser"\nstore_score = true',
    "a value": '[components.parser]\nfactory = "norm_biaffine_parser"\nstore_scores = "no"',
    "a reader": '[corpora.train]\n@readers = "spacy-biaffine.GivenCorpus.v2"\npath = "a"',
    "a layer": '[corpora.train]\n@readers = "spacy-biaffine.GivenCorpus.v1"\npath = "a"\n'
    'given = ["sentences"]',
    "a variable": "[training]\nmax_steps = ${training.steps}",
    "a section": "[trainng]\nmax_steps = 3",
    "a key": "[training]\nmax_step = 3",
    "a name": '[nlp]\npipeline = ["parser"]\n[components.parsr]\nfactory = "norm_biaffine_parser"',
}


@pytest.mark.parametrize("config", BAD_CONFIGS.values(), ids=BAD_CONFIGS)
def test_a_wrong_config_is_found(config: str) -> None:
    with pytest.raises((ValueError, AssertionError)):
        configs.check_config(config)


def test_wrong_code_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```\n3\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        run_python(page, pages.blocks_of(page))
    page.write_text("Text.\n\n```python\n\nprint(one)\n```\n", encoding="utf-8")
    with pytest.raises(NameError) as found:
        run_python(page, pages.blocks_of(page))
    assert found.traceback[-1].lineno == 4  # counted from 0


def test_a_wrong_table_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("| `a.v1` | default | |\n|---|---|---|\n| `b`, `c` | 1, true | |\n", "utf-8")
    (table,) = pages.tables_of(page)
    check_table(table, {"b": 1, "c": True})
    for wrong in ({"b": 1, "c": 1}, {"b": 1}, {"b": 1, "c": True, "d": None}):
        with pytest.raises(AssertionError):
            check_table(table, wrong)


def test_code_without_a_language_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n```\nspacy train\n```\n", encoding="utf-8")
    assert [block.language for block in pages.blocks_of(page)] == [""]


def test_wrong_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A title\n\n[a](gone.md) [b](#a-title) [c](#title)\n", encoding="utf-8")
    assert [target for _, target in pages.links_of(page)] == ["gone.md", "#a-title", "#title"]
    assert pages.anchors_of(page) == {"a-title"}
    with pytest.raises(AssertionError, match="gone"):
        test_links(page)
    page.write_text("# A title\n\n[c](#title)\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="heading"):
        test_links(page)
