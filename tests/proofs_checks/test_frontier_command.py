"""`specsim frontier`: points worked out by hand, no rule below its limit, refusals, files."""

import io
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from proofs_checks.frontiers import command, curves
from proofs_checks.frontiers.command import Frontier, frontier_files, make_frontier
from proofs_checks.frontiers.curves import Setting, Spot
from proofs_checks.frontiers.limits import DIVERGENCES, Point
from proofs_checks.frontiers.pages import content_of, picture_of
from proofs_checks.frontiers.show import cell, markdown, view
from proofs_checks.frontiers.table import Row, breaks
from specsim import Annealed, Ensemble, Lenient, SpecsimError, Strict, Table, Verdict, random_table, table
from specsim.arrays import number
from specsim.cli.options import app
from specsim.comparing.frontier_picture import FILES, short
from specsim.rules.block import BlockVerification
from specsim.rules.ledger import Ledger
from specsim.strength import Strength
from specsim.table_files import table_json
from specsim.verification import capped_ratio


def steady(law: list[F], length: int) -> Table:
    """The same law after every prefix."""
    return table([[law] * len(law) ** n for n in range(length)], vocab=len(law))


TOY = steady([F(1, 3), F(2, 3)], 3), steady([F(2, 3), F(1, 3)], 3)


@pytest.fixture
def frontier(tmp_path: Path) -> Callable[..., Result]:
    """specsim frontier on the toy, in this process."""
    for name, model in zip(("t.json", "d.json"), TOY, strict=True):
        (tmp_path / name).write_text(json.dumps(table_json(model)))
    files = ["--target", str(tmp_path / "t.json"), "--draft", str(tmp_path / "d.json")]
    return lambda *words, given=files: CliRunner().invoke(app, ["frontier", *given, *words])


def made(
    rules: list[Any], lookahead: int = 2, length: int | None = None, divergence: str = "tv", models: Any = TOY
) -> Frontier:
    return make_frontier(Setting(*models, lookahead, length, divergence), rules, 5, exact=True)


def test_the_toys_points_stand_in_the_json_exactly(frontier: Callable[..., Result]) -> None:
    """Two drafts, TV 0: strict verification keeps 10/9, block verification 11/9."""
    words = ("--lookahead", "2", "--rules", "Strict", "--rules", "BlockVerification()", "--points", "5")
    done = frontier(*words, "--exact", "--json")
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    assert content["schema"] == "specsim.frontier/1" and content["numbers"] == "Fractions"
    given = [(some["limit"], some["given"]["cost_exact"], some["given"]["value_exact"]) for some in content["rules"]]
    assert given == [("block", "10/9", "0"), ("joint", "11/9", "0")] and content["problems"] == []
    for row in content["table"]:
        assert row["limit"]["cost_exact"] == row["spot"]["cost_exact"] and row["limit"]["value"] < 1e-9
        assert F(row["limit"]["bound_exact"]) <= 0 and row["above"] is None and row["goal"] is None
    ends = [(some["points"][0]["cost_exact"], some["points"][-1]["cost_exact"]) for some in content["limits"]]
    assert ends == [("10/9", "2")] * 2
    assert [some["points"][-1]["value"] for some in content["limits"]] == pytest.approx([1 / 3] * 2)


@dataclass(frozen=True)
class Wasteful:
    """Lenience whose replacement is the target's own law.  One draft of the toy: kept (w + 1)/3, TV (2 w - 1)/9."""

    strength: ClassVar[Strength] = Strength("omega", 1.0, 2.0)
    omega: float = 1.5

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        return Verdict(capped_ratio(number(self.omega, target) * target, draft), target)


def test_the_table_by_hand() -> None:
    """One draft: the limit is the line TV = kept - 2/3.  At w = 3/2 kept is 5/6 and TV 2/9, a third above 1/6."""
    found = made([Wasteful(), Lenient(1.5)], lookahead=1)
    rows = {(short(row.rule), row.goal): row for row in found.rows}
    waste, lean = (rows[name, F(5, 6)] for name in ("Wasteful(omega=1.5)", "Lenient(omega=1.5)"))
    assert (waste.spot.cost, waste.spot.value) == (F(5, 6), F(2, 9)) and waste.above == pytest.approx(1 / 3)
    assert cell(waste) == "+33.3%" and cell(lean) == "+0.0%" and not found.problems
    assert [float(goal.cost) for goal in found.goals] == pytest.approx([3 / 4, 5 / 6, 11 / 12])
    quarter = rows["Wasteful(omega=1.5)", F(3, 4)]
    assert quarter.spot.strength == pytest.approx(5 / 4, abs=1e-3) and quarter.above == pytest.approx(1, abs=2e-3)


