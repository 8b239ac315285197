"""Write the table of docs/forms.md from the records of the forms.

python scripts/form_table.py
"""

from pathlib import Path

from spacy_biaffine.formats.forms import FORMS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "forms.md"

HEADER = ["form", "what it is", "layers", "recognized", "written", "options of `convert`"]


def table() -> list[str]:
    """The lines of the table."""
    rows = [HEADER, ["---"] * len(HEADER)]
    for form in FORMS:
        options = dict.fromkeys((*form.options, *form.write_options))
        rows.append(
            [
                f"`{form.name}`",
                form.title,
                ", ".join(form.holds),
                "yes" if form.fits else "",
                "yes" if form.write else "folder" if form.files else "",
                ", ".join(f"`{option.written[0]}`" for option in options),
            ]
        )
    return [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]


def with_table(page: str) -> str:
    """The page with the table as the records have it."""
    before, _, rest = page.partition(f"| {HEADER[0]} |")
    after = rest[rest.index("\n\n") :]
    return before + "\n".join(table()) + after


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
