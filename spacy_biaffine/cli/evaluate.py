"""``python -m spacy biaffine evaluate``."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example

    from ..scoring.evaluation import Evaluation

MAX_LISTED = 20

PRF = ("p", "r", "f")


def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or name of a pipeline")],
    gold: Annotated[
        list[Path], typer.Argument(metavar="GOLD...", help=".spacy files, folders of them, CoNLL-U")
    ],
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all scores there")
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Start from plain text, not from the gold tokens")
    ] = False,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", metavar="LAYER", help="Gold layer that the pipeline may see"),
    ] = None,
    per_label: Annotated[bool, typer.Option("--per-label", help="Also label by label")] = False,
    n_sents: Annotated[
        int | None,
        typer.Option(
            "--n-sents", "-n", min=1, help="CoNLL-U: sentences to a Doc; 1, with --text documents"
        ),
    ] = None,
    merge_mwt: Annotated[
        bool, typer.Option("--merge-mwt", help="CoNLL-U: one token for each multiword token")
    ] = False,
) -> None:
    """Score a pipeline on every layer of annotation that it writes and that GOLD has.

    The pipeline gets the gold tokens; with --given, which may be repeated, also gold sents, tag,
    pos, morph, lemma, ents, heads or predicates. With --text it gets the text, and finds tokens and
    sentences itself.

    Example: python -m spacy biaffine evaluate training/model-best dev.spacy test.spacy --given
    sents --json scores.json

    Example: python -m spacy biaffine evaluate training/model-best en_ewt-ud-test.conllu --text
    """
    import spacy
    import srsly
    from wasabi import msg

    from ..doc.given import check_given
    from ..formats.common.atomic import whole_text
    from ._docs import read_docs

    given = given or []
    results = []
    try:
        check_given(given)
        if text and given:
            raise ValueError("--given needs the gold tokens: leave out --text")
        if json is not None:
            json.parent.mkdir(parents=True, exist_ok=True)
        nlp = spacy.load(model)
        _remind(nlp, given, text)
        for path in gold:
            by_doc = text and n_sents is None
            docs = read_docs(
                path, nlp.vocab, n_sents=n_sents or 1, by_doc=by_doc, merge_mwt=merge_mwt
            )
            examples = [eg for eg in _examples(nlp, docs, path, given, text) if len(eg.reference)]
            if not examples:
                raise ValueError(f"{path} has no words")
            results.append(_evaluate(nlp, examples, path, given, text, per_label))
        if json is not None:
            content = {"model": model, "text": text, "given": given, "gold": results}
            with whole_text(json) as file:
                file.write(srsly.json_dumps(content, indent=2))
            msg.good(f"All scores: {json}")
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    if not any(result["scores"] for result in results):
        msg.fail("Nothing could be scored.", exits=1)


def _examples(
    nlp: "Language", docs: "Iterator[Doc]", path: Path, given: list[str], text: bool
) -> "Iterator[Example]":
    from spacy.training import Example

    from ..doc.given import give
    from ..formats.conllu.api import source_text

    for number, doc in enumerate(docs, 1):
        if not text:
            yield Example(give(doc, given), doc)
            continue
        written = source_text(doc)
        if _letters(written) != _letters("".join(token.text for token in doc)):
            raise ValueError(
                f"{path}: Doc {number} has multiword tokens, its words do not spell its text, "
                f"'{written[:50]}...'. Give CoNLL-U with --merge-mwt, or what was converted so."
            )
        yield Example(nlp.make_doc(written), doc)


def _letters(text: str) -> str:
    return "".join(text.split()).lower()


def _evaluate(
    nlp: "Language",
    examples: "list[Example]",
    path: Path,
    given: list[str],
    text: bool,
    per_label: bool,
) -> dict[str, Any]:
    """Annotate, score, print; returns what goes into the JSON file."""
    from time import perf_counter

    from tqdm import tqdm
    from wasabi import msg

    from ..pipeline.tagger import LabelAttentionTagger
    from ..scoring.evaluation import evaluate as score

    start = perf_counter()
    docs = nlp.pipe([example.predicted for example in examples])
    progress = tqdm(docs, total=len(examples), unit=" docs", leave=False)
    for example, doc in zip(examples, progress, strict=True):
        example.predicted = doc
    seconds = perf_counter() - start
    pipes = [pipe for _, pipe in nlp.pipeline]
    targets = [pipe.target.name for pipe in pipes if isinstance(pipe, LabelAttentionTagger)]
    graphs = [graph for pipe in pipes if (graph := getattr(pipe, "graph", None))]
    found = score(
        examples,
        tokenized=text,
        given=given,
        extensions=[name.removeprefix("_.") for name in targets if name.startswith("_.")],
        arcs_of=[graph.spans_key for graph in graphs if getattr(graph, "keep_arcs", False)],
    )
    words = sum(len(example.predicted) for example in examples)
    unknown = _unknown_labels(nlp, examples)
    msg.divider(
        f"{path}: {len(examples):,} docs, {words:,} tokens, {words / seconds:,.0f} a second"
    )
    _show(found, len(examples), per_label)
    for name, labels in unknown.items():
        listed = ", ".join(labels[:MAX_LISTED])
        more = f" and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else ""
        msg.warn(f"{name} has not learned these gold labels, which it misses: {listed}{more}")
    return {
        "path": str(path),
        "docs": len(examples),
        "tokens": words,
        "tokens_per_second": words / seconds,
        "scores": found.scores,
        "annotated": found.annotated,
        "unwritten": found.unwritten,
        "without_gold": found.without_gold,
        "unknown_labels": unknown,
    }


def _unknown_labels(nlp: "Language", examples: "list[Example]") -> dict[str, list[str]]:
    """Gold labels that a component of this package does not know, by its name. The scores of trees
    tell no ROOT from root."""
    from ..pipeline.base import StructuredPipe
    from ..pipeline.parser import NormBiaffineParser

    unknown = {}
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, StructuredPipe):
            gold = set().union(*(pipe.gold_labels(example)["labels"] for example in examples))
            fold = str.lower if isinstance(pipe, NormBiaffineParser) else str
            known = set(map(fold, pipe.labels))
            unknown[name] = sorted(label for label in gold if fold(label) not in known)
    return {name: labels for name, labels in unknown.items() if labels}


def _remind(nlp: "Language", given: list[str], text: bool) -> None:
    """Say so where training was scored with layers that are not given now."""
    from wasabi import msg

    corpus = nlp.config.interpolate().get("corpora", {}).get("dev", {})
    missing = [layer for layer in corpus.get("given", []) if layer not in given]
    if missing and not text:
        options = " ".join(f"--given {layer}" for layer in missing)
        msg.info(f"In training the scores were those with more given layers: {options}")


def _show(found: "Evaluation", n_docs: int, per_label: bool) -> None:
    from wasabi import msg

    rows = []
    for layer, scores in found.scores.items():
        lines = _rows(scores)
        rows += [(layer if number == 0 else "", *line) for number, line in enumerate(lines)]
    if rows:
        header = ("layer", "score", "P", "R", "F or accuracy")
        msg.table(rows, header=header, aligns=("l", "l", "r", "r", "r"), divider=True)
    for layer, scores in found.scores.items() if per_label else ():
        for per_type in scores.values():
            if isinstance(per_type, dict):
                labels = [
                    (label, *map(_percent, map(prf.get, PRF))) for label, prf in per_type.items()
                ]
                msg.table(
                    labels, header=(layer, "P", "R", "F"), aligns=("l", "r", "r", "r"), divider=True
                )
    for layer, n in found.annotated.items():
        if n < n_docs:
            msg.info(f"{layer}: {n:,} of {n_docs:,} gold docs have any; the others do not count")
    if found.unwritten:
        msg.warn(f"The gold docs also have {', '.join(found.unwritten)}: the pipeline writes none")
    if found.without_gold:
        msg.warn(
            f"The pipeline also writes {', '.join(found.without_gold)}: the gold docs have none to "
            f"score against"
        )


def _rows(scores: dict[str, Any]) -> list[tuple[str, ...]]:
    """Name, P, R, F of the scores that are numbers; accuracies stand under F."""
    rows: list[tuple[str, ...]] = []
    for name, value in scores.items():
        triple = [scores.get(name[:-1] + letter, "") for letter in PRF]
        is_triple = name[-1] in PRF and "" not in triple
        if isinstance(value, dict) or (is_triple and name[-1] != "f"):
            continue
        if is_triple:
            rows.append((name[:-1].rstrip("_"), *map(_percent, triple)))
        else:
            rows.append((name, "", "", _percent(value)))
    return rows


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"
