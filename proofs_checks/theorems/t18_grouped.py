"""T18: grouped acceptance (GSD): what a true partition guarantees, and what overlapping windows lose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t18_mutants import likeliest_first, only_strict, own_mass, redrawn_from_target
from proofs_checks.theorems.t18_proofs import fits, one_group, shared
from proofs_checks.theorems.t18_windows import WINDOWS, by_windows, kept, strictly
from proofs_checks.theorems.t20_rules import judge
from specsim import Optimal, Partitioned, Strict, optimal_residual
from specsim.arrays import Array, positive_part
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import Statement, equal, holds, implies

SIZES = OneOf((2, 3, 14))
RUNS = Domain({**PAIR, "width": SIZES}, cost=6)
SEARCHED = Domain({**PAIR, "width": OneOf((2, 3))})
MERGED = Domain({**PAIR, "width": OneOf((1, 2)), "times": OneOf((2, 3))}, cost=5)


def runs(case: Case) -> list[Sequence[int]]:
    """Token ids in runs of `size`, least likely under the target first, ties by id."""
    order = sorted(range(case.vocab), key=lambda v: (case.target[v], v))
    return [order[start : start + case.width] for start in range(0, case.vocab, case.width)]


def not_below_strict(case: Case, made: Callable[[int], Any]) -> Fraction:
    """E_q[b] - (1 - TV)."""
    return kept(made(case.width), case) - strictly(case)


def by_group(case: Case, made: Callable[[int], Any]) -> Fraction:
    """E_q[b] = sum over runs of min(P(C), Q(C))."""
    least_masses = (min(case.target[run].sum(), case.draft[run].sum()) for run in runs(case))
    return equal(kept(made(case.width), case), sum(least_masses, Fraction(0)))


def merged(case: Case, made: Callable[[int], Any]) -> Fraction:
    """Runs joined whole keep no less."""
    return kept(made(case.width * case.times), case) - kept(made(case.width), case)


def longer(case: Case, made: Callable[[int], Any]) -> Fraction:
    """Runs longer by one, which are cut elsewhere, keep no less."""
    return kept(made(case.width + 1), case) - kept(made(case.width), case)


def on_line(case: Case, made: Callable[[int], Any]) -> Fraction:
    """P(reject) + TV(out, p) = TV(p, q)."""
    return equal(judge(made(case.width), case).distance, Fraction(0))


def wastes_nothing(case: Case, made: Callable[[int], Any]) -> Fraction:
    """TV(out, p) = N(b), the least that b allows."""
    found = judge(made(case.width), case)
    return equal(found.tv, positive_part(case.draft * found.accept - case.target).sum())


def same_law(case: Case, made: Callable[[int], Any]) -> Fraction:
    """The effective replacement is norm[p - q b]+, where there is a refusal."""
    found = judge(made(case.width), case)
    best = optimal_residual(case.draft, case.target, found.accept)
    return implies(found.reject > 0, equal(found.residual, best))


def bars(case: Case, made: Callable[[int], Any]) -> dict[str, Array]:
    """p, q, b, what comes out."""
    found = judge(made(case.width), case)
    return {"target": case.target, "draft": case.draft, "accept": found.accept, "out": found.out}


PARTS = (
    Part(
        Statement("Partitioned(size) accepts at least E_q[b] = 1 - TV(p, q)", RUNS, not_below_strict, Partitioned),
        proof=Proof(EVERY, one_group),
    ),
    Part(
        Statement(
            "Partitioned(size) accepts E_q[b] = sum over its runs C of min(P(C), Q(C))", RUNS, by_group, Partitioned
        ),
        proof=Proof(EVERY, shared),
    ),
    Part(
        Statement(
            "joining runs never lowers acceptance: Partitioned(k size) accepts no less than Partitioned(size)",
            MERGED,
            merged,
            Partitioned,
        ),
        proof=Proof(EVERY, one_group),
    ),
    Part(
        Statement(
            "longer runs accept at least as much: Partitioned(size + 1) as Partitioned(size), size 2 or 3",
            SEARCHED,
            longer,
            Partitioned,
        ),
        stated=FAILS,
        claimed="folklore: coarser groups relax more; but the runs are cut elsewhere",
    ),
    *WINDOWS,
    Part(
        Statement(
            "Partitioned(size), size 2 or 3, is on the Pareto line, P(reject) + TV(out, p) = TV(p, q)",
            SEARCHED,
            on_line,
            Partitioned,
            shows=bars,
        ),
        stated=FAILS,
        claimed="folklore: it accepts as often as a strict rule on the groups",
    ),
    Part(
        Statement(
            "overlapping windows of 2 or 3 ranks are on the Pareto line, P(reject) + TV(out, p) = TV(p, q)",
            SEARCHED,
            on_line,
            by_windows,
            shows=bars,
        ),
        stated=FAILS,
        claimed="folklore",
    ),
    Part(
        Statement(
            "norm[p - q]+ is an optimal replacement for Partitioned(size), TV(out, p) = sum [q b - p]+, though b "
            "is below strict at some tokens: P(reject) <= TV(p, q) is enough",
            RUNS,
            wastes_nothing,
            Partitioned,
            shows=bars,
        ),
        proof=Proof(EVERY, fits),
    ),
    Part(
        Statement(
            "norm[p - q]+ is the same law as G* = norm[p - q b]+ of Partitioned(size), size 2 or 3, where it refuses",
            SEARCHED,
            same_law,
            Partitioned,
            shows=bars,
        ),
        stated=FAILS,
        claimed="CSD (arXiv 2606.27829), Theorem 3.1, without its hypothesis b >= min(1, p/q)",
    ),
    Part(
        Statement(
            "norm[p - q]+ is an optimal replacement for overlapping windows of 2 or 3 ranks: TV(out, p) = "
            "sum [q b - p]+",
            SEARCHED,
            wastes_nothing,
            by_windows,
            shows=bars,
        ),
        stated=FAILS,
        claimed="folklore: the replacement of the released code",
    ),
    Part(
        Statement(
            "with the optimal replacement Partitioned(size), size 2 or 3, is on the Pareto line",
            SEARCHED,
            on_line,
            lambda size: Optimal(Partitioned(size)),
            shows=bars,
        ),
        stated=FAILS,
        claimed="folklore: G* repairs what is wasted; not what b refuses below strict",
    ),
)
NO_WASTE = next(n for n, part in enumerate(PARTS, 1) if "optimal replacement for Partitioned" in part.statement.text)

T18 = Theorem(
    "T18",
    "Grouped acceptance: never below strict on a true partition, below it with overlapping windows, off the line both",
    "GSD (arXiv 2508.07747), its theorem, for partitions; the refutations for windows are shown here",
    parts=PARTS,
    mutants=(
        Mutant("windows around each token instead of runs", by_windows, 1),
        Mutant("a token's own ratio times that of its run", own_mass, 1),
        Mutant("runs cut from the likeliest token on", likeliest_first, 2),
        Mutant("groups of one", only_strict, 2),
        Mutant("windows around each token instead of runs", by_windows, 3),
        Mutant("windows around each token instead of runs", by_windows, NO_WASTE),
        Mutant("the replacement drawn from p", redrawn_from_target, NO_WASTE),
        Mutant("a token's own ratio times that of its run", own_mass, 3),
    ),
    weakened=(
        Weakened(
            Statement(
                "Partitioned(size) accepts more than 1 - TV(p, q)",
                RUNS,
                lambda case, made: holds(not_below_strict(case, made) > 0),
                Partitioned,
            )
        ),
        Weakened(
            Statement(
                "Partitioned(size) accepts at most 1 - TV(p, q)",
                RUNS,
                lambda case, made: -not_below_strict(case, made),
                Partitioned,
            )
        ),
        Weakened(
            Statement(
                "Partitioned(size) keeps every token at least as often as the strict rule",
                RUNS,
                lambda case, made: (judge(made(case.width), case).accept - judge(Strict(), case).accept).min(),
                Partitioned,
            )
        ),
    ),
)
