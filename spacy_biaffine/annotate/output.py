"""OUT, and what lies beside it so that a run can go on where an earlier one was.

OUT                  the result, there as a whole or not at all. Of .spacy and more than one
                     shard it is a folder of shards, as `write_docbin` makes it
OUT.job.json         what OUT is, or will be, made of
OUT.bad.jsonl        the records that are not in OUT; {"place": , "reason": , "text": }
OUT.parts/           while a run lasts: shards/N, and bad/N, which is there before it
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..formats.common.atomic import whole_bytes
from ..formats.forms import form_named
from .forms import SPACY, join_texts
from .records import Bad
from .shards import Finished

Description = dict[str, Any]


class Output:
    """Where the shards of one job go. form: one of `forms.FORMS`."""

    def __init__(self, target: Path, form: str) -> None:
        if form == SPACY and target.suffix != ".spacy":
            raise ValueError(f"{target} must end in .spacy")
        self.target = target
        self.form = form
        self.folder = target.with_suffix("")
        self.job = target.with_name(target.name + ".job.json")
        self.bad = target.with_name(target.name + ".bad.jsonl")
        self.parts = target.with_name(target.name + ".parts")
        self._shards = self.parts / "shards"
        self._bad = self.parts / "bad"

    def begin(self, job: Description) -> Path | None:
        """Make room for shards, and keep those of an earlier run; or give the result if there.

        Raises ValueError where there is something else, and leaves it as it is.
        """
        result = self._result()
        if self.job.exists():
            self._check_same(job)
        elif result is not None:
            raise ValueError(
                f"{result} exists, and {self.job} does not: no run of this command has made it. "
                f"Remove it, or choose another OUT."
            )
        if result is not None:
            shutil.rmtree(self.parts, ignore_errors=True)
            return result
        self._shards.mkdir(parents=True, exist_ok=True)
        self._bad.mkdir(exist_ok=True)
        for torn in self.parts.glob("*/.*.tmp"):
            torn.unlink()
        with whole_bytes(self.job) as file:
            file.write(json.dumps(job, indent=2).encode())
        return None

    def discard(self) -> None:
        """Leave nothing behind of a job that has no records."""
        shutil.rmtree(self.parts)
        self.job.unlink()

    def finished(self) -> set[int]:
        """Numbers of the shards that are there."""
        return {int(path.stem) for path in self._shards.iterdir() if path.stem.isdigit()}

    def put(self, shard: Finished) -> None:
        """Keep a shard. One that is there is whole."""
        if shard.bad:
            with whole_bytes(self._bad / f"{shard.number:05}.jsonl") as file:
                file.write("".join(map(_bad_line, shard.bad)).encode())
        with whole_bytes(self._shard(shard.number)) as file:
            file.write(shard.data)

    def join(self, n_shards: int) -> Path:
        """Make OUT of all shards; returns what it is."""
        with whole_bytes(self.bad) as file:
            for part in sorted(self._bad.glob("*.jsonl")):
                file.write(part.read_bytes())
        if not self.bad.stat().st_size:
            self.bad.unlink()
        shards = [self._shard(number) for number in range(n_shards)]
        if self.form != SPACY:
            with whole_bytes(self.target) as file:
                join_texts(form_named(self.form), shards, file)
            result = self.target
        elif n_shards == 1:
            result = shards[0].replace(self.target)
        else:
            result = self._shards.replace(self.folder)
        shutil.rmtree(self.parts)
        return result

    def bad_records(self) -> Iterator[Bad]:
        """What OUT.bad.jsonl holds."""
        if self.bad.exists():
            with self.bad.open(encoding="utf8") as file:
                yield from (Bad(**json.loads(line)) for line in file)

    def _result(self) -> Path | None:
        if self.target.exists():
            return self.target
        return self.folder if self.form == SPACY and self.folder.exists() else None

    def _shard(self, number: int) -> Path:
        return self._shards / f"{number:05}{'.spacy' if self.form == SPACY else '.part'}"

    def _check_same(self, job: Description) -> None:
        earlier = json.loads(self.job.read_text(encoding="utf8"))
        other = [key for key, value in job.items() if earlier.get(key) != value]
        if other:
            there = [each for each in (self._result(), self.bad, self.parts) if each]
            names = ", ".join(str(each) for each in (self.job, *there) if each.exists())
            raise ValueError(
                f"{self.target} was begun with another {', another '.join(other)}; see {self.job}. "
                f"To begin anew remove {names}; or choose another OUT."
            )


def _bad_line(bad: Bad) -> str:
    return json.dumps(bad._asdict()) + "\n"  # ASCII: bytes that are no UTF-8 stay as \udcNN
