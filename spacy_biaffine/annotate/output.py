"""OUT, and what lies beside it so that a run can go on where an earlier one was.

OUT                  the result, there as a whole or not at all. Of .spacy and more than one
                     shard it is a folder of shards, as `write_docbin` makes it
OUT.job.json         what OUT is, or will be, made of; and, before OUT is there, what it will be
OUT.bad.jsonl        the records that are not in OUT; {"place": , "reason": , "text": }
OUT.parts/           while a run lasts: see `parts`
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..formats.common.atomic import replace_on_disk, whole_bytes
from ..formats.forms import form_named
from .description import JOB, Description, differences, digest, job_id
from .forms import SPACY, join_texts
from .parts import Counts, Parts
from .records import Bad
from .shards import Finished


class Output:
    """Where the shards of one job go. form: one of `forms.FORMS`."""

    def __init__(self, target: Path, form: str) -> None:
        if form == SPACY and target.suffix != ".spacy":
            raise ValueError(f"{target} must end in .spacy")
        if target.is_dir():
            raise ValueError(f"{target} is a folder; OUT is the name of a file, such as {target}/x")
        self.target = target
        self.form = form
        self.folder = target.with_suffix("")
        self.job = target.with_name(target.name + ".job.json")
        self.bad = target.with_name(target.name + ".bad.jsonl")
        self.parts = Parts(
            target.with_name(target.name + ".parts"), ".spacy" if form == SPACY else ".part"
        )

    def begin(self, job: Description) -> Counts | None:
        """Make room for shards, and keep the whole ones of an earlier run of this job; or say what
        the result holds, if it is there.

        Raises ValueError where there is something else, and leaves it as it is.
        """
        earlier = self._earlier(job)
        result = self.result()
        if result is not None and earlier is None:
            raise ValueError(
                f"{result} exists, and {self.job} does not: no run of this command has made it. "
                f"Remove it, or choose another OUT."
            )
        if result is not None and earlier is not None:
            self._check_whole(result, earlier)
            self.parts.remove()
            return Counts(**earlier["result"]["counts"])
        self.parts.begin(job_id(job))
        self._write_job(job)
        return None

    def discard(self) -> None:
        """Leave nothing behind of a job that has no records."""
        self.parts.remove()
        self.job.unlink()

    def put(self, shard: Finished) -> None:
        """Keep a shard; it is on the disk when this returns."""
        self.parts.put(shard)

    def join(self, job: Description, n_shards: int) -> Counts:
        """Make OUT of all shards."""
        shards = self.parts.shards(n_shards)
        counts = self.parts.counts(n_shards)
        with whole_bytes(self.bad) as file:
            for part in self.parts.bad(n_shards):
                file.write(part.read_bytes())
        if not self.bad.stat().st_size:
            self.bad.unlink()
        if self.form != SPACY:
            with whole_bytes(self.parts.joined) as file:
                join_texts(form_named(self.form), shards, file)
            source, target = self.parts.joined, self.target
        elif n_shards == 1:
            source, target = shards[0], self.target
        else:
            source, target = shards[0].parent, self.folder
        self._write_job({**job, "result": {"counts": counts._asdict(), "digest": digest(source)}})
        replace_on_disk(source, target)
        self.parts.remove()
        return counts

    def bad_records(self) -> Iterator[Bad]:
        """What OUT.bad.jsonl holds."""
        if self.bad.exists():
            with self.bad.open(encoding="utf8") as file:
                yield from (Bad(**json.loads(line)) for line in file)

    def result(self) -> Path | None:
        """OUT, where it is there."""
        if self.target.exists():
            return self.target
        return self.folder if self.form == SPACY and self.folder.exists() else None

    def _write_job(self, job: dict[str, Any]) -> None:
        with whole_bytes(self.job) as file:
            file.write(json.dumps(job, indent=2).encode())

    def _earlier(self, job: Description) -> dict[str, Any] | None:
        """The job file, if there is one. Raises ValueError for that of another job."""
        if not self.job.exists():
            return None
        try:
            earlier = json.loads(self.job.read_text(encoding="utf8"))
        except ValueError as error:
            raise ValueError(f"{self.job} is torn ({error}). {self._anew()}") from None
        if not isinstance(earlier, dict) or earlier.get("job") != JOB:
            raise ValueError(
                f"{self.job} is of another version of this command, which kept the inputs in "
                f"another way, so it can't be known whether they are the same. {self._anew()}"
            )
        other = differences(earlier, job)
        if other:
            raise ValueError(
                f"{self.target} was begun with another {', another '.join(other)}; see {self.job}. "
                f"{self._anew()}"
            )
        return earlier

    def _check_whole(self, result: Path, earlier: dict[str, Any]) -> None:
        if earlier.get("result", {}).get("digest") != digest(result):
            raise ValueError(
                f"{result} is not what this command has written: it is torn, or was changed. "
                f"{self._anew()}"
            )

    def _anew(self) -> str:
        there = (self.job, self.result(), self.bad, self.parts.folder)
        names = ", ".join(str(each) for each in there if each is not None and each.exists())
        return f"To begin anew remove {names}; or choose another OUT."
