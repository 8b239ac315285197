"""What the figures of reports are drawn with."""

import pytest

pytest.importorskip("matplotlib")

from spacy_biaffine.experiments.plots import add_legend, figure


@pytest.mark.parametrize(
    ("label", "columns"), [("LAN", 3), ("a setting", 2), ("Efficient GlobalPointer", 1)]
)
def test_a_legend_is_as_wide_as_the_figure_at_most(tmp_path, label, columns):
    with figure(tmp_path / "one", 1, 1) as panels:
        page = panels[0][0].figure
        for number in range(3):
            panels[0][0].plot([0, 1], [number, 1], label=f"{label} {number}")
        add_legend(panels, panels[0][0].get_lines(), columns=3)
    (legend,) = page.legends
    assert legend.get_window_extent().width <= page.bbox.width
    lefts = {round(text.get_window_extent().x0) for text in legend.get_texts()}
    assert len(lefts) == columns
    assert (tmp_path / "one.svg").exists()
