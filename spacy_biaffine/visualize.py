"""Pictures of what components learn. Needs matplotlib: pip install "spacy-biaffine[plots]"."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .types import Floats

MAX_LABELS = 40
"""Most labels in a heat map: those that get the most attention anywhere."""

PICTURES_IN_A_ROW = 4

MAX_POINTS = 120
"""Most labels in a map of embeddings: those with the longest vectors."""


def draw_attention(
    layers: Sequence[Floats], words: Sequence[str], labels: Sequence[str], path: Path
) -> None:
    """A heat map for each layer: how much attention each word pays to each label (LAN, Figure 6).

    layers: (n, L) each. path: .svg, .png or .pdf.
    """
    strongest = np.max([weights.max(axis=0) for weights in layers], axis=0)
    shown = np.sort(np.argsort(-strongest, kind="stable")[:MAX_LABELS])
    width, height = 1.8 + 0.24 * len(shown), 0.9 + 0.26 * len(words)
    figure = Figure(figsize=(max(5.0, width), height * len(layers)), layout="constrained")
    for number, (axes, weights) in enumerate(
        zip(figure.subplots(len(layers), squeeze=False)[:, 0], layers, strict=True), start=1
    ):
        picture = axes.imshow(weights[:, shown], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_title(f"layer {number} of {len(layers)}", fontsize=9, loc="left")
        axes.set_yticks(range(len(words)), words, fontsize=8, parse_math=False)
        axes.set_xticks(
            range(len(shown)), [labels[n] for n in shown], rotation=90, fontsize=7, parse_math=False
        )
        figure.colorbar(picture, ax=axes, fraction=0.03, pad=0.01)
    figure.savefig(path, dpi=150)


def draw_tree_attention(
    relations: NDArray[np.int64], layers: Floats, nodes: Sequence[str], path: Path
) -> None:
    """A tree as a matrix, and the attention of every layer (SynG2G-Tr, Figure 3), four to a row.

    relations: (n, n) 1 from a node to its head, 2 from a head to its nodes, else 0. layers:
    (layers, n, n), rows attend to columns. path: .svg, .png or .pdf.
    """
    pictures = [
        ("relations", relations / 2),
        *((f"layer {number}", weights) for number, weights in enumerate(layers, start=1)),
    ]
    columns = min(len(pictures), PICTURES_IN_A_ROW)
    rows = -(-len(pictures) // columns)
    size = 1.4 + 0.2 * len(nodes)
    figure = Figure(figsize=(size * columns, size * rows), layout="constrained")
    for place, (title, matrix) in enumerate(pictures, start=1):
        axes = figure.add_subplot(rows, columns, place)
        axes.imshow(matrix, cmap="Blues", vmin=0, vmax=1)
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_yticks(range(len(nodes)), nodes, fontsize=7, parse_math=False)
        axes.set_xticks(range(len(nodes)), nodes, rotation=90, fontsize=7, parse_math=False)
    figure.savefig(path, dpi=150)


def draw_embeddings(vectors: Floats, labels: Sequence[str], path: Path) -> None:
    """Label embeddings (L, d) on their first two principal components (LAN, Figure 4)."""
    shown = np.argsort(-np.linalg.norm(vectors, axis=1), kind="stable")[:MAX_POINTS]
    x, y = principal_components(vectors[shown]).T
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    axes.scatter(x, y, s=9, color="tab:blue")
    for number, place in zip(shown, zip(x, y, strict=True), strict=True):
        axes.annotate(
            labels[number],
            place,
            xytext=(3, 2),
            textcoords="offset points",
            fontsize=7,
            parse_math=False,
        )
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second principal component")
    axes.margins(0.08)
    figure.savefig(path, dpi=150)


def principal_components(vectors: Floats) -> Floats:
    """(rows, d) -> (rows, 2), the two directions of most variance; 0 for want of one."""
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    places = centred @ directions[:2].T
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1]))).astype(np.float32)
