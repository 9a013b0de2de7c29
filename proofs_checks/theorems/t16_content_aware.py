"""T16: what CSD's filter and entropy term bound for one token, and what they do not bound for a run."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.smt import EVERY, Proof
from proofs_checks.symbolic import by_source
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t16_margins import (
    BOTH,
    DELTA,
    FIELDS,
    LAM,
    MASKED,
    ONE,
    UNMASKED,
    attained,
    bonus,
    bound_of,
    closest,
    emitted,
    exact_loss,
    exact_masked_loss,
    filtered,
    gap,
    least_of_both,
    passed,
    rational_loss,
    relaxed,
    saturated,
    support,
    variant,
    whole_draft,
)
from proofs_checks.theorems.t16_proofs import all_kept, bounded, excess, masked
from proofs_checks.theorems.t16_runs import compounded, enough, repeated, run_attains, run_below
from specsim import ContentAware, ContentAwareUnmasked
from specsim.arrays import entropy, total_variation
from specsim.rules.additive import masked as on_support
from specsim.testing.domains import MODELS, PAIR, Domain
from specsim.testing.fields import Field, NumberField, OneOf, Shape
from specsim.testing.statements import Statement

PER_NAT = Fraction(1.4426950408889634)
"""Bits in a nat, log2(e) as a float."""
RATIONAL = Statement(
    "for any bonus e from 0 to 2, unmasked: TV(out, p) = sum over q > p of min(q - p, e q), by the source",
    Domain({**PAIR, "bonus": NumberField(Fraction(0), Fraction(2))}, (1, 2, 3), cost=4),
    rational_loss,
    lambda accept, target: accept,
)
TIGHT: dict[str, Field] = {"share": DELTA, "lam": LAM, "delta": DELTA}
LOOKAHEADS = OneOf((1, 2, 3))

T16 = Theorem(
    "T16",
    "What CSD's filter and its entropy term bound: one token's TV, and not a run's",
    "the rule: CSD (arXiv 2606.27829); the bounds, their constants and the runs are new",
    parts=(
        Part(
            Statement(
                "CSD as published: TV(out, p) = sum over q > p of min(q - p, lam H(p) q) if TV(p, q) < delta, else 0",
                ONE,
                exact_loss,
                ContentAwareUnmasked,
            ),
            proof=Proof(EVERY, excess),
        ),
        Part(
            Statement(
                "CSD masked to p > 0: the same sum over p > 0 alone, and nothing is emitted where p = 0",
                Domain(FIELDS, (3, 4), cost=4),
                exact_masked_loss,
                ContentAware,
            ),
            proof=Proof(EVERY, masked),
        ),
        Part(RATIONAL, proof=by_source(RATIONAL, Shape(1, 1), Shape(2, 1))),
        Part(
            Statement(
                "TV(out, p) <= min(TV(p, q), lam H(p) q(q > p)) where TV(p, q) < delta, and 0 elsewhere, masked or not",
                BOTH,
                bound_of,
                closest,
            ),
            proof=Proof(EVERY, bounded),
        ),
        Part(
            Statement("TV(out, p) <= min(delta, lam H(p)), masked or not", BOTH, bound_of, least_of_both),
            proof=Proof(EVERY, bounded),
        ),
        Part(
            Statement(
                "TV(out, p) = min(t, lam H(p)) at p = (1 - t, t), q = (1, 0), t < delta: no smaller bound in delta and "
                "lam H(p) holds",
                Domain({**TIGHT, "form": OneOf((UNMASKED, MASKED))}, (2,), where=filtered, cost=5),
                attained,
                min,
            )
        ),
        Part(
            Statement(
                "where TV(p, q) < delta and lam H(p) >= 1, CSD as published is no verification: out = q",
                Domain(FIELDS, (2, 3), where=saturated, cost=10),
                whole_draft,
                ContentAwareUnmasked,
            ),
            proof=Proof(EVERY, all_kept),
        ),
        Part(
            Statement(
                "a chain's run of N tokens: TV <= 1 - (1 - m)^(N-1), m = min(delta, lam max H)",
                Domain({**MODELS, "lam": LAM, "delta": DELTA, "lookahead": LOOKAHEADS}, (2, 3), (2, 3), cost=20),
                run_below,
                compounded,
            )
        ),
        Part(
            Statement(
                "and it is attained: TV = 1 - (1 - t)^(N-1) for N tokens of p = (1 - t, t), q = (1, 0), "
                "t < delta, t <= lam H(p)",
                Domain(TIGHT, (2,), (1, 2, 3, 4), where=enough, cost=20),
                run_attains,
                lambda share, length: 1 - (1 - share) ** (length - 1),
            )
        ),
        Part(
            Statement(
                "CSD as published emits no token of target probability 0 where its filter is passed",
                Domain(FIELDS, (2, 3), where=relaxed, cost=3),
                support,
                ContentAwareUnmasked,
            ),
            stated=FAILS,
            claimed="the reading of a filter that guards quality (CSD)",
        ),
        Part(
            Statement(
                "the filter bounds the bias of a run: TV <= delta (lam .5, delta .35 as published, masked, independent "
                "tokens of the same two laws at every position, V <= 2, L <= 3)",
                Domain({**PAIR, "lookahead": LOOKAHEADS}, (1, 2), (1, 2, 3, 4), cost=4),
                repeated,
                ContentAware(),
            ),
            stated=FAILS,
            claimed="the reading of a filter that bounds the bias (CSD)",
        ),
    ),
    mutants=(
        Mutant("the filter is left out", variant(lambda some, q, p: some[0] * entropy(p)), 1),
        Mutant(
            "relaxed where TV(p, q) >= delta",
            variant(lambda some, q, p: some[0] * entropy(p) * (1 - passed(q, p, some[1]))),
            1,
        ),
        Mutant("the draft's entropy", variant(lambda some, q, p: some[0] * entropy(q) * passed(q, p, some[1])), 1),
        Mutant(
            "entropy in bits", variant(lambda some, q, p: PER_NAT * some[0] * entropy(p) * passed(q, p, some[1])), 1
        ),
        Mutant("no mask", ContentAwareUnmasked, 2),
        Mutant("the mask where it is not counted on", on_support, 3),
        Mutant("half of TV(p, q)", lambda case: closest(case) / 2, 4),
        Mutant("delta lam H(p)", lambda case: case.delta * bonus(case), 5),
        Mutant("the product t lam H(p)", lambda share, raised: share * raised, 6),
        Mutant("1 - (1 - t)^N", lambda share, length: 1 - (1 - share) ** length, 9),
        Mutant("N t", lambda share, length: length * share, 9),
    ),
    weakened=(
        Weakened(
            Statement(
                "TV(out, p) <= delta without the filter (p/q + lam H(p) everywhere)",
                ONE,
                lambda case, rule: case.delta - total_variation(emitted(case, rule), case.target),
                variant(lambda some, q, p: some[0] * entropy(p)),
            )
        ),
        Weakened(
            Statement(
                "TV(out, p) <= 3/4 min(delta, lam H(p))", BOTH, bound_of, lambda case: least_of_both(case) * 3 / 4
            )
        ),
        Weakened(
            Statement(
                "out = q where TV(p, q) < delta and lam H(p) >= 1/2",
                Domain(FIELDS, where=lambda case: gap(case) < case.delta and bonus(case) >= Fraction(1, 2), cost=4),
                whole_draft,
                ContentAwareUnmasked,
            )
        ),
        Weakened(
            Statement(
                "out = q for the masked form where TV(p, q) < delta and lam H(p) >= 1",
                Domain(FIELDS, where=saturated, cost=4),
                whole_draft,
                ContentAware,
            )
        ),
    ),
)
