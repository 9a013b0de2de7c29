"""Mistakes that a recursion over rounds invites, put in on purpose: the comparison with the exact law must see each."""

from typing import Any

import pytest

from specsim import Annealed, Lenient
from specsim.divergences import masses, paths, rounds
from specsim.divergences.masses import laws_along, masses_along
from specsim.divergences.rounds import slots_along
from specsim.flows import Flow, flow
from specsim.rules import BlockVerification, Ledger
from tests.divergence_models import Case
from tests.test_divergences import laws_agree

CASE = Case(2, 5, 3, 2)
COOLING, CARRYING, JOINT, UNIFORM = Annealed(3.0, 1.0), Ledger(1.5, 0.5), BlockVerification(Lenient(1.5)), Lenient(2.0)


def no_bonus(rule: Any, *laws: Any) -> list:
    """A round drafts on where the bonus token should be."""
    return slots_along(rule, *laws[:-1], laws[-1] + 1)


def to_the_end(rule: Any, target: Any, draft: Any, tokens: Any, lookahead: int) -> Any:
    """The last position is drafted too: a sequence one longer, cut."""
    longer = [masses.namespace(array).concat([array, array[:, -1:]], axis=1) for array in (target, draft, tokens)]
    return laws_along(rule, *longer, lookahead)[:, : tokens.shape[1], :]


def forgetful(rule: Any, state: Any, draft: Any, target: Any, slot: int) -> tuple:
    """The state is not carried."""
    return flow(rule, state, draft, target, slot)[0], lambda token: state


def early(rule: Any, state: Any, draft: Any, target: Any, slot: int) -> tuple:
    """Slots counted from 1."""
    return flow(rule, state, draft, target, slot + 1)


def astray(rule: Any, state: Any, draft: Any, target: Any, slot: int) -> tuple:
    """The state follows another token than the sequence's."""
    found, carry = flow(rule, state, draft, target, slot)
    return found, lambda token: carry(1 - token)


def kept_only(rule: Any, state: Any, draft: Any, target: Any, slot: int) -> tuple:
    """Corrections go on in the round as if they were kept."""
    found, carry = flow(rule, state, draft, target, slot)
    return Flow(found.law, 0 * found.corrected), carry


def unscaled(slots: list, target: Any, tokens: Any) -> Any:
    """The chances of the rounds are those before the sequence's own tokens were seen."""
    found = masses_along(slots, target, tokens)
    return found._replace(alive=found.alive[:1] + 0 * found.alive)


MUTANTS = {
    "no bonus": (masses, "slots_along", no_bonus, UNIFORM),
    "the last position drafted": (paths, "laws_along", to_the_end, UNIFORM),
    "state not carried: ledger": (rounds, "flow", forgetful, CARRYING),
    "state not carried: block": (rounds, "flow", forgetful, JOINT),
    "state of another token": (rounds, "flow", astray, CARRYING),
    "slot number off by one": (rounds, "flow", early, COOLING),
    "slot number off by one: ledger": (rounds, "flow", early, CARRYING),
    "corrected counted as kept": (rounds, "flow", kept_only, COOLING),
    "rounds of another sequence": (masses, "masses_along", unscaled, COOLING),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mistake_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, attribute, mistake, rule = MUTANTS[name]
    assert laws_agree(CASE, rule)
    monkeypatch.setattr(module, attribute, mistake)
    assert not laws_agree(CASE, rule)
