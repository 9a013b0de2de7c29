"""T30: relaxed rules inside trees of drafts: which bounds of one draft hold of siblings, and what G* is worth there."""

from __future__ import annotations

from proofs_checks.several.relaxed import in_turn
from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import Mutant, Part, Theorem, Weakened
from proofs_checks.theorems import t30_domains as over
from proofs_checks.theorems import t30_margins as bound
from proofs_checks.theorems import t30_proofs as proofs
from proofs_checks.theorems import t30_residuals as best
from proofs_checks.theorems import t30_rules as rule
from proofs_checks.theorems.t02_optimal_residual import coordinate, room
from proofs_checks.theorems.t19_runs import kept_at_most
from proofs_checks.theorems.t29_margins import limit
from proofs_checks.theorems.t30_false import BOUNDS, INSIDE
from proofs_checks.theorems.t30_rules import as_it_is, released
from specsim import Optimal
from specsim.rules import Additive, AdditiveUnmasked
from specsim.testing.statements import Statement

BY_SIBLING = "one sibling more, every V"

T30 = Theorem(
    "T30",
    "Relaxed rules inside trees of drafts: which bounds of one draft hold of siblings, and what G* is worth there",
    "the recursion of SpecInfer (arXiv 2305.09781) and EAGLE (2401.15077) with the rules of T16, T17 and T19; the "
    "bounds are new",
    parts=(
        Part(
            Statement(
                "the tree decoder judges each sibling against what the rule left: its law and its acceptance are those "
                "of the recursion, any rule",
                *(over.DECODED, bound.agrees, in_turn),
            )
        ),
        Part(
            Statement(
                "any rule: P(a draft is kept) <= the limit of so many drafts (T28) + TV(out, p)",
                *(over.LINE, bound.above_line, limit),
            ),
            proof=Proof(EVERY, proofs.line, step=True),
        ),
        Part(
            Statement(
                "b >= min(1, p/q): TV(out, p) <= TV(p, q) with any siblings, whatever a refusal leaves",
                *(over.FREE, bound.no_farther, as_it_is),
            ),
            proof=Proof(EVERY, proofs.draft),
        ),
        Part(
            Statement(
                "CSD, any siblings, with or without its mask: TV(out, p) <= delta",
                *(over.FILTERED, bound.within, lambda delta: delta),
            ),
            proof=Proof(BY_SIBLING, lambda: [*proofs.draft(), *proofs.filtered()], step=True),
        ),
        Part(
            Statement(
                "lenience, COOL-SD and LANTERN++ with G*, any siblings: out(v) <= w p(v), so TV(out, p) <= 1 - 1/w",
                *(over.FACTORS, bound.ratio, rule.made),
            ),
            proof=Proof(BY_SIBLING, proofs.at_most_one, step=True),
        ),
        Part(
            Statement(
                "a run of N tokens under lenience, a tree of depth D: out <= w^k target, k = N - ceil(N / (D + 1)) "
                "(the same two laws at every position)",
                *(over.RUNS, bound.run_ratio, kept_at_most),
            ),
            proof=Proof("one node, every V", proofs.runs, step=True),
        ),
        Part(
            Statement(
                "rules that emit nothing off the target's support (T21) emit nothing there with siblings",
                *(over.SUPPORT, bound.off_support, as_it_is),
            ),
            proof=Proof(BY_SIBLING, proofs.support, step=True),
        ),
        Part(
            Statement(
                "LANTERN with G*, W siblings: out(v) <= p(v) + 1 - (1 - delta)^W",
                *(over.BUDGETS, bound.shifted, (Optimal, bound.compound)),
            ),
            proof=Proof(BY_SIBLING, proofs.compounded, step=True),
        ),
        Part(
            Statement(
                "the constant is the best: LANTERN with G* has out = 1 - (1 - delta)^W at token 0 of p = (0, delta, "
                "1 - delta), q = (1, 0, 0), and Addition without a mask the like at p = (0, 1), q = (1, 0)",
                *(over.BEST_BUDGET, bound.reached, bound.compound),
            )
        ),
        Part(
            Statement(
                "LANTERN++ as released, W siblings: out(v) <= (W lam + 1) p(v)",
                *(over.MULTIPLES, bound.multiple, (released, bound.widened)),
            ),
            proof=Proof(BY_SIBLING, proofs.put_back_again, step=True),
        ),
        Part(
            Statement(
                "and 2 lam + 1 is the best constant of two for lam > 1: out/p >= (2 lam + 1)(1 - t) at a token of mass "
                "t^2, 0 < t <= min(1/20, lam - 1), lam <= 4",
                *(over.NEARED, bound.neared, (released, bound.widened)),
            )
        ),
        Part(
            Statement(
                "Addition, W siblings: TV(out, p) <= 1 - (1 - epsilon)^W",
                *(over.ADDED, bound.added, (Additive, bound.compound)),
            ),
            proof=Proof(BY_SIBLING, lambda: [*proofs.draft(), *proofs.losses_compound()], step=True),
        ),
        Part(
            Statement(
                "Addition, independent siblings: out(v) <= p(v) + epsilon q(v), so TV(out, p) <= epsilon",
                *(over.AGAIN, bound.added_once, Additive),
            ),
            proof=Proof(BY_SIBLING, lambda: [*proofs.one_addition(), *proofs.added_once()], step=True),
        ),
        Part(
            Statement(
                "b >= min(1, p/q) and G*: no fewer drafts are kept than by Strict, any siblings",
                *(over.STRICT_LEFT, bound.no_fewer, as_it_is),
            ),
            proof=Proof(BY_SIBLING, proofs.as_strict, step=True),
        ),
        Part(
            Statement(
                "LANTERN++, one child a node: as many are kept with G* as with the released residual, and TV(out, p) "
                "is no larger",
                *(best.CHILDREN, best.against_released(best.same_at_no_more_bias), Optimal),
            ),
            proof=Proof(EVERY, lambda: [*coordinate(), *room()]),
        ),
        Part(
            Statement(
                "LANTERN++, V = 2, two siblings: G* and the released residual are one",
                *(best.OF_TWO, best.against_released(best.one_law), Optimal),
            ),
            proof=Proof("one refusal, V = 2", proofs.two_tokens, step=True),
        ),
        Part(
            Statement(
                "LANTERN++, V = 3, two siblings: with G* no more are kept and TV(out, p) is no larger",
                *(best.OF_THREE, best.against_released(best.no_more_of_both), Optimal),
            ),
            proof=Proof("what is left, strict acceptance", proofs.mixture, step=True),
        ),
        *BOUNDS,
        *INSIDE,
    ),
    mutants=(
        Mutant("siblings drawn as if none had been refused", bound.as_independent, 1),
        Mutant("a sibling forgotten", bound.one_fewer, 1),
        Mutant("the limit of one draft", bound.of_one, 2),
        Mutant("the limit of a draft fewer", bound.of_fewer, 2),
        Mutant("half of what they keep, then any token", rule.seldom, 3),
        Mutant("a filter at 2 delta", lambda delta: 2 * delta, 4),
        Mutant("LANTERN++ as released", rule.without_best, 5),
        Mutant("the factor is one more", rule.stronger, 5),
        Mutant("the draft is left", rule.leaving_draft, 5),
        Mutant("one token fewer", lambda length, depth: kept_at_most(length, depth) - 1, 6),
        Mutant("the exponent of a chain of one", lambda length, depth: kept_at_most(length, 1), 6),
        Mutant("Addition without a mask", lambda one: AdditiveUnmasked(0.4), 7),
        Mutant("any token after a refusal", rule.seldom, 7),
        Mutant("delta", (Optimal, bound.of_a_draft), 8),
        Mutant("with the released residual", (as_it_is, bound.compound), 8),
        Mutant("W delta", lambda share, count: share * count, 9),
        Mutant("delta, once", bound.of_a_draft, 9),
        Mutant("lam + 1", (released, bound.as_of_one), 10),
        Mutant("with G*", (lambda lam: Optimal(released(lam)), bound.widened), 11),
        Mutant("3 lam + 1", (released, lambda lam, count: bound.widened(lam, count + 1)), 11),
        Mutant("2 epsilon is added", (lambda epsilon: Additive(2 * epsilon), bound.compound), 12),
        Mutant("half of the bound", (Additive, lambda share, count: bound.compound(share, count) / 2), 12),
        Mutant("Addition without a mask, independent", AdditiveUnmasked, 13),
        Mutant("half of what they keep", rule.seldom, 14),
        Mutant("LANTERN++ as released, kept", bound.best_released, 14),
        Mutant("any token after a refusal, one child", rule.seldom, 15),
        Mutant("Strict, one child", rule.strictly, 15),
        Mutant("any token after a refusal, V = 2", rule.seldom, 16),
        Mutant("Strict, V = 2", rule.strictly, 16),
        Mutant("any token after a refusal, V = 3", rule.seldom, 17),
        Mutant("a larger budget with G*, V = 3", rule.budgeted, 17),
    ),
    weakened=(
        Weakened(
            Statement("any rule at all: TV(out, p) <= TV(p, q)", over.LINE, bound.no_farther, as_it_is),
        ),
        Weakened(
            Statement(
                "lenience, COOL-SD and LANTERN++ with G*, any siblings: out(v) <= (w + 1)/2 p(v)",
                *(over.FACTORS, bound.half_ratio, rule.made),
            )
        ),
        Weakened(
            Statement(
                "LANTERN++ as released, W siblings: out(v) <= W lam p(v)",
                *(over.MULTIPLES, bound.multiple, (released, lambda lam, count: count * lam)),
            )
        ),
        Weakened(
            Statement(
                "Addition without a mask, W siblings: TV(out, p) <= 1 - (1 - epsilon)^W",
                *(over.ADDED, bound.added, (AdditiveUnmasked, bound.compound)),
            ),
            equivalent="the mask is not used: what is kept is at most epsilon q more, and later ones lose as much",
        ),
        Weakened(
            Statement(
                "LANTERN++, V = 3, two siblings: as many are kept with G* as with the released residual",
                *(best.OF_THREE, best.against_released(best.as_many), Optimal),
            )
        ),
    ),
)
