"""What several benchmarks measure with."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spacy.util import load_config


def without_cache(model: str | Path) -> dict[str, Any]:
    """Overrides that let the frozen encoders of a pipeline read every text anew."""
    components = load_config(Path(model, "config.cfg"))["components"]
    return dict.fromkeys(_caches(components, "components"))


def _caches(block: Mapping[str, Any], path: str) -> Iterator[str]:
    for key, value in block.items():
        if key == "cache":
            yield f"{path}.{key}"
        elif isinstance(value, Mapping):
            yield from _caches(value, f"{path}.{key}")


def peak_mib(model: str, overrides: Mapping[str, Any], doc: str) -> float:
    """Peak resident memory of a process that loads the model and annotates one long Doc.

    doc: Python code of the Doc, which may call `nlp`, `Doc`, and `text(n)` for n words.
    From /proc, so on Linux alone: the peak of getrusage is inherited from the parent process.
    """
    code = (
        "import re, spacy; from spacy.tokens import Doc; "
        f"nlp = spacy.load({model!r}, config={dict(overrides)!r}); "
        "text = lambda n: ('the cat that we saw sat on a mat and slept ' * n).split()[:n]; "
        f"nlp({doc}); "
        "print(re.search('VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    return int(run.stdout.split()[-1]) / 1024
