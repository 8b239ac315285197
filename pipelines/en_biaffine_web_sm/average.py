"""Average the weights of two pipelines, one of which was trained on from the other.

python average.py FIRST SECOND OUT --leave-out trainable_lemmatizer

Runs that begin with the same weights end in the same valley, and the middle between their ends is
often better than both ("Model soups", Wortsman et al. 2022). A component that is left out is that
of SECOND; train it again where it listens to an encoder that is averaged. Thresholds are SECOND's.
"""

import argparse
from pathlib import Path

import numpy as np
import spacy
from half import weights_of
from spacy.language import Language


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="COMPONENT")
    args = parser.parse_args()
    first, second = spacy.load(args.first), spacy.load(args.second)
    try:
        names = average(first, second, args.leave_out)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    second.to_disk(args.out)
    print(f"{args.out}: the mean of {', '.join(names)}")


def average(first: Language, second: Language, left_out: list[str]) -> list[str]:
    """Give the weights of the second pipeline the mean of both; returns the components.

    Raises ValueError where they are not the same components with weights of the same sizes.
    """
    if unknown := set(left_out) - set(second.pipe_names):
        raise ValueError(f"no component is called {', '.join(sorted(unknown))}")
    names = [name for name in second.pipe_names if name not in left_out]
    if missing := [name for name in names if name not in first.pipe_names]:
        raise ValueError(f"the first pipeline has no {', '.join(missing)}")
    pairs = []
    for name in names:
        own, other = (_weights(nlp, name) for nlp in (second, first))
        if [w.shape for w in own] != [w.shape for w in other]:
            raise ValueError(f"{name} has other weights in the two pipelines: --leave-out {name}")
        pairs += zip(own, other, strict=True)
    for weight, other in pairs:
        weight[...] = (weight + other) / 2
    return names


def _weights(nlp: Language, name: str) -> list[np.ndarray]:
    pipe = nlp.get_pipe(name)
    return list(weights_of(pipe.model)) if hasattr(pipe, "model") else []


if __name__ == "__main__":
    main()
