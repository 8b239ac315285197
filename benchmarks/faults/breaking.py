"""What goes wrong: processes that end, disks that are full, files that are damaged."""

import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .work import Whole, Work

Outcome = dict[str, Any]
"""moment: when or where it happened; lost: what was lost, "" for nothing."""


@dataclass(frozen=True)
class Fault:
    """tried: (work, folder, chance, whole) -> Outcome."""

    name: str
    tried: Callable[[Work, Path, random.Random, Whole], Outcome]


def faults(work: Work) -> Iterator[Fault]:
    """Those that are tried on a work."""
    yield Fault("killed", _killed)
    yield Fault("Ctrl-C", _interrupted)
    if work.can_fill_disk:
        yield Fault("disk full", _disk_full)
    if work.keeps:
        yield Fault("damaged", _damaged)
        yield Fault("two at once", _two_at_once)


def _killed(work: Work, folder: Path, chance: random.Random, whole: Whole) -> Outcome:
    return _ended(work, folder, chance, whole, signal.SIGKILL)


def _interrupted(work: Work, folder: Path, chance: random.Random, whole: Whole) -> Outcome:
    return _ended(work, folder, chance, whole, signal.SIGINT)


def _ended(
    work: Work, folder: Path, chance: random.Random, whole: Whole, number: signal.Signals
) -> Outcome:
    """End the process by a signal, and go on. A signal that comes too late is sent earlier."""
    share = chance.random()
    for earlier in (1.0, 0.7, 0.4):
        shutil.rmtree(folder, ignore_errors=True)
        work.prepare(folder)
        process = work.start(folder)
        moment = share * earlier * whole.seconds
        time.sleep(moment)
        if process.end(number):
            break
    lost = work.partly(folder, whole) or _to_the_end(work, folder, whole)
    return {"moment": f"{moment:.2f} s", "lost": lost}


def _disk_full(work: Work, folder: Path, chance: random.Random, whole: Whole) -> Outcome:
    """The work fails, or gives all it should; then there is room."""
    work.prepare(folder)
    size = chance.randrange(1, whole.largest)
    process = work.start(folder, largest_file=size)
    code = process.wait()
    lost = work.partly(folder, whole) if code else work.compared(folder, whole)
    if "Traceback" in process.said:
        lost = lost or f"a traceback: {process.said[-300:]}"
    lost = lost or _to_the_end(work, folder, whole)
    return {"moment": f"{size} bytes", "lost": lost}


def _damaged(work: Work, folder: Path, chance: random.Random, whole: Whole) -> Outcome:
    """Damage a file that is kept from one work to the next one."""
    work.prepare(folder)
    lost = _to_the_end(work, folder, whole)
    kept = [path for path in sorted((folder / work.keeps).rglob("*")) if path.is_file()]
    path = chance.choice(kept)
    how = damage(path, chance)
    work.forget(folder)
    return {"moment": f"{how} {path.name}", "lost": lost or _to_the_end(work, folder, whole)}


def damage(path: Path, chance: random.Random) -> str:
    """Cut, change or replace bytes of a file; says which."""
    content = bytearray(path.read_bytes())
    how = chance.choice(["cut", "changed", "replaced", "emptied"])
    if how == "cut":
        del content[chance.randrange(len(content) + 1) :]
    elif how == "changed" and content:
        for _ in range(8):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    else:
        content = bytearray(b"something else" * (how == "replaced"))
    path.write_bytes(bytes(content))
    return how


def _two_at_once(work: Work, folder: Path, chance: random.Random, whole: Whole) -> Outcome:
    """The same work in two folders that share what is kept."""
    other = folder.with_name(folder.name + "-other")
    work.prepare(folder)
    work.prepare(other)
    (other / work.keeps).symlink_to(folder / work.keeps, target_is_directory=True)
    (folder / work.keeps).mkdir()
    both = [work.start(folder)]
    pause = chance.random() * whole.seconds
    time.sleep(pause)
    both.append(work.start(other))
    codes = [process.wait() for process in both]
    lost = "" if codes == [0, 0] else f"status {codes}"
    for each in (folder, other):
        lost = lost or work.compared(each, whole)
    return {"moment": f"{pause:.2f} s apart", "lost": lost}


def _to_the_end(work: Work, folder: Path, whole: Whole) -> str:
    """Give the command again; what is lost at its end."""
    process = work.start(folder)
    if code := process.wait():
        return f"status {code} when given again: {process.said[-300:]}"
    return work.compared(folder, whole)
