"""What T22 says of a run: recursions for the expected calls, against the enumerated law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import Obligation, both, reals
from proofs_checks.theorems.blocks import Judge, accepted, by_rule, kept_in_strict, repeated, walk
from specsim import (
    Additive,
    Annealed,
    Cactus,
    CascadeOpt,
    Chain,
    Ensemble,
    Jacobi,
    Lenient,
    Strict,
    Table,
    Typical,
    exact,
)
from specsim.arrays import Array
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import LawField, ModelField, OneOf
from specsim.testing.statements import equal, holds

KEEP_ALL = CascadeOpt(alpha=1.0)
NOT_BELOW = (Strict(), Lenient(1.5), KEEP_ALL, Additive(0.25), Ensemble(0.5), Annealed(2.0, 0.7))
RULES = (*NOT_BELOW, Cactus(0.5), Typical())
RUN = Domain({**MODELS, "lookahead": OneOf((1, 2)), "rule": OneOf(RULES)}, (1, 2, 3), (1, 2, 3), cost=10)
SAME = Domain(
    {"target": ModelField(), "lookahead": OneOf((1, 2)), "rule": OneOf(NOT_BELOW)}, (1, 2, 3), (1, 2, 3), cost=10
)
"""The draft model is the target."""
LOOKING_AHEAD = Domain({**MODELS, "lookahead": OneOf((1, 2))}, vocabs=(1, 2), lengths=(2, 3, 4), cost=10)
JACOBI = (
    Jacobi(1),
    *(
        Jacobi(window, continuation, tail)
        for window in (2, 3)
        for continuation in ("independent", "maximal", "gumbel")
        for tail in ("uniform", "onehot")
    ),
)
WINDOWS = Domain({"target": LawField(), "decoder": OneOf(JACOBI)}, vocabs=(1, 2, 3), lengths=(3, 4), cost=10)
"""The same law at every position, N tokens."""
EQUAL = Domain({**PAIR, "lookahead": OneOf((1, 2))}, (1, 2, 3), (1, 2, 3), cost=10)
LATER_ON = Domain(
    {**PAIR, "rule": OneOf((Lenient(4.0), Ensemble(0.5), Ensemble(0.8)))},
    vocabs=(2,),
    lengths=(2, 3, 4, 5, 6),
    cost=6,
    highest={2: 2},
)
"""The laws of the second token; what follows depends on it alone."""
Recursion = Callable[[Judge, Table, Table, int], Fraction]


def per_start(values: Array, start: Array) -> Array:
    """Values [V**(n+i)] summed over what follows each prefix [V**n]."""
    return values.reshape(len(start), -1).sum(axis=1)


def recursion(judge: Judge, target: Table, draft: Table, lookahead: int, bonus: int = 1) -> Fraction:
    """C(y) = 1 + sum_z P(one call leads from y to z) C(z), 0 at N tokens; a call drafts min(L, N - n - 1) tokens.

    bonus: tokens after a block that is wholly kept.
    """
    length, vocab = target.length, target.vocab
    calls = [np.zeros(vocab**n, dtype=object) + Fraction(0) for n in range(length + 1)]
    for n in reversed(range(length)):
        one, size = calls[n] + 1, min(lookahead, length - n - 1)
        slots = walk(judge, target, draft, size, n, one)
        calls[n] = one
        for i, slot in enumerate(slots):
            calls[n] = calls[n] + per_start(slot.corrected * calls[n + i + 1], one)
        alive = slots[-1].after if slots else one
        if bonus or not slots:
            alive, size = (alive[:, None] * target.at_length(n + size)).reshape(-1), size + 1
        calls[n] = calls[n] + per_start(alive * calls[n + size], one)
    return calls[0][0]


def no_bonus(judge: Judge, target: Table, draft: Table, lookahead: int) -> Fraction:
    """Mutant: nothing is added to a block that is wholly kept."""
    return recursion(judge, target, draft, lookahead, bonus=0)


def never_resumed(judge: Judge, target: Table, draft: Table, lookahead: int) -> Fraction:
    """Mutant: no call follows a correction."""

    def refused(q: Array, p: Array, position: int, slot: int) -> tuple[Array, Array]:
        kept, _ = judge(q, p, position, slot)
        return kept, kept

    return recursion(refused, target, draft, lookahead)


def counted(case: Case, formula: Recursion) -> Fraction:
    """E[calls] of the decoder, enumerated."""
    law = exact(Chain(case.lookahead), case.target, case.draft, rule=case.rule)
    return equal(law.calls, formula(by_rule(case.rule), case.target, case.draft, case.lookahead))


def between(case: Case, least: Callable[[int, int], Fraction]) -> Fraction:
    """No run takes fewer than `least` calls or more than N."""
    law = exact(Chain(case.lookahead), case.target, case.draft, rule=case.rule)
    fewest, most = min(law.call_law), max(law.call_law)
    return min(fewest - least(case.length, case.lookahead), Fraction(case.length - most))


def surely(case: Case, count: Callable[[int, int], Fraction]) -> Fraction:
    """Every run takes so many calls; the draft is the target where the case names none."""
    draft = case.draft if "draft" in case.fields else case.target
    law = exact(Chain(case.lookahead), case.target, draft, rule=case.rule)
    return holds(law.call_law == {count(case.length, case.lookahead): 1})


def ceiling(length: int, lookahead: int) -> Fraction:
    """ceil(N/(L+1))"""
    return Fraction(-(-length // (lookahead + 1)))


def plain(case: Case, decoder: Any) -> Fraction:
    """N calls."""
    return holds(exact(decoder, case.target).call_law == {case.length: 1})


def longer(case: Case, rule: Any) -> Fraction:
    """One more draft a call does not cost calls."""
    judge = by_rule(rule)
    now, then = (recursion(judge, case.target, case.draft, case.lookahead + more) for more in (0, 1))
    return now - then


def later_on(case: Case) -> tuple[Table, Table]:
    """The first token is 0; while the second is 0 the draft agrees with the target for good, else it never does."""
    rows: list[tuple[Array, Array]] = []
    zero, one = (np.array([Fraction(v == token) for v in (0, 1)], dtype=object) for token in (0, 1))
    for n in range(case.length):
        for code in range(2**n):
            apart = n > 1 and code >> (n - 2) & 1
            rows.append((case.target, case.draft) if n == 1 else (zero, one if apart else zero))
    targets, drafts = zip(*rows, strict=True)
    return Table(np.stack(targets), case.length), Table(np.stack(drafts), case.length)


def chained(case: Case, lookahead: int) -> Fraction:
    """E[calls] of such a run."""
    target, draft = later_on(case)
    return exact(Chain(lookahead), target, draft, rule=case.rule).calls


def one_more(case: Case, calls: Callable[[Case, int], Fraction]) -> Fraction:
    """L = 2 does not cost more calls than L = 1."""
    return calls(case, 1) - calls(case, 2)


def window_calls(left: int, sure: int, window: int, alpha: Fraction) -> Fraction:
    """J(r, s) of r tokens left, s drafts that are surely kept: the others are new, each kept with probability alpha.

    J = 1 + sum_(k < w - s) alpha^k (1 - alpha) J(r - s - k - 1, w - s - k - 1) + alpha^(w - s) J(r - w - 1, 0),
    w = min(W, r), J = 0 for r <= 0: what follows a refused draft is redrawn from p and surely kept at the next call.
    """
    if left <= 0:
        return Fraction(0)
    size = min(window, left)
    spent = 1 + alpha ** (size - sure) * window_calls(left - size - 1, 0, window, alpha)
    for k in range(size - sure):
        done = sure + k + 1
        spent += alpha**k * (1 - alpha) * window_calls(left - done, size - done, window, alpha)
    return spent


def fresh_rate(case: Case) -> Fraction:
    """alpha of a new window position: 1 - TV(p, uniform), or 1/V with stored law one-hot."""
    uniform = case.target * 0 + Fraction(1, case.vocab)
    return kept_in_strict(uniform, case.target) if case.decoder.tail == "uniform" else Fraction(1, case.vocab)


def windows(case: Case, formula: Callable[[int, int, int, Fraction], Fraction]) -> Fraction:
    """E[calls] of Jacobi decoding, the same law at every position."""
    law = exact(case.decoder, repeated(case.target, case.length))
    return equal(law.calls, formula(case.length, 0, case.decoder.window, fresh_rate(case)))


def tails(case: Case, better: str) -> Fraction:
    """The other tail takes no fewer calls."""
    target = repeated(case.target, case.length)
    return exact(case.decoder, target).calls - exact(replace(case.decoder, tail=better), target).calls


def by_one_block(case: Case, formula: Callable[[int, Fraction], Fraction]) -> Fraction:
    """What tokens per call of an uncut block would make of a run, equal context-free laws."""
    target, draft = (repeated(law, case.length + case.lookahead) for law in (case.target, case.draft))
    law = exact(Chain(case.lookahead), target, draft, length=case.length)
    block = walk(by_rule(Strict()), target, draft, case.lookahead)
    return equal(law.calls, formula(case.length, accepted(block)))


def by_tokens_per_call(length: int, kept: Fraction) -> Fraction:
    """N/(E[accepted] + 1)"""
    return length / (kept + 1)


def forgetful(left: int, sure: int, window: int, alpha: Fraction) -> Fraction:
    """Mutant: redrawn drafts are no surer than new ones."""
    if left <= 0:
        return Fraction(0)
    size = min(window, left)
    spent = 1 + alpha**size * forgetful(left - size - 1, 0, window, alpha)
    return spent + sum(
        (alpha**k * (1 - alpha) * forgetful(left - k - 1, 0, window, alpha) for k in range(size)), Fraction(0)
    )


def always_bonus(left: int, sure: int, window: int, alpha: Fraction) -> Fraction:
    """Mutant: one token too many for a window that is wholly kept."""
    return window_calls(left - 1, sure, window, alpha) if left > window + 1 else window_calls(left, sure, window, alpha)


def merging() -> list[Obligation]:
    """Where calls start, with and without one draft more: start -> min(first refusal from there, start + L) + 1.

    On one path of tokens and refusals (m = the first refusal at or after n, m' >= m the one at or after n' >= n) the
    run with more drafts stays ahead; the path has the same law, as every token of a strict run has the target's.
    """
    n, ahead, m, later, size = reals("n n' m m' L")
    assume = [n >= 0, ahead >= n, m >= n, later >= ahead, later >= m, size >= 1]

    def end(refusal: Any, start: Any, drafts: Any) -> Any:
        import z3

        return z3.If(refusal < start + drafts, refusal, start + drafts) + 1

    return [Obligation("stays ahead", assume, both(end(later, ahead, size + 1) >= end(m, n, size)))]
