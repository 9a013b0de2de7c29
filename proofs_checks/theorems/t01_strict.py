"""T01: strict verification is lossless, for one token and for whole runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.symbolic import by_source
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t01_mutants import (
    RULES,
    SharperDrafts,
    Tampered,
    altered,
    bonus_from_draft,
    residual_of_slot_before,
    same,
)
from proofs_checks.theorems.t01_proofs import one_slot, one_token
from specsim import Chain, Jacobi, Law, RelaxedBonus, Strict, exact, output_law
from specsim.arrays import normalise, total_variation
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import LawField, ModelField, OneOf, Shape
from specsim.testing.statements import Statement, implies

Run = Callable[[Case], Law]
ENDS = OneOf((None, 0, 1))
CHAINS = {**MODELS, "decoder": OneOf((Chain(1), Chain(2), Chain(3))), "eos": ENDS}
BONUSES = {**MODELS, "decoder": OneOf((RelaxedBonus(1), RelaxedBonus(2))), "eos": ENDS}
WINDOWS = {
    "target": ModelField(),
    "decoder": OneOf((Jacobi(1), Jacobi(2), Jacobi(3), Jacobi(2, tail="onehot"))),
    "eos": ENDS,
}
RUN_COST = 8
"""A whole run takes 5 to 20 ms."""


def token_off(case: Case, rule: Any) -> Fraction:
    """-TV(out, p) of one verified token."""
    return -total_variation(output_law(rule, case.draft, case.target, np.array(0)), case.target)


def run_off(case: Case, run: Run) -> Fraction:
    """-TV(law of the run, law of plain decoding)."""
    return -run(case).tv(case.target)


def possible(case: Case) -> bool:
    """The end of a sequence is a token of the vocabulary."""
    return case.eos is None or case.eos < case.vocab


def running(rule: Any = None, tamper: Callable[[Any], Any] = same) -> Run:
    """The law of a case's decoder; with another rule than Strict(), or of a tampered decoder."""

    def run(case: Case) -> Law:
        decoder = tamper(case.decoder)
        return exact(decoder, case.target, case.draft if decoder.needs_draft else None, rule, eos=case.eos)

    return run


def sharper(decoder: Any) -> Tampered:
    """With drafts drawn at half the temperature of their law."""
    return Tampered(decoder, choose=SharperDrafts)


def verified(alter: Callable[[Any, Any], Any]) -> Callable[[Any], Tampered]:
    """With altered blocks."""
    return lambda decoder: Tampered(decoder, verify=altered(alter))


def kept_law(case: Case, rule: Any) -> Fraction:
    """-TV(law of the drafted token given that it is kept, p); nothing kept, nothing to compare."""
    kept = case.draft * rule(case.draft, case.target, np.array(0)).accept
    return implies(kept.sum() > 0, -total_variation(normalise(kept, case.target), case.target))


def replaced(case: Case, rule: Any) -> Fraction:
    """-TV(out, p) where refused tokens are replaced from `residual`."""
    kept = case.draft * rule(case.draft, case.target, np.array(0)).accept
    return -total_variation(kept + (1 - kept.sum()) * case.residual, case.target)


def among_wanted(case: Case) -> bool:
    """The replacement has its support among the tokens with p > q."""
    return bool(((case.target > case.draft) | (case.residual == 0)).all())


def drawn_from_another(case: Case, rule: Any) -> Fraction:
    """-TV(out, p) where the token is drawn from `drawn` and verified as if from `draft`."""
    accept, residual = rule(case.draft, case.target, np.array(0))
    kept = case.drawn * accept
    return -total_variation(kept + (1 - kept.sum()) * residual, case.target)


def faithful(case: Case) -> bool:
    """Weaker than drawn == draft: they have the same support."""
    return bool(((case.drawn > 0) == (case.draft > 0)).all())


SLOT = Proof(
    "one slot of a run, every V; slots and rounds by induction", lambda: [*one_token(), *one_slot()], step=True
)
ONE = "the token that strict verification puts out has the target's law: TV(out, p) = 0"
SMALL = Statement(f"{ONE}, by the source of Strict and output_law", Domain(PAIR, (1, 2, 3)), token_off, Strict())


def whole_runs(of: str, fields: dict[str, Any], lengths: tuple[int, ...] = (2, 3)) -> Statement:
    """TV = 0 for every decoder and end of sequence of the domain."""
    domain = Domain(fields, (1, 2, 3), lengths, possible, RUN_COST)
    text = f"{of} with strict verification has the law of plain decoding, with and without an end of sequence: TV = 0"
    return Statement(text, domain, run_off, running())


T01 = Theorem(
    "T01",
    "Strict verification is lossless, token by token and run by run",
    "Leviathan et al. 2023 (arXiv 2211.17192), Chen et al. 2023 (arXiv 2302.01318); SJD (arXiv 2410.01699) for windows",
    parts=(
        Part(Statement(ONE, Domain(PAIR), token_off, Strict()), proof=Proof(EVERY, one_token)),
        Part(SMALL, proof=by_source(SMALL, Shape(1, 1), Shape(2, 1), Shape(3, 1))),
        Part(whole_runs("a chain of L drafts", CHAINS), proof=SLOT),
        Part(whole_runs("a chain whose bonus is drafted and verified too", BONUSES), proof=SLOT),
        Part(whole_runs("a Jacobi window with independent redraws", WINDOWS)),
        Part(
            Statement("a drafted token, given that it is kept, has the target's law", Domain(PAIR), kept_law, Strict()),
            stated=FAILS,
            claimed="folklore; kept tokens have the law norm[min(p, q)]",
        ),
        Part(
            Statement(
                "b = min(1, p/q) is lossless with every replacement law that has its support where p > q",
                Domain({**PAIR, "residual": LawField()}, where=among_wanted),
                replaced,
                Strict(),
            ),
            stated=FAILS,
            claimed="folklore; the support is right, the weights matter too",
        ),
    ),
    mutants=(
        *(Mutant(name, rule, 1) for name, rule in RULES.items()),
        Mutant("the residual of the slot before", running(tamper=verified(residual_of_slot_before)), 3),
        Mutant("the bonus from the draft's last law", running(tamper=verified(bonus_from_draft)), 3),
        Mutant("the residual of the slot before, drafted bonus", running(tamper=verified(residual_of_slot_before)), 4),
        Mutant("a refused window token replaced from the target", running(RULES["residual from the target"]), 5),
        Mutant("window redraws at half the temperature of their law", running(tamper=sharper), 5),
    ),
    weakened=(
        Weakened(
            Statement(
                "TV(out, p) = 0 also where the token is drawn from another law than the one it is verified against",
                Domain({**PAIR, "drawn": LawField()}),
                drawn_from_another,
                Strict(),
            )
        ),
        Weakened(
            Statement(
                "TV(out, p) = 0 where the token is drawn from another law with the support of q",
                Domain({**PAIR, "drawn": LawField()}, where=faithful),
                drawn_from_another,
                Strict(),
            )
        ),
        Weakened(
            Statement(
                "b = min(1, p/q) is lossless with every replacement law",
                Domain({**PAIR, "residual": LawField()}),
                replaced,
                Strict(),
            )
        ),
    ),
)
