"""`specsim compare` on table models: figures computed by hand, what is said of them, refusals."""

import io
import json
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from rich.console import Console

from specsim import Additive, Autoregressive, Chain, FuzzyKL, Jacobi, Lenient, Strict, random_table, table
from specsim.comparing import command, lineup
from specsim.comparing.command import compare_files
from specsim.comparing.exact_side import Models, compare_tables
from specsim.comparing.goals import Goal, the_goal, told_apart
from specsim.comparing.lineup import AS_GIVEN, CHEAPER, DEARER, FIXED, TUNED
from specsim.comparing.show import markdown, picture, remarks, view
from specsim.comparing.tuning import EXACT
from specsim.comparing.verdict import verdict
from specsim.errors import SpecsimError
from specsim.rules.lenient import Lenient as LenientRule
from specsim.strength import Strength
from specsim.table_files import table_json
from specsim.verification import Verdict


# Figures by hand.  Two tokens, p = (3/4, 1/4) and q = (1/4, 3/4) in every context, lookahead 1.  A kept draft brings a
# bonus token: 1 call, else 2, so calls = 2 - a.  Lenient(w): a = 1/4 + w/4, and token 1 comes out with probability w/4.
# Additive(e): a = 1/2 + 3e/4, and token 1 comes out with 1/4 + 3e/4.  The second token follows the target.
def two_tokens() -> Models:
    laws = [[["3/4", "1/4"]], [["3/4", "1/4"]] * 2], [[["1/4", "3/4"]], [["1/4", "3/4"]] * 2]
    return Models(*(table(levels) for levels in laws), 2)


BY_HAND = {"tv": 1 / 8, "local_errors": 1 / 8, "one_token_tv": 1 / 8, "max_ratio": 1.5, "expected_calls": 11 / 8}
AT, ONE = Goal("calls", 11 / 8), Chain(1)


def compared(*rules: Any, goal: Goal | None = AT, exact: bool = False, decoder: Any = ONE) -> dict[str, Any]:
    return compare_tables(two_tokens(), [(decoder, rule) for rule in rules], goal, exact)


def test_figures_by_hand():
    (row,) = compared(Lenient(3.0), exact=True)["systems"]
    assert row["rule"] == "Lenient(omega=1.5)" and row["how"] == TUNED
    assert {key: row[key] for key in BY_HAND} == BY_HAND
    assert row["tv_exact"] == "1/8" and row["expected_calls_exact"] == "11/8" and row["cost"] == 11 / 8
    assert row["kl"] == pytest.approx(3 / 8 * math.log(3 / 2) + 5 / 8 * math.log(5 / 6), abs=1e-12)
    assert row["tokens_per_call"] == 16 / 11 and row["accepted_per_call"] == pytest.approx(5 / 11)


def test_other_goals_reach_the_same_rule():
    for goal in (Goal("accepted", 5 / 11), Goal("tokens-per-call", 16 / 11)):
        (row,) = compared(Lenient(), goal=goal)["systems"]
        assert float(row["rule"][14:-1]) == pytest.approx(1.5, rel=1e-4)


def test_rules_on_one_line_tie():
    """At the same acceptance, of one token and with an optimal residual, the bias is the same."""
    content = compared(Lenient(), Additive())
    assert [row["tv"] for row in content["systems"]] == pytest.approx([1 / 8, 1 / 8], abs=EXACT.slack)
    assert content["verdict"]["winner"] is None and "tie" in content["verdict"]["text"][0]


def test_a_rule_without_strength_stays_as_it_is():
    content = compared(Strict(), Lenient())
    strict = content["systems"][0]
    assert strict["how"] == FIXED and strict["cost"] == 1.5 and strict["tv"] < 1e-12
    assert content["verdict"]["winner"] == "Lenient(omega=1.5) with Chain(lookahead=1)", "Strict costs more"


def test_the_dearer_side_of_a_jump_cannot_win():
    """FuzzyKL keeps everything from threshold KL(p||q) = ln(3) / 2 on: TV 1/2 at 1 call, or strict at 1.5 calls."""
    content = compared(FuzzyKL(), Lenient())
    rows = {row["how"]: row for row in content["systems"]}
    assert rows[DEARER]["tv"] < 1e-12 and rows[DEARER]["cost"] == 1.5
    assert rows[CHEAPER]["tv"] == pytest.approx(1 / 2) and rows[CHEAPER]["cost"] == 1
    assert content["verdict"]["winner"].startswith("Lenient") and content["verdict"]["next"].startswith("FuzzyKL")
    assert content["verdict"]["behind_by"] == pytest.approx(3 / 8, abs=EXACT.slack)
    (said,) = content["notes"]
    assert "jump from 1.5 to 1" in said and "cannot cost 1.375" in said