def test_where_the_limit_is_0_the_difference_is_shown() -> None:
    spot = Spot(Strict(), None, F(1), F(1, 50))
    row = Row(Strict(), None, spot, "block", Point(F(1), 0.0, F(0), ""))
    assert row.above is None and cell(row) == "0.02*" and breaks(row) is None


RULES = [Strict(), Lenient(1.5), Annealed(2.0), Ledger(2.0), BlockVerification(Lenient(1.5))]


@pytest.mark.parametrize(("length", "rules"), [(None, RULES), (3, RULES[1::3])], ids=["block", "run"])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_no_rule_lies_below_its_limit(divergence: str, length: int | None, rules: list[Any]) -> None:
    models = random_table(2, 3, 5), random_table(2, 3, 6)
    found = made(rules, 2, length, divergence, models)
    assert found.problems == [] and all(row.difference > -1e-6 for row in found.rows)
    relaxed = [row for row in found.rows if row.goal is not None]
    assert len(relaxed) > 5 and any(row.above is not None and row.above > 0.01 for row in relaxed)


def test_a_rule_that_claims_too_much_is_said_to_lie_below(monkeypatch: pytest.MonkeyPatch) -> None:
    real = curves.place

    def boast(rule: Any, *models: Any) -> Any:
        placed = real(rule, *models)
        return placed._replace(accepted=placed.accepted + F(1, 10))

    monkeypatch.setattr(curves, "place", boast)
    found = made([Strict(), BlockVerification()])
    assert len(found.problems) == 2 and "Strict() at cost 1.21111111" in found.problems[0]
    monkeypatch.setattr(curves, "place", lambda *of: boast(*of)._replace(accepted=F(3)))
    assert "no verifier costs that" in made([Strict()]).problems[0]


