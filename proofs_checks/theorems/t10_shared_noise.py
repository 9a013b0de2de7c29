"""T10: two races with one noise: the chance that they agree, its bounds and when they are met, and whole runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t09_joint_laws import CHANGE, Formula, Joint, keeps_laws, maximal_joint, overlap, race_joint
from proofs_checks.theorems.t10_formulas import agreement, common_only, jaccard, least_for_most, zeros_skipped
from proofs_checks.theorems.t10_proofs import above, below, event, segment, two_tokens
from proofs_checks.theorems.t10_runs import MarkovField, ends_law
from specsim import Jacobi, exact
from specsim.couplings import Redraw, gumbel, independent, maximal
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import LawField, OneOf
from specsim.testing.statements import Statement, equal, holds

PAIRS = Domain(CHANGE, cost=3)
PARTLY = Domain(CHANGE, where=lambda case: 0 < overlap(case.old, case.new) < 1)
RACED = Domain(CHANGE, vocabs=(1, 2, 3), cost=10)
"""Exact regions of the noise: V <= 3."""
TWO = Domain(CHANGE, vocabs=(1, 2), cost=2)
TWICE = Domain({**CHANGE, "last": LawField()}, vocabs=(1, 2, 3), cost=20)
RUNS = Domain({"target": MarkovField()}, vocabs=(2,), lengths=(3, 4), highest={2: 2}, cost=15)
BOTH_TAILS = Domain({**RUNS.fields, "tail": OneOf(("uniform", "onehot"))}, (2,), (4,), highest={2: 2}, cost=40)
LATER = Domain({"target": MarkovField(2)}, vocabs=(2,), lengths=(4,), highest={2: 0}, cost=3)
"""Laws of the last two tokens: drawn, not listed."""
Ratios = Callable[[set[Fraction | None]], bool]


def agrees(case: Case, formula: Formula) -> Fraction:
    """X ~ old, Y ~ new and P(X = Y) is the formula."""
    joint = race_joint(case.old, case.new)
    return min(keeps_laws(joint, case), equal(np.trace(joint), formula(case.old, case.new)))


def ratios(case: Case) -> set[Fraction | None]:
    """The values of new/old over the tokens that either law gives; None is infinity."""
    pairs = [(p, q) for p, q in zip(case.new, case.old, strict=True) if p + q > 0]
    return {p / q if q > 0 else None for p, q in pairs}


def at_least(case: Case, formula: Formula) -> Fraction:
    """agreement - formula."""
    return agreement(case.old, case.new) - formula(case.old, case.new)


def at_most(case: Case, formula: Formula) -> Fraction:
    """formula - agreement."""
    return -at_least(case, formula)


def meets_lower(case: Case, condition: Ratios) -> Fraction:
    """agreement = (1 - TV) / (1 + TV) iff the ratios are such."""
    return holds((at_least(case, jaccard) == 0) == condition(ratios(case)))


def meets_upper(case: Case, condition: Ratios) -> Fraction:
    """agreement = 1 - TV iff the ratios are such."""
    return holds((at_most(case, overlap) == 0) == condition(ratios(case)))


def is_maximal(case: Case, coupling: Joint) -> Fraction:
    """P(X = Y) = 1 - TV."""
    return equal(np.trace(coupling(case.old, case.new)), overlap(case.old, case.new))


def same_joint(case: Case, coupling: Joint) -> Fraction:
    """The whole joint law is that of the maximal redraw."""
    return equal(coupling(case.old, case.new), maximal_joint(case.old, case.new))


def forgets_between(case: Case, redraw: Redraw) -> Fraction:
    """First and last token of two redraws are coupled as by one race under `last`."""
    return equal(ends_law(redraw, case.old, case.new, case.last), race_joint(case.old, case.last))


def saves_calls(case: Case, names: tuple[str, str]) -> Fraction:
    """Expected target calls of the second coupling less those of the first, in a window of three, uniform tail."""
    first, second = (exact(Jacobi(3, name), case.target).calls for name in names)
    return Fraction(second - first)


def same_calls(case: Case, names: tuple[str, str]) -> Fraction:
    """Neither saves any."""
    return -abs(saves_calls(case, names))


def same_call_law(case: Case, window: int) -> Fraction:
    """The law of the number of target calls is the same for every lossless coupling."""
    names = ("independent", "maximal", "gumbel")
    first, *others = (exact(Jacobi(window, name, case.tail), case.target).call_law for name in names)
    return holds(all(other == first for other in others))


T10 = Theorem(
    "T10",
    "Two races with one noise agree with probability sum_i 1 / sum_j max(p_j/p_i, q_j/q_i)",
    "Moulton and Jiang 2018 (arXiv 1809.04052); as a coupling: Daliri, Musco and Suresh 2024 (arXiv 2408.07978)",
    parts=(
        Part(
            Statement(
                "X ~ q and Y ~ p, and P(X = Y) = sum_i 1 / sum_j max(p_j/p_i, q_j/q_i), terms with p_i q_i = 0 being 0",
                RACED,
                agrees,
                agreement,
            ),
            proof=Proof("V = 2; at every V the event X = Y = i, not its volume", lambda: [*event(), *segment()]),
        ),
        Part(
            Statement("P(X = Y) >= (1 - TV) / (1 + TV)", PAIRS, at_least, jaccard),
            proof=Proof(EVERY, below),
        ),
        Part(
            Statement(
                "P(X = Y) = (1 - TV) / (1 + TV) iff p/q takes no value but 0, 1 and infinity",
                PAIRS,
                meets_lower,
                lambda values: values <= {Fraction(0), Fraction(1), None},
            ),
            proof=Proof(EVERY, below),
        ),
        Part(Statement("P(X = Y) <= 1 - TV", PAIRS, at_most, overlap), proof=Proof(EVERY, above)),
        Part(
            Statement(
                "P(X = Y) = 1 - TV iff p/q takes at most two values on the tokens that either law gives",
                PAIRS,
                meets_upper,
                lambda values: len(values) <= 2,
            ),
            proof=Proof(EVERY, above),
        ),
        Part(
            Statement("at V = 2 the joint law is that of the maximal redraw", TWO, same_joint, race_joint),
            proof=Proof("V = 2", two_tokens),
        ),
        Part(
            Statement(
                "redrawn twice, old to new to last, first and last token are coupled by one noise as if redrawn once",
                TWICE,
                forgets_between,
                gumbel,
            ),
        ),
        Part(
            Statement(
                "in a window of two all lossless couplings have one law of target calls",
                BOTH_TAILS,
                same_call_law,
                2,
            ),
        ),
        Part(
            Statement("P(X = Y) = 1 - TV(p, q)", RACED, is_maximal, race_joint),
            stated=FAILS,
            claimed="folklore: true at V = 2",
        ),
        Part(
            Statement(
                "P(X = Y) > (1 - TV) / (1 + TV) for 0 < TV < 1",
                PARTLY,
                lambda case, formula: holds(at_least(case, formula) > 0),
                jaccard,
            ),
            stated=FAILS,
            claimed="folklore: true at V = 2",
        ),
        Part(
            Statement(
                "at V = 2 shared noise needs the expected calls of the maximal coupling (window 3, uniform tail)",
                RUNS,
                same_calls,
                ("gumbel", "maximal"),
            ),
            stated=FAILS,
            claimed="'the same coupling at V = 2' read as a sentence on whole runs",
        ),
    ),
    mutants=(
        Mutant("min for max", least_for_most),
        Mutant("summed over common tokens only", common_only),
        Mutant("ratios with a zero below count as 0", zeros_skipped),
        Mutant("(1 - TV) / (1 + TV), the weighted MinHash", jaccard),
        Mutant("1 - TV as the lower bound", overlap, 2),
        Mutant("met as soon as all common ratios agree", lambda values: len(values - {Fraction(0), None}) <= 1, 3),
        Mutant("(1 - TV)^2 as the upper bound", lambda q, p: overlap(q, p) ** 2, 4),
        Mutant("met at V <= 2 only", lambda values: len(values) <= 1, 5),
        Mutant("a fresh token", lambda q, p: np.outer(q, p), 6),
        Mutant("redrawn by the maximal coupling", maximal, 7),
        Mutant("redrawn afresh", independent, 7),
        Mutant("in a window of three", 3, 8),
    ),
    weakened=(
        Weakened(Statement("P(X = Y) > (1 - TV) / (1 + TV)", PAIRS,
                           lambda case, f: holds(at_least(case, f) > 0), jaccard)),
        Weakened(Statement("P(X = Y) <= (1 - TV) / (1 + TV)", PAIRS, at_most, jaccard)),
        Weakened(Statement("P(X = Y) < 1 - TV", PAIRS, lambda case, f: holds(at_most(case, f) > 0), overlap)),
        Weakened(Statement("P(X = Y) >= 1 - TV", PAIRS, at_least, overlap)),
        Weakened(Statement("at any V <= 3 the joint law is that of the maximal redraw", RACED, same_joint, race_joint)),
        Weakened(Statement("at V = 2 shared noise needs no more expected calls than the maximal coupling", RUNS,
                           saves_calls, ("gumbel", "maximal"))),
        Weakened(Statement("at V = 2 the maximal coupling needs no more expected calls than shared noise", LATER,
                           saves_calls, ("maximal", "gumbel"))),
        Weakened(Statement("P(X = Y) >= 1 - 2 TV", PAIRS, at_least, lambda q, p: 2 * overlap(q, p) - 1),
                 "(1 - TV) / (1 + TV) >= 1 - 2 TV, as (1 - t) - (1 - 2 t)(1 + t) = 2 t^2"),
    ),
)  # fmt: skip
