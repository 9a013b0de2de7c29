"""What a tuning says in words: a difference, none that is shown, or one that does not hold up."""

import io
from typing import Any

import pytest
from rich.console import Console

from specsim.tune.show import remarks, view


def row(nu: float, divergence: float, above: float, error: float | None, apart: bool, **more: Any) -> dict[str, Any]:
    judged = {"accepted": {"value": 2.1, "error": 0.03}, "divergence": {"value": divergence, "error": 0.01}}
    figures = {"accepted": 2.0, "divergence": divergence, "off_support": 0.0, "accepted_unseen": 0.0}
    difference = {"above_best": above, "above_best_error": error, "apart": apart}
    return {"shape": {"nu": nu}, "rule": f"R(nu={nu})", "held_out": judged} | figures | difference | more


def said(best: dict[str, Any], published: dict[str, Any], table: list[dict[str, Any]], name: str = "tv") -> str:
    content = {"divergence": name, "accepted": 2.0, "best": best, "published": published, "table": table}
    return "\n".join(remarks(content))


BEST = row(0.5, 0.1, 0.0, 0.0, False)
GRID = [row(0.0, 0.2, 0.1, 0.01, True), row(1.0, 0.11, 0.004, 0.01, False), {"shape": {"nu": 2.0}, "reach": [2.5, 4.0]}]


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        (row(0.7, 0.2, 0.1, 0.01, True), "the shape as given, nu=0.7, has 0.1 ±0.01 more tv: a difference"),
        (
            row(0.7, 0.2, 0.01, 0.01, False),
            "as given, nu=0.7, has 0.01 ±0.01 more tv: no difference is shown",
        ),
        (
            row(0.7, 0.2, -0.1, 0.01, True),
            "has 0.1 ±0.01 less tv: a difference, so what was found does not hold",
        ),
        (BEST, "the shape as given, nu=0.5, is the best that was found"),
        ({"shape": {"nu": 0.7}, "reach": [2.2, 4.0]}, "the shape as given, nu=0.7, cannot accept 2: 2.2000 to 4.0000"),
        (row(0.7, 0.2, 0.1, 0.0, False), "cannot be compared with an error"),
    ],
)
def test_the_shape_as_given_is_compared_plainly(own: Any, wanted: str) -> None:
    text = said(BEST, own, GRID)
    assert wanted in text and "this very rule accepts 2.1 ±0.03 drafts" in text
    assert "the runner-up of the grid, nu=1, has 0.004 ±0.01 more tv: no difference is shown" in text


def test_an_end_of_the_range_and_what_is_not_seen_are_said() -> None:
    edge = row(0.0, 0.1, 0.0, 0.0, False, off_support=0.02, accepted_unseen=0.05)
    text = said(edge, edge, GRID)
    assert "nu = 0 is an end of the range that was searched" in text
    assert "0.02 of the blocks leave the target's support" in text and "up to 0.05 larger; tv is right" in text
    assert "end of the range" not in said(BEST, BEST, GRID) and "support" not in said(BEST, BEST, GRID)


def test_exact_figures_are_compared_without_an_error() -> None:
    exact = {key: value for key, value in BEST.items() if key not in ("held_out", "above_best_error")}
    own = exact | {"shape": {"nu": 0.7}, "above_best": 0.02, "apart": True}
    text = said(exact, own, [own, exact])
    assert text.splitlines()[0] == "the shape as given, nu=0.7, has 0.02 more tv: a difference"


@pytest.mark.parametrize("width", [80, 66])
def test_no_figure_is_cut(width: int) -> None:
    """Cells break between words."""
    far = row(-0.375, 0.1316049, -0.0059192, 0.0478, False, strength=1.008e8)
    none = {"shape": {"nu": -1.0}, "reach": [2.5255, 2.81234]}
    best = row(-0.307, 0.1231449, 0.0, 0.0, False, strength=1.0714567)
    laws = {"kind": "sample", "name": "l.npz", "sequences": 60, "tuned_on": 30, "judged_on": 30}
    content = {"divergence": "tv", "accepted": 2.0, "best": best, "published": far, "table": [far, none]}
    content |= {"lookahead": 3, "figure": "TV", "laws": laws}
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(view(content))
    seen = console.export_text()
    assert "…" not in seen
    for wanted in ("1.008e+08", "1.0715", "2.5255", "2.8123", "0.1316", "±0.01", "-0.005919", "±0.048", "nu=-0.375"):
        assert wanted in seen.split(), (wanted, seen)
