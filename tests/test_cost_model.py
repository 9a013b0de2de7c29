"""`specsim cost`: spending by hand, the formula where it holds and where it does not, refusals."""

import io
import json
from dataclasses import fields
from fractions import Fraction as F
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console

from specsim import Autoregressive, Chain, Jacobi, Lenient, Race, Strict, Table, exact, table
from specsim.comparing.exact_side import Models
from specsim.costing import model as cost_model
from specsim.costing.command import cost_of_files, cost_of_result, write
from specsim.costing.model import Prices, Spending, naive_speed_up, prices, spending, tokens_per_round
from specsim.costing.show import view
from specsim.costing.sources import exact_steps, rates_spending, stop_law
from specsim.costing.sweep import SIZE_FIELD, choice, sweep, with_size
from specsim.decoders import DECODERS, RelaxedBonus
from specsim.errors import SpecsimError
from specsim.table_files import table_json

ROUNDING = 1e-12
"""Room for some hundred float64 roundings of numbers below 100."""
PRICE = Prices(draft_call=0.2, per_token=0.1)


def position_models(targets: list[list], drafts: list[list]) -> tuple[Table, Table]:
    """Laws that depend on nothing but the position."""
    return tuple(table([[law] * len(law) ** n for n, law in enumerate(laws)]) for laws in (targets, drafts))  # type: ignore


def flat_models(length: int, target: Any = ("3/4", "1/4"), draft: Any = ("1/4", "3/4")) -> tuple[Table, Table]:
    """The same laws at every position."""
    return position_models([list(target)] * length, [list(draft)] * length)


# By hand: two tokens, a = 1/2, one draft.  Kept with its bonus token: 1 call.  Rejected: a second call without drafts.
# With a relaxed bonus the first call holds 2 drafts but runs over 1; after a rejection of the first (1/2) one more
# draft is drawn for the second call, which runs over none.
BY_HAND = {
    "chain": (Chain(1), Spending(F(3, 2), F(1), F(1), 2)),
    "relaxed bonus": (RelaxedBonus(1), Spending(F(3, 2), F(1), F(5, 2), 2)),
    "plain": (Autoregressive(), Spending(F(2), F(0), F(0), 2)),
}


@pytest.mark.parametrize(("decoder", "wanted"), BY_HAND.values(), ids=list(BY_HAND))
def test_spending_by_hand(decoder, wanted):
    assert spending(decoder, exact(decoder, *flat_models(2))) == wanted


def test_a_window_drafts_for_free_and_its_width_is_paid():
    """Two tokens, window 1, p = (3/4, 1/4): the uniform draft is kept with 3/4; the second call holds the last slot."""
    law = exact(Jacobi(1), *flat_models(2))
    assert spending(Jacobi(1), law) == Spending(F(5, 4), F(5, 4), 0, 2)
    wide = exact(Jacobi(2), *flat_models(2))
    assert spending(Jacobi(2), wide).calls == law.calls and spending(Jacobi(2), wide).further > F(5, 4)


def test_a_race_spends_as_the_decoder_inside():
    law = exact(Race(RelaxedBonus(1)), *flat_models(2))
    assert spending(Race(RelaxedBonus(1)), law).further == law.drafted - law.calls


PRICED = {(0.0, 0.0): 1.5, (0.2, 0.0): 1.7, (0.0, 0.1): 1.6, (0.2, 0.1): 1.8}
"""(draft call, further token) -> cost of the chain by hand: 1.5 calls, 1 further token, 1 draft call."""


def cost_faults(cost: Any) -> list[tuple[float, float]]:
    """The prices at which a cost is wrong."""
    spent = spending(Chain(1), exact(Chain(1), *flat_models(2)))
    return [price for price, wanted in PRICED.items() if abs(cost(spent, Prices(*price)) - wanted) > ROUNDING]


def test_cost_by_hand():
    assert cost_faults(Spending.cost) == []
    spent = spending(Chain(1), exact(Chain(1), *flat_models(2)))
    assert spent.speed_up(PRICE) == pytest.approx(2 / 1.8, abs=ROUNDING)


@pytest.mark.parametrize(
    "mutant",
    [
        lambda s, p: s.calls + p.draft_call * s.draft_calls,
        lambda s, p: s.calls + p.per_token * s.further,
        lambda s, p: s.calls * (1 + p.per_token) + p.draft_call * s.draft_calls,
        lambda s, p: s.calls + p.draft_call * s.further + p.per_token * s.draft_calls + p.draft_call,
    ],
    ids=["no k", "no c", "k for every call", "c for every run too"],
)
def test_a_cost_that_forgets_is_caught(mutant):
    assert cost_faults(mutant)