def test_the_cheaper_side_of_a_jump_can_win():
    """It costs less, and has less bias than all others: then it is better in both."""
    rows = [
        {"rule": r, "decoder": "d", "tv": tv, "cost": c, "expected_calls": c}
        for r, tv, c in (("A", 0.1, 1.2), ("B", 0.2, 1.375))
    ]
    assert verdict(rows, AT, 1e-6)["winner"] == "A with d"
    assert verdict(rows, AT, 1e-6)["beaten"] == {"B with d": "A with d"}
    kept = [{**row, "cost": 3.0 if row["rule"] == "A" else 1.2} for row in rows]
    assert verdict(kept, Goal("tokens-per-call", 1.2), 1e-6)["winner"] == "A with d", "more tokens a call are cheaper"
    assert verdict(kept, Goal("calls", 1.2), 1e-6)["winner"] == "B with d"


@dataclass(frozen=True)
class Faint:
    """Lenience that can hardly relax."""

    omega: float = 1.0
    strength: ClassVar[Strength] = Strength("omega", 1.0, 1.1)

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        return LenientRule(self.omega)(draft, target, position)


@dataclass(frozen=True)
class Humped:
    """Lenience that turns back: omega grows to 2 and falls again."""

    turn: float = 0.0
    strength: ClassVar[Strength] = Strength("turn", 0.0, 2.0)

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        return LenientRule(2 - abs(1 - self.turn))(draft, target, position)


def test_a_cost_that_turns_back_is_said():
    """omega = 1.5 is passed twice, at turn 1/2 and 3/2; calls fall from 1.5 to 1.25 and rise again."""
    content = compared(Humped())
    assert [row["rule"] for row in content["systems"]] == ["Humped(turn=0.5)"]
    turned, twice = content["notes"]
    assert (
        "not monotone" in turned
        and "back by 0.24" in turned
        and "passes 1.375 target calls a sequence 2 times" in twice
    )


def test_out_of_reach_says_the_range_and_the_others_go_on():
    content = compared(Faint(), Lenient())
    (absent,) = content["out_of_reach"]
    assert (absent["least"], absent["greatest"]) == pytest.approx((1.475, 1.5)) and len(content["systems"]) == 1
    assert "out of reach: Faint(omega=1.0) with Chain(lookahead=1) costs 1.475 to 1.5" in remarks(content)


def test_nobody_reaches_the_goal():
    with pytest.raises(SpecsimError, match=r"no rule reaches 1.375 .*Faint.*reaches 1.475 to 1.5$"):
        compared(Faint(), Strict())
    with pytest.raises(SpecsimError, match="no rule here has a strength"):
        compared(Strict())


def test_a_goal_just_out_of_reach_has_enough_digits():
    with pytest.raises(SpecsimError, match=r"no rule reaches 1.474999 .*reaches 1.475 to 1.5$"):
        compared(Faint(), goal=Goal("calls", 1.474999))
    assert told_apart(1.5003591, 1.500358094, 1.0) == ["1.500359", "1.500358", "1"]
    assert told_apart(1.5, 2.0) == ["1.5", "2"]


def test_a_system_given_twice_is_said_once():
    systems = [(ONE, Faint()), (ONE, Lenient()), (ONE, Faint())]
    assert lineup.distinct(systems) == systems[:2]
    content = compare_tables(two_tokens(), systems, AT)
    assert len(content["out_of_reach"]) == 1 == len(content["systems"])


def test_rounding_is_no_bias_in_the_verdict():
    content = compared(Lenient(), goal=Goal("calls", 1.5))
    assert "TV 0" in content["verdict"]["text"][0] and "e-1" not in content["verdict"]["text"][0]


def test_a_name_that_looks_like_a_formula_is_drawn_as_written():
    content = compared(Lenient())
    content["systems"][0]["rule"] = "Dollar(name='$x_{$')"
    assert picture(content).startswith(b"\x89PNG")