def test_a_rule_held_against_a_limit_that_it_passes_ends_the_command_with_1(
    frontier: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block verification keeps 11/9 at TV 0; token by token TV would be 1/24."""
    monkeypatch.setattr(curves, "held_against", lambda *_: "block")
    done = frontier("--lookahead", "2", "--rules", "BlockVerification()", "--points", "4", "--exact")
    assert done.exit_code == 1 and "BELOW THE LIMIT" in done.output and "0.0416666" in " ".join(done.output.split())


def test_along_a_curve_too() -> None:
    """A curve is held against what convexity says of the limit."""
    found = made([Lenient(1.5)])
    low = found.curves[0]
    fake = curves.Curve(low.rule, low.given, tuple(spot._replace(value=0.0) for spot in low.spots), "block")
    assert command.breaks_curve(low, found.limits["block"]) is None
    assert "below the limit" in str(command.breaks_curve(fake, found.limits["block"]))


def test_files_are_complete_and_say_the_same(frontier: Callable[..., Result], tmp_path: Path) -> None:
    """In a process of its own: a solver writes to the process's stdout, where JSON has to stand alone."""
    out, files = tmp_path / "made" / "here", [str(tmp_path / name) for name in ("t.json", "d.json")]
    words = ["--target", files[0], "--draft", files[1], "--lookahead", "1", "--rules", "Lenient(1.5)", "--points", "4"]
    command = [sys.executable, "-m", "specsim.cli", "frontier", *words, "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr.startswith("wrote ") and done.stderr.count("\n") == 1, done.stderr
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)
    assert json.loads((out / "frontier.json").read_text()) == json.loads(done.stdout)
    assert (out / "frontier.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    texts = " ".join(ElementTree.parse(out / "frontier.svg").getroot().itertext())
    assert "Lenient(omega=1.5)" in texts and "no verifier" in texts and "limit, token by token" in texts
    page = (out / "frontier.md").read_text()
    assert "frontier.svg" in page and "| 1 Lenient |" in page and "TV" in page.splitlines()[0]


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "make_frontier", stopped)
    with pytest.raises(KeyboardInterrupt):
        command.frontier_command(Setting(*TOY, 2, None, "tv"), {}, [], 5, False, tmp_path / "out")
    assert not (tmp_path / "out").exists()


BAD: dict[str, tuple[list[str], str]] = {
    "divergence": (["--divergence", "js"], "divergence = 'js' must be one of tv, "),
    "lookahead 0": (["--lookahead", "0"], "lookahead = 0 must be"),
    "lookahead 4": (["--lookahead", "4"], "lookahead = 4 must be a whole number from 1 to 3"),
    "length 9": (["--length", "9"], "length = 9 must be a whole number from 1 to 3"),
    "length 0": (["--length", "0"], "length = 0 must be"),
    "points": (["--points", "1"], "points = 1 must be a whole number from 4"),
    "memory": (["--memory", "nan"], "memory = nan must be"),
    "little memory": (["--memory", "0.00001"], "fit"),
    "no rule": (["--rules", "Lenent"], "did you mean 'Lenient'"),
    "a place that cannot be": (["--out", "/dev/null/x"], "cannot write in directory /dev/null/x"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str, frontier: Callable[..., Result]) -> None:
    words, wanted = BAD[case]
    done = frontier(*words)
    assert isinstance(done.exception, SpecsimError) and wanted in str(done.exception), done.exception
    assert "\n" not in str(done.exception)


def test_a_target_needs_its_own_draft(frontier: Callable[..., Result], tmp_path: Path) -> None:
    done = frontier(given=["--target", str(tmp_path / "t.json")])
    assert isinstance(done.exception, SpecsimError) and "needs a draft" in str(done.exception)
    (tmp_path / "wide.json").write_text(json.dumps(table_json(random_table(3, 3, 1))))
    done = frontier(given=["--target", str(tmp_path / "t.json"), "--draft", str(tmp_path / "wide.json")])
    assert isinstance(done.exception, SpecsimError) and "vocab 2 and draft vocab 3" in str(done.exception)


@pytest.mark.parametrize("divergence", ["tv", "kl", "kl_reverse", "ratio"])
def test_models_with_zeros(divergence: str) -> None:
    """q puts half of its mass where p has none: a rule that keeps it has no KL and no ratio, and is not below them; one
    that keeps only what the target can draw keeps no more than strict verification does."""
    models = steady([F(1), F(0)], 1), steady([F(1, 2), F(1, 2)], 1)
    found = made([Strict(), Ensemble(0.5)], 1, None, divergence, models)
    strict, mixed = (some.given.value for some in found.curves)
    assert strict == (1 if divergence == "ratio" else 0) and found.problems == []
    assert math.isinf(mixed) == (divergence in ("kl", "ratio"))
    assert len(found.goals) == (0 if math.isinf(mixed) else 3) and "frontier" in markdown(found, content_of(found, {}))


@pytest.mark.parametrize("words", [["--points", "3"], ["--divergence", "js"], ["--lookahead", "9"]], ids=str)
def test_what_was_asked_is_checked_before_any_rule(words: list[str], frontier: Callable[..., Result]) -> None:
    done = frontier(*words, "--rules", "Nobody")
    assert isinstance(done.exception, SpecsimError) and f"{words[0][2:]} = " in str(done.exception)


@pytest.mark.parametrize(
    ("models", "length", "divergence", "wanted"),
    [
        ((TOY[0], TOY[0]), None, "tv", "strict verification keeps all"),
        ((TOY[0], TOY[0]), 3, "kl", "strict verification keeps all"),
        (TOY, 1, "tv", "strict verification keeps all"),
        ((steady([F(1)], 2), steady([F(1)], 2)), None, "tv", "strict verification keeps all"),
        ((steady([F(1), F(0)], 2), steady([F(1, 2), F(1, 2)], 2)), None, "kl", "no finite limit between these costs"),
    ],
    ids=["equal", "equal runs", "one token", "vocab 1", "no support"],
)
def test_where_nothing_can_be_compared_a_sentence_says_so(
    models: Any, length: int | None, divergence: str, wanted: str
) -> None:
    found = made([Strict(), Lenient(1.5)], 1, length, divergence, models)
    assert not found.goals and wanted in shown(found) and wanted in markdown(found, content_of(found, {}))
    assert wanted not in shown(made([Strict(), Lenient(1.5)], 1))


def test_the_shipped_tables_are_the_default() -> None:
    setting, names = frontier_files(None, None, 2, None, "tv", 4.0)
    assert names["target"].endswith("fashion_target.json") and setting.target.vocab == 3


def test_a_run_is_drawn_with_the_fewest_calls_right_and_whole_block_rules_have_a_limit_too() -> None:
    found = made([Strict(), BlockVerification()], lookahead=1, length=3)
    picture = picture_of(found)
    assert picture.reverse and [line.kind for line in picture.limits] == ["run", "joint-run", "free-run"]
    assert found.rows[1].kind == "joint-run" and "the same, whole blocks seen" in shown(found)
    assert content_of(found, {})["cost"]["name"] == "calls"


def shown(found: Frontier) -> str:
    """What the terminal says, on one line."""
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(view(found, content_of(found, {})))
    return " ".join(console.export_text().split())