def test_the_formula_at_its_ends():
    """a = 1: L + 1 tokens a round; a = 0: one; between, the closed form."""
    assert naive_speed_up(1.0, 4, Prices(0.1, 0.0)) == pytest.approx(5 / 1.4)
    assert naive_speed_up(0.0, 4, Prices(0.1, 0.0)) == pytest.approx(1 / 1.4)
    assert tokens_per_round(0.8, 3) == pytest.approx((1 - 0.8**4) / 0.2)
    assert naive_speed_up(0.8, 3, Prices(0.1, 0.05)) == pytest.approx((1 - 0.8**4) / 0.2 / 1.45)


@pytest.mark.parametrize("lookahead", [1, 2, 4])
def test_equal_laws_everywhere_have_the_closed_form_in_the_limit(lookahead):
    """a = 1/2.  At the end of the sequence rounds are cut, so tokens a call approach (1 - a^(L+1)) / (1 - a) like 1/N.

    The recursion over slot rates is the exact law here, and it goes on where an enumeration does not.
    """
    for length in (1, 2, 5, 8):
        law = exact(Chain(lookahead), *(models.floats() for models in flat_models(length)))
        again = rates_spending([0.5] * lookahead, lookahead, length)
        assert (again.calls, again.further) == pytest.approx((law.calls, law.drafted), abs=ROUNDING)
    limit = tokens_per_round(0.5, lookahead)
    gaps = [limit - n / rates_spending([0.5] * lookahead, lookahead, n).calls for n in (1000, 2000)]
    assert gaps[1] < 3 * lookahead / 2000
    assert abs(gaps[0] - 2 * gaps[1]) < 0.02 * abs(gaps[0])


def test_stop_law_is_a_law():
    assert stop_law([0.5, 0.25]) == [0.5, 0.375, 0.125] and stop_law([]) == [1.0]


# Positions differ: drafts are perfect at odd positions and hopeless at even ones.
ALTERNATING = position_models(
    [["1/2", "1/2"] if n % 2 else ["9/10", "1/10"] for n in range(8)],
    [["1/2", "1/2"] if n % 2 else ["1/10", "9/10"] for n in range(8)],
)


def swept(models: tuple[Table, Table], price: Prices, largest: int, decoder: Any = Chain) -> dict[str, Any]:
    tables = Models(*models, models[0].length).floats()
    return sweep(decoder(1), None, exact_steps(tables, decoder(1), None, largest), price)


def test_the_formula_picks_the_wrong_lookahead_where_positions_differ():
    """A rejection at an even position starts the next round at an odd one, whose first draft is perfect: the slots'
    rates are nothing like equal."""
    content = swept(ALTERNATING, Prices(0.15, 0.0), 7)
    assert content["acceptance"] == pytest.approx(content["sizes"][0]["tokens_per_call"] - 1, abs=0.15)
    assert content["naive_best"] != content["best"] and content["loses"] > 0.03
    assert content["naive_promise"] > 1.1 * content["naive_gets"]
    row = content["sizes"][content["naive_best"] - 1]
    assert content["loses"] == pytest.approx(1 - row["speed_up"] / content["best_speed_up"])


def test_the_formula_forgets_the_end_of_the_sequence():
    """Equal laws, so only the end is wrong: a last round is short, and the formula promises too much at every size."""
    rows = swept(flat_models(4, ("3/4", "1/4"), ("1/2", "1/2")), Prices(0.05, 0.0), 3)["sizes"]
    over = [row["naive_speed_up"] / row["speed_up"] for row in rows]
    assert min(over) > 1.05 and max(over) > 1.2


def test_width_costs():
    """At k = 0 a wider window is never slower; at k > 0 the widest is not the best."""
    models = flat_models(4, ("9/10", "1/10"))
    free = [row["speed_up"] for row in swept(models, Prices(0.0, 0.0), 6, Jacobi)["sizes"]]
    paid = swept(models, Prices(0.0, 0.3), 6, Jacobi)
    assert all(a <= b + ROUNDING for a, b in pairwise(free))
    assert paid["best"] < 6 and paid["sizes"][5]["speed_up"] < paid["best_speed_up"] and paid["naive_best"] is None


def test_an_equally_fast_longer_size_is_not_the_best():
    rows = [{"size": n, "speed_up": s, "naive_speed_up": None} for n, s in ((1, 1.0), (2, 1.5), (3, 1.5 + 1e-15))]
    assert choice(rows)["best"] == 2


