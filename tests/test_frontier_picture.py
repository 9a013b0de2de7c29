"""The picture of a frontier: what is drawn, where the legend stands, and that it is the same every time."""

import math
from xml.etree import ElementTree

import pytest

from specsim import Annealed, BlockVerification, Lenient, Strict
from specsim.comparing.frontier_picture import DASHES, Line, Picture, drawn, images, short

LIMIT = Line("the limit", [1.0, 1.5, 2.0], [0.0, 0.0, 0.4])
LOW = Line("a rule", [1.0, 1.5, 2.0], [0.0, 0.1, 0.4], (1.5, 0.1), "joint")
HIGH = Line("a high one", [1.0, 1.2, 2.0], [0.39, 0.4, 0.41], bars=[(0.3, 0.5)] * 3)
INFINITE = Line("infinite", [1.2], [math.inf])


def picture(*rules: Line, reverse: bool = False) -> Picture:
    return Picture([LIMIT], rules, "title", "across", "up", "nothing here", 0.0, reverse)


def test_everything_is_drawn_and_the_same_every_time() -> None:
    first, again = images(picture(LOW)), images(picture(LOW))
    assert first == again and set(first) == {"frontier.svg", "frontier.png"}
    texts = " ".join(ElementTree.fromstring(first["frontier.svg"]).itertext())
    assert all(word in texts for word in ("the limit", "a rule", "title", "across", "up", "nothing here"))


@pytest.mark.parametrize(("rules", "inside"), [((LOW,), True), ((HIGH,), False)])
def test_the_legend_never_covers_a_curve(rules: tuple[Line, ...], inside: bool) -> None:
    figure = drawn(picture(*rules))
    figure.draw_without_rendering()
    (plot,) = figure.axes
    box = plot.get_legend().get_window_extent()
    assert (box.x1 <= plot.get_window_extent().x1) == inside
    assert not any(line.get_window_extent().overlaps(box) for line in plot.get_lines() if not inside)


def test_costs_run_to_the_faster_side_and_intervals_fit() -> None:
    (plot,) = drawn(picture(HIGH, INFINITE, reverse=True)).axes
    assert plot.xaxis.get_inverted() and plot.get_ylim()[1] > 0.5, "the interval's end is in the picture"
    assert "infinite" not in [text.get_text() for text in plot.get_legend().get_texts()]


def test_whole_block_rules_are_dashed() -> None:
    (plot,) = drawn(picture(LOW, LOW._replace(name="other", kind=""))).axes
    dashed = [line.is_dashed() for line in plot.get_lines()]
    assert dashed == [False, True, False] and "joint" in DASHES


def test_a_short_name_is_read_as_the_same_rule() -> None:
    assert short(Annealed(2.0)) == "Annealed(delta=2.0)" and short(Annealed(2.0, 0.5)) == "Annealed(delta=2.0, nu=0.5)"
    assert short(Lenient()) == "Lenient(omega=1.3)" and short(Strict()) == "Strict()"
    assert short(BlockVerification()) == "BlockVerification()"
    assert short(BlockVerification(Lenient(1.3))) == "BlockVerification(rule=Lenient(omega=1.3))"
