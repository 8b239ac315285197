"""Pictures of what components learn. Needs matplotlib: pip install -e ".[plots]" in a clone."""

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..types import Floats

MAX_LABELS = 40
"""Most labels in a heat map: those that get the most attention anywhere."""

PICTURES_IN_A_ROW = 4

MAX_POINTS = 120
"""Most labels in a map of embeddings: those with the longest vectors."""

LINE = 0.12
"""Inches from one line of names to the next."""


def draw_attention(
    layers: Sequence[Floats], words: Sequence[str], labels: Sequence[str], path: Path
) -> None:
    """A heat map for each layer: how much attention each word pays to each label (LAN, Figure 6).

    layers: (n, L) each. path: .svg, .png or .pdf.
    """
    strongest = np.max([weights.max(axis=0) for weights in layers], axis=0)
    shown = np.sort(np.argsort(-strongest, kind="stable")[:MAX_LABELS])
    names = [labels[n] for n in shown]
    width = 1.2 + 0.24 * len(shown) + _inches(words, 8)
    height = 0.5 + 0.26 * len(words) + _inches(names, 7)
    figure = Figure(figsize=(max(5.0, width), height * len(layers)), layout="constrained")
    for number, (axes, weights) in enumerate(
        zip(figure.subplots(len(layers), squeeze=False)[:, 0], layers, strict=True), start=1
    ):
        picture = axes.imshow(weights[:, shown], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_title(f"layer {number} of {len(layers)}", fontsize=9, loc="left")
        axes.set_yticks(range(len(words)), words, fontsize=8, parse_math=False)
        axes.set_xticks(range(len(shown)), names, rotation=90, fontsize=7, parse_math=False)
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
    """Label embeddings (L, d) on their first two principal components (LAN, Figure 4).

    The axes are in inches of paper, so that names can be kept apart: a name that would lie upon
    another one stands above or below its point, with a line to it.
    """
    shown = np.argsort(-np.linalg.norm(vectors, axis=1), kind="stable")[:MAX_POINTS]
    names = [labels[number] for number in shown]
    widths = np.array([_inches([name], 7) for name in names])
    points = principal_components(vectors[shown])
    size = np.array([7.0, max(5.0, 4 * LINE * widths.sum() / (7 + widths.max()))])
    points = (points - points.min(axis=0)) / np.maximum(np.ptp(points, axis=0), 1e-9) * size
    texts = apart(points + 0.04, widths)
    low, high = texts.min(axis=0) - 0.2, np.max([texts[:, 0] + widths, texts[:, 1]], axis=1) + 0.2
    figure = Figure(figsize=tuple(high - low + 0.5), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    axes.scatter(points[:, 0], points[:, 1], s=9, color="tab:blue")
    line = {"arrowstyle": "-", "color": "silver", "linewidth": 0.5, "relpos": (0, 0.5)}
    for name, point, text in zip(names, points, texts, strict=True):
        axes.annotate(name, point, text, fontsize=7, parse_math=False, arrowprops=line)
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second principal component")
    figure.savefig(path, dpi=150)


def apart(corners: NDArray[np.floating], widths: NDArray[np.floating]) -> NDArray[np.floating]:
    """Lower left corners (n, 2) of lines of text, moved up or down until none lies upon another."""
    placed = np.array(corners, dtype=np.float64)
    done: list[int] = []
    for number in np.argsort(-placed[:, 1], kind="stable"):
        x, y = placed[number]
        beside = [
            n for n in done if x < placed[n, 0] + widths[n] and placed[n, 0] < x + widths[number]
        ]
        steps = (sign * step * LINE / 2 for step in count() for sign in (1, -1))
        placed[number, 1] = next(
            y + step for step in steps if (np.abs(placed[beside, 1] - y - step) >= LINE).all()
        )
        done.append(number)
    return placed


def _inches(texts: Iterable[str], points: float) -> float:
    """How long the longest of some texts is, about, in letters of this size."""
    return max(map(len, texts)) * points * 0.66 / 72


def principal_components(vectors: Floats) -> Floats:
    """(rows, d) -> (rows, 2), the two directions of most variance; 0 for want of one."""
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    places = centred @ directions[:2].T
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1]))).astype(np.float32)