def test_every_decoder_with_a_size_is_swept():
    """A decoder that is added needs a row in SIZE_FIELD, or none of these fields."""
    for name, kind in DECODERS.items():
        sizes = {"lookahead", "window"} & {field.name for field in fields(kind)}
        assert (kind in SIZE_FIELD) == bool(sizes), name
    assert with_size(Race(Chain(2)), 5) == Race(Chain(5)) and with_size(Jacobi(3, "maximal"), 1) == Jacobi(1, "maximal")
    with pytest.raises(SpecsimError, match=r"Autoregressive\(\) has no lookahead or window"):
        with_size(Autoregressive(), 2)


@pytest.fixture
def files(tmp_path):
    for name, tables in zip(("t.json", "d.json"), flat_models(3), strict=True):
        (tmp_path / name).write_text(json.dumps(table_json(tables)))
    return tmp_path / "t.json", tmp_path / "d.json"


def test_files_in_figures_out(files, tmp_path):
    seen: list[tuple[int, int]] = []
    decoders = [Chain(), Jacobi()]
    content = cost_of_files(*files, decoders, Lenient(1.5), PRICE, progress=lambda *done: seen.append(done))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)] and content["schema"] == "specsim.cost/1"
    chain, window = content["decoders"]
    assert (
        [row["size"] for row in chain["sizes"]] == [1, 2]
        and chain["swept"] == "lookahead"
        and window["swept"] == "window"
    )
    law = exact(Chain(2), *flat_models(3), rule=Lenient(1.5))
    row = chain["sizes"][1]
    wanted = float(law.calls + F(3, 10) * law.drafted)
    assert row["cost"] == pytest.approx(wanted) and row["speed_up"] == pytest.approx(3 / wanted)
    write(tmp_path / "out", content)
    assert json.loads((tmp_path / "out" / "cost.json").read_text()) == content
    assert (tmp_path / "out" / "cost.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_unflattering_is_said(files):
    """A draft as dear as the target only costs."""
    content = cost_of_files(*files, [Chain()], None, Prices(1.0, 0.0))
    assert content["decoders"][0]["best_speed_up"] < 1
    text = io.StringIO()
    Console(file=text, width=100).print(view(content))
    assert "no faster than plain decoding" in text.getvalue() and "the formula takes" in text.getvalue()


def run_result(tmp_path, **changes: Any):
    """A result as `specsim run` writes it: 3 slots, 12 tokens an image."""
    calls = rates_spending([0.5, 0.4, 0.2], 3, 12).calls
    content = {
        "schema": "specsim.run/1",
        "configuration": {"decoder": "Chain(lookahead=3)", "rule": "Strict()"},
        "acceptance_by_slot": [0.5, 0.4, 0.2],
        "nfe_per_image": calls,
        "nfe_per_image_interval": [0.9 * calls, 1.1 * calls],
        "tokens_per_call": 12 / calls,
    } | changes
    path = tmp_path / "result.json"
    path.write_text(json.dumps({k: v for k, v in content.items() if v is not ...}))
    return path


def test_a_run_at_every_shorter_lookahead(tmp_path):
    content = cost_of_result(run_result(tmp_path), PRICE)
    (chain,) = content["decoders"]
    assert [row["size"] for row in chain["sizes"]] == [1, 2, 3] and chain["acceptance"] == 0.5
    for row in chain["sizes"]:
        spent = rates_spending([0.5, 0.4, 0.2], row["size"], 12)
        assert row["speed_up"] == pytest.approx(12 / (spent.calls + 0.3 * spent.further), abs=ROUNDING)
    low, high = chain["sizes"][2]["speed_up_interval"]
    assert low == pytest.approx(chain["sizes"][2]["speed_up"] / 1.1) and high == pytest.approx(
        chain["sizes"][2]["speed_up"] / 0.9
    )
    assert "speed_up_interval" not in chain["sizes"][1], "other lookaheads did not run"
    assert content["source"]["calls_from_rates"] == pytest.approx(content["source"]["measured_calls"])
    text = io.StringIO()
    Console(file=text, width=100).print(view(content))
    assert "taken to be the same" in " ".join(text.getvalue().split())


def test_rates_of_another_lookahead_are_an_assumption():
    """Where positions differ, the rates by slot of lookahead 3 give the wrong cost of lookahead 1: that is said."""
    models = [t.floats() for t in ALTERNATING]
    long, short = exact(Chain(3), *models), exact(Chain(1), *models)
    again = rates_spending(long.acceptance_by_slot, 1, 8)
    assert abs(again.calls - short.calls) > 0.1


def test_slots_never_judged_end_the_sweep(tmp_path):
    content = cost_of_result(run_result(tmp_path, acceptance_by_slot=[0.5, 0.4, None]), PRICE)
    assert [row["size"] for row in content["decoders"][0]["sizes"]] == [1, 2]
    assert content["source"]["calls_from_rates"] is None
    short = cost_of_result(run_result(tmp_path, acceptance_by_slot=[0.5, 0.4]), PRICE)
    assert [row["size"] for row in short["decoders"][0]["sizes"]] == [1, 2]


BAD_RESULTS = {
    "a window": (
        {"configuration": {"decoder": "Jacobi(window=4)", "rule": "Strict()"}},
        None,
        "give the result of a Chain",
    ),
    "a file that would run": ({"configuration": {"decoder": "evil.py:Chain()", "rule": None}}, None, "give the result"),
    "hours of work": (
        {
            "configuration": {"decoder": "Chain(lookahead=256)", "rule": None},
            "acceptance_by_slot": [0.5] * 256,
            "nfe_per_image": 9999,
            "tokens_per_call": 10,
        },
        None,
        "99,990 tokens at 256 lookaheads would take too long",
    ),
    "longer than measured": ({}, 4, "largest = 4, but"),
    "no size": ({}, 0, "largest = 0"),
    "another file": ({"schema": "specsim.law/1"}, None, "no result of specsim run"),
    "a field missing": ({"acceptance_by_slot": ...}, None, "lacks acceptance_by_slot"),
    "no decoder": ({"configuration": {}}, None, "lacks the decoder"),
    "no numbers": ({"nfe_per_image": "x"}, None, "nfe_per_image"),
    "a rate above 1": ({"acceptance_by_slot": [5, 0.5, 0.5]}, None, "acceptance_by_slot = "),
    "a rate below 0": ({"acceptance_by_slot": [-5, 0.5, 0.5]}, None, "acceptance_by_slot = "),
    "a rate as text": ({"acceptance_by_slot": ["a"]}, None, "acceptance_by_slot = "),
    "a rate in a list": ({"acceptance_by_slot": [[0.1]]}, None, "acceptance_by_slot = "),
    "true for calls": ({"nfe_per_image": True}, None, "nfe_per_image = True"),
    "no calls": ({"nfe_per_image": 0}, None, "nfe_per_image = 0"),
    "negative calls": ({"nfe_per_image": -3}, None, "nfe_per_image = -3"),
    "endless calls": ({"nfe_per_image": 1e300}, None, r"nfe_per_image = 1e\+300"),
    "calls beyond floats": ({"nfe_per_image": 10**400}, None, "nfe_per_image = 1000"),
    "endless tokens": ({"tokens_per_call": 1e5}, None, "nfe_per_image x tokens_per_call"),
    "no tokens": ({"tokens_per_call": 0}, None, "tokens_per_call = 0"),
    "an interval as text": ({"nfe_per_image_interval": "ab"}, None, "nfe_per_image_interval = 'ab'"),
    "an interval of nothing": ({"nfe_per_image_interval": [None, None]}, None, "nfe_per_image_interval"),
    "half an interval": ({"nfe_per_image_interval": [1]}, None, "nfe_per_image_interval"),
    "an interval at 0": ({"nfe_per_image_interval": [0, 0]}, None, "nfe_per_image_interval"),
    "an interval upside down": ({"nfe_per_image_interval": [3, 2]}, None, "nfe_per_image_interval"),
    "a decoder as number": ({"configuration": {"decoder": 5, "rule": None}}, None, "decoder = 5"),
    "a rule as number": ({"configuration": {"decoder": "Chain()", "rule": 5}}, None, "rule = 5"),
    "nothing judged": ({"acceptance_by_slot": []}, None, "no draft was judged"),
}


@pytest.mark.parametrize(("changes", "largest", "named"), BAD_RESULTS.values(), ids=list(BAD_RESULTS))
def test_bad_results(tmp_path, changes, largest, named):
    with pytest.raises(SpecsimError, match=named) as error:
        cost_of_result(run_result(tmp_path, **changes), PRICE, largest)
    assert "\n" not in str(error.value)


def test_other_refusals(files):
    for bad in ((-1.0, 0.0), (0.0, float("nan")), (float("inf"), 0.0)):
        with pytest.raises(SpecsimError, match=r"cost: (draft-cost|call-cost-per-token) = "):
            prices(*bad)
    assert prices(0.0, 0.0) == Prices(0.0, 0.0)
    with pytest.raises(SpecsimError, match="largest"):
        cost_of_files(*files, [Chain()], None, PRICE, largest=0)
    with pytest.raises(SpecsimError, match="no decoder"):
        cost_of_files(*files, [], None, PRICE)
    with pytest.raises(SpecsimError, match="no lookahead or window"):
        cost_of_files(*files, [Race()], Strict(), PRICE)
    assert cost_model.has_formula(Race(Chain())) and not cost_model.has_formula(RelaxedBonus())
