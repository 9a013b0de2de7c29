"""Runs under lenience: the whole sequence against the target's."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from specsim import Chain, Law, Lenient, Table, exact
from specsim.arrays import Array
from specsim.laws import kl_divergence, target_mass
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import Field, OneOf
from specsim.testing.statements import equal

Exponent = Callable[[int, int], int]
CHAINS = OneOf((Chain(1), Chain(2)))
BELOW_AND_ABOVE = OneOf((Fraction(1, 2), Fraction(3, 2), Fraction(2)))
ABOVE = OneOf((Fraction(3, 2), Fraction(2)))
RUNS = Domain({**MODELS, "omega": BELOW_AND_ABOVE, "decoder": CHAINS}, vocabs=(2,), lengths=(2, 3, 4), cost=10)
# The same two laws at every position: few enough to be listed.
SAME: dict[str, Field] = {**PAIR, "omega": ABOVE, "decoder": CHAINS}
REPEATED = Domain(SAME, vocabs=(1, 2), lengths=(1, 2, 3), cost=2, highest={1: 2, 2: 3})


def reached(case: Case) -> Array:
    """The tokens with q >= omega p > 0, [V] of True or False."""
    return (case.target > 0) & (case.draft >= case.omega * case.target)


REACHED = Domain(
    SAME, vocabs=(2, 3), lengths=(2, 3, 4), where=lambda case: bool(reached(case).any()), cost=12, highest={2: 2, 3: 1}
)


def at_least_one(omega: Fraction) -> Fraction:
    """max(1, omega)"""
    return max(Fraction(1), omega)


def kept_at_most(length: int, lookahead: int) -> int:
    """N - ceil(N / (L + 1)): the tokens of a run that can be kept drafts."""
    return length - -(-length // (lookahead + 1))


def run(case: Case) -> tuple[Law, Array]:
    """The law of a whole run, and the target's masses."""
    law = exact(case.decoder, case.target, case.draft, Lenient(case.omega))
    return law, target_mass(case.target, case.length)


def run_bound(case: Case, exponent: Exponent) -> Fraction:
    """max(1, omega) to the exponent."""
    return at_least_one(case.omega) ** exponent(case.length, case.decoder.lookahead)


def run_ratio(case: Case, exponent: Exponent) -> Fraction:
    """out <= max(1, omega)^k target for every sequence."""
    law, target = run(case)
    return (run_bound(case, exponent) * target - law.mass).min()


def run_divergence(case: Case, exponent: Exponent) -> float:
    """KL(out || target) <= k log max(1, omega)."""
    law, target = run(case)
    return math.log(run_bound(case, exponent)) - kl_divergence(law.mass, target)


def repeated(case: Case) -> tuple[Law, Array]:
    """A run on models with one law for every position."""
    count = sum(case.vocab**n for n in range(case.length))
    target, draft = (Table(np.stack([law] * count), case.length) for law in (case.target, case.draft))
    return exact(case.decoder, target, draft, Lenient(case.omega)), target_mass(target, case.length)


def run_by_token(case: Case, bound: Callable[[Fraction], Fraction]) -> Fraction:
    """out <= omega target for every sequence."""
    law, target = repeated(case)
    return (bound(case.omega) * target - law.mass).min()


def run_divergence_by_token(case: Case, bound: Callable[[Fraction], Fraction]) -> float:
    """KL(out || target) <= log omega."""
    law, target = repeated(case)
    return math.log(bound(case.omega)) - kl_divergence(law.mass, target)


def run_reaches(case: Case, exponent: Exponent) -> Fraction:
    """out = omega^k target for the sequence of N equal tokens with q >= omega p > 0."""
    law, target = repeated(case)
    token = int(np.argmax(reached(case)))
    sequence = sum(token * case.vocab**n for n in range(case.length))
    return equal(law.mass[sequence], run_bound(case, exponent) * target[sequence])


def pick(omega: Fraction) -> Fraction:
    """omega itself."""
    return omega
