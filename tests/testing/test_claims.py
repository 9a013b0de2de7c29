"""Every claim holds of what keeps it, and catches the mutants that break it, with a counterexample that is one."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from specsim import Lenient, Strict
from specsim.checking.pairs import SLOTS
from specsim.errors import SpecsimError
from specsim.rules import RULES, Grouped, Lantern, Optimal
from specsim.rules.codebooks import bind_codebook
from specsim.strength import strength_of
from specsim.testing.claims import CLAIMS, Judged, chosen, judge, judge_all
from specsim.testing.statements import Profile
from specsim.testing.subjects import KINDS, Subject, is_decoder, subject_of
from specsim.testing.token_claims import rungs
from tests.testing.subjects import BREAKS, KEEPS, Turned, above_one, in_logarithms, late, of_the_batch

SMALL, PATIENT = Profile("small", listed=70, drawn=15), Profile("patient", listed=500, drawn=16)
"""A counterexample that is listed ends the search, so a long list is cheap where there is one."""


def rows(table: dict[tuple[str, str], list[Any]]) -> list[Any]:
    """(claim, subject) with readable ids, the same in every process: no addresses."""
    cases = [(claim, thing) for (claim, _), things in table.items() for thing in things]
    names = [re.sub(r"<function (\S+) at \w+>", r"\1", subject_of(thing).name) for _, thing in cases]
    return [pytest.param(*case, id=f"{case[0]}-{name}"[:60]) for case, name in zip(cases, names, strict=True)]


def judged(claim: str, thing: Any, profile: Profile = SMALL) -> Judged:
    return judge(CLAIMS[claim], subject_of(thing), profile)


@pytest.mark.parametrize(("claim", "thing"), rows(KEEPS))
def test_a_claim_holds_of_what_keeps_it(claim: str, thing: Any) -> None:
    found = judged(claim, thing)
    assert found.holds and found.tried >= 30


@pytest.mark.parametrize(("claim", "thing"), rows(BREAKS))
def test_a_claim_catches_what_breaks_it(claim: str, thing: Any) -> None:
    found = judged(claim, thing, PATIENT)
    assert not found.holds
    assert found.finding is not None and found.finding.worst < 0


def test_every_claim_has_both() -> None:
    needed = {(name, kind) for name, claim in CLAIMS.items() for kind in KINDS if getattr(claim, kind) is not None}
    assert set(KEEPS) == set(BREAKS) == needed
    assert all(is_decoder(thing) == (kind == "decoder") for (_, kind), some in KEEPS.items() for thing in some)


def test_the_smallest_counterexample_comes_first() -> None:
    """omega = 1.3 is biased as soon as p < q: no point mass on one token shows it, halves of two tokens do."""
    finding = judged("lossless", Lenient(1.3)).finding
    assert finding is not None and finding.minimal and finding.counterexample is not None
    assert finding.counterexample.as_json()["values"] == {"target": ["1/2", "1/2"], "draft": ["0", "1"], "slot": "0"}
    assert str(finding.worst) == "-3/20"


def test_a_late_slot_is_looked_at() -> None:
    finding = judged("lossless", late, PATIENT).finding
    assert finding is not None and finding.counterexample is not None
    assert finding.counterexample.slot == min(slot for slot in SLOTS if slot >= 7)


def test_whole_runs_catch_what_one_token_does_not() -> None:
    found = judged("lossless", of_the_batch, PATIENT)
    assert found.part == 2 and not found.holds


def test_what_fails_in_fractions_is_judged_in_floats_and_says_so() -> None:
    found = judged("on-line", in_logarithms)
    assert found.holds and not found.subject.exact and found.subject.numbers.startswith("float64: on Fractions")


def test_after_an_invalid_verdict_nothing_else_is_judged() -> None:
    subject = subject_of(above_one)
    found = judge_all(chosen(["lossless", "valid"], subject), subject, SMALL)
    assert [(some.claim.name, some.holds, bool(some.skipped)) for some in found] == [
        ("valid", False, False),
        ("lossless", False, True),
    ]


def test_a_rule_that_is_no_function_is_said_to_be_none() -> None:
    calls = iter(range(10**9))

    def fickle(draft: Any, target: Any, position: Any) -> Any:
        return (Strict() if next(calls) % 3 else Lenient(2))(draft, target, position)

    with pytest.raises(SpecsimError, match="changes from call to call"):
        judged("never-above-strict", fickle, PATIENT)


TURNED = [rule for rule in (kind() for kind in RULES.values()) if getattr(rule, "strength", None)]


@pytest.mark.parametrize("rule", TURNED, ids=repr)
def test_strengths_go_up_rung_by_rung(rule: Any) -> None:
    strength = strength_of(rule)
    ladder = rungs(rule, strength)
    assert all(high == low for (_, high), (low, _) in pairwise(ladder))
    assert ladder[0][0] == strength.weakest and len(ladder) >= 2
    steps = {(stronger - weaker) * (strength.strongest - strength.weakest) > 0 for weaker, stronger in ladder}
    assert steps == {True}
    ends = sorted((strength.weakest, strength.strongest))
    assert all(ends[0] <= value <= ends[1] for rung in ladder for value in rung)


def test_monotone_says_which_strengths() -> None:
    finding = judged("monotone", Turned(), PATIENT).finding
    assert finding is not None and finding.counterexample is not None
    weaker, stronger = finding.counterexample.step
    assert 0 <= weaker < stronger <= 1


@pytest.mark.parametrize("rule", [Lantern(), Grouped(), Optimal(Lantern())], ids=repr)
def test_what_needs_larger_denominators_is_found_on_the_pairs_of_check(rule: Any) -> None:
    """Thresholds such as .1 are below what is listed; the pairs that every rule is checked on are tried as well."""
    found = judged("support", rule)
    assert not found.holds and found.finding is not None and found.finding.counterexample is not None
    assert not found.finding.minimal


def test_rules_that_wait_for_codes_get_a_line_and_bound_ones_their_own() -> None:
    assert judged("at-least-strict", Lantern(k=1)).holds
    bound = bind_codebook(Grouped(size=2), [[0.0], [1.0], [2.0]])
    found = judged("valid", bound)
    assert found.holds and found.finding is not None and {size[0] for size in found.finding.complete} == {3}
    with pytest.raises(SpecsimError, match="40 codes"):
        judged("valid", bind_codebook(Grouped(size=2), [[float(i)] for i in range(40)]))


@pytest.mark.parametrize(
    ("names", "thing", "message"),
    [
        (["lossles"], Strict(), "unknown claim 'lossles' of a rule; known: valid, lossless"),
        (["race-equal"], Strict(), "unknown claim 'race-equal' of a rule"),
        (["on-line"], KEEPS["lossless", "decoder"][0], "known: lossless, race-equal, accounting, bounded-calls"),
        (["monotone"], Strict(), "has no strength to turn"),
        (["bounded-ratio"], Strict(), "has no number omega"),
        ([""], Strict(), "unknown claim ''"),
    ],
)
def test_claims_that_say_nothing_are_refused(names: list[str], thing: Any, message: str) -> None:
    with pytest.raises(SpecsimError, match=message) as error:
        chosen(names, subject_of(thing))
    assert "\n" not in str(error.value)


def test_no_rule_and_no_decoder() -> None:
    for thing in (None, 3, Strict):
        with pytest.raises(SpecsimError):
            subject_of(thing)
    assert isinstance(subject_of(lambda draft, target, position: None), Subject)