def test_tables_are_named_and_never_mixed(files):
    target, draft = files
    for given, said in (((target, None), "needs a draft"), ((None, draft), "without --target")):
        with pytest.raises(SpecsimError, match=said):
            compare_files(*given, [ONE], [Lenient()], AT)
    text = io.StringIO()
    Console(file=text, width=200).print(view(compare_files(target, draft, [ONE], [Lenient()], AT)))
    said = "".join(text.getvalue().split())
    assert f"target:{target}" in said and f"draft:{draft}" in said
    alone = compare_files(target, None, [Jacobi(1)], [Strict()], None)
    assert alone["draft"] is None


def test_as_they_are_names_the_front_only():
    """Without a common cost nobody wins; a rule with more bias and as many calls as another is beaten."""
    content = compared(Strict(), Lenient(1.5), Additive(0.1), FuzzyKL(0.1), goal=None)
    assert {row["how"] for row in content["systems"]} == {AS_GIVEN} and content["goal"] is None
    assert content["verdict"]["winner"] is None and not content["verdict"]["beaten"]
    window = compare_tables(two_tokens(), [(Chain(1), Strict()), (Jacobi(1, "maximal_stale"), Lenient(1.5))], None)
    assert window["systems"][1]["one_token_tv"] is None, "a window's drafts have no fixed law"


def test_equal_systems_stand_once():
    assert len(compared(Lenient(1.2), Lenient(7.0))["systems"]) == 1


def test_every_decoder_meets_every_rule():
    models = Models(random_table(3, 3, 1), random_table(3, 3, 2), 3)
    systems = [(decoder, Lenient()) for decoder in (Chain(2), Jacobi(2, "maximal"))]
    seen = []
    content = compare_tables(models, systems, Goal("calls", 1.2), progress=lambda *done: seen.append(done))
    assert seen == [(1, 2), (2, 2)] and len(content["systems"]) == 2
    assert all(row["cost"] == pytest.approx(1.2, abs=EXACT.slack) for row in content["systems"])


def test_one_goal_at_most():
    assert the_goal(calls=None, accepted=None) is None
    assert the_goal(tokens_per_call=2.0, calls=None) == Goal("tokens-per-call", 2.0)
    with pytest.raises(SpecsimError, match="--at-calls and --at-accepted exclude each other"):
        the_goal(calls=2.0, accepted=1.0)
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(SpecsimError, match="at-calls"):
            the_goal(calls=bad)


def test_refusals():
    with pytest.raises(SpecsimError, match="no rule to compare"):
        compared()
    with pytest.raises(SpecsimError, match=r"Autoregressive\(\) takes no rule"):
        compared(Lenient(), decoder=Autoregressive())


@pytest.fixture
def files(tmp_path):
    models = two_tokens()
    for name, model in (("t.json", models.target), ("d.json", models.draft)):
        (tmp_path / name).write_text(json.dumps(table_json(model)))
    return tmp_path / "t.json", tmp_path / "d.json"


def test_files_are_written_together(files, tmp_path):
    out = tmp_path / "out"
    content = command.compare_files(*files, [Chain(1)], [Lenient(), FuzzyKL()], AT, exact=True, out=out)
    assert {p.name for p in out.iterdir()} == {"compare.json", "compare.md", "compare.png"}
    assert json.loads((out / "compare.json").read_text()) == content and content["schema"] == "specsim.compare/1"
    assert (out / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert "| Lenient(omega=1.5) | Chain(lookahead=1) | tuned | 0.12500 |" in (out / "compare.md").read_text()


def test_nothing_is_written_for_bad_input(files, tmp_path):
    for rules, length in (([], None), ([Lenient()], 7), ([Faint()], None)):
        with pytest.raises(SpecsimError):
            command.compare_files(*files, [Chain(1)], rules, AT, length, out=tmp_path / "out")
        assert not list(tmp_path.glob("out/*"))
    with pytest.raises(SpecsimError, match="memory"):
        command.compare_files(*files, [Chain(1)], [Lenient()], AT, gibibytes=0)


def test_view_says_everything():
    content = compared(Strict(), Lenient(), Faint(), FuzzyKL())
    text = io.StringIO()
    Console(file=text, width=80).print(view(content))
    for part in (
        "at calls = 1.375",
        "Lenient(omega=1.5) with Chain(lookahead=1) (tuned)",
        "has none",
        "out of reach",
        "wins at",
        "jump",
    ):
        assert part in " ".join(text.getvalue().split())
    assert "wins at" in markdown(content) and len(picture(content)) > 1000


def test_a_rule_that_only_looks_like_one_has_no_strength():
    assert not lineup.has_strength(Strict()) and lineup.has_strength(Lenient())
    assert not lineup.has_strength(lambda draft, target, position: None)
