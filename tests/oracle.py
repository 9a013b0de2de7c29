"""The one second implementation: decoders and rules as recursions over dicts of Fractions, slow and readable.

Nothing here comes from specsim.  A law is a tuple of Fractions, a model maps a prefix (a tuple) to a law, a
rule maps (draft law, target law, drafted token, slot) to (probability of keeping it, law of its replacement).
A state is (tokens, window); a decoder is its starting states and a step: the list of what one call can do.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Law = tuple[Fraction, ...]
Model = Callable[[tuple], Law]
Rule = Callable[[Law, Law, int, int], tuple[Fraction, Law]]
ZERO, ONE = Fraction(0), Fraction(1)


class Event(NamedTuple):
    """One thing a call can do: its share, the tokens it adds, drafts kept, judged and verified, the next window."""

    share: Fraction
    added: tuple
    kept: int
    judged: int
    drafted: int
    window: tuple = ()


class Outcome(NamedTuple):
    """law {tokens: mass}, calls {target calls: mass}, kept, judged and drafted {slot: expected number}."""

    law: Counter
    calls: Counter
    kept: Counter
    judged: Counter
    drafted: Counter


def run(decoder: tuple, length: int, eos: int | None = None) -> Outcome:
    """Everything that can happen, one target call after another; equal states are one."""
    (live, step), call, out = decoder, 0, Outcome(*(Counter() for _ in Outcome._fields))
    while live:
        call, following = call + 1, Counter()
        for (tokens, window), mass in live.items():
            for event in step(tokens, window):
                weight, added = mass * event.share, event.added
                if eos in added:  # what follows an end of sequence is dropped and not counted
                    added = added[: added.index(eos) + 1]
                out.kept.update(dict.fromkeys(range(min(event.kept, len(added))), weight))
                out.judged.update(dict.fromkeys(range(min(event.judged, len(added))), weight))
                out.drafted.update(dict.fromkeys(range(event.drafted), weight))
                if eos in added or len(tokens + added) == length:
                    out.law[(tokens + added + (eos,) * length)[:length]] += weight
                    out.calls[call] += weight
                else:
                    following[tokens + added, event.window] += weight
        live = following
    return out


def chain(target: Model, draft: Model, rule: Rule, length: int, lookahead: int, relaxed: bool = False) -> tuple:
    """min(L, N - n - 1) drafts; the first rejected one is replaced, after the last one comes a bonus.

    relaxed: the bonus is a draft like the others, so min(L + 1, N - n) drafts and nothing after the last one.
    """

    def step(tokens: tuple, window: tuple, kept: tuple = (), mass: Fraction = ONE) -> Iterator[Event]:
        p, slot = target(tokens + kept), len(kept)
        count = min(lookahead + relaxed, length - len(tokens) - 1 + relaxed)
        if slot == count and relaxed:
            yield Event(mass, kept, slot, slot, count)
            return
        if slot == count:
            yield from (Event(mass * share, (*kept, y), slot, slot, count) for y, share in enumerate(p) if share)
            return
        for x, share in enumerate(q := draft(tokens + kept)):
            if share:
                keep, residual = rule(q, p, x, slot)
                for y, g in enumerate(residual):
                    if refused := mass * share * (1 - keep) * g:
                        yield Event(refused, (*kept, y), slot, slot + 1, count)
                if keep:
                    yield from step(tokens, (), (*kept, x), mass * share * keep)

    return {((), ()): ONE}, step


def jacobi(target: Model, rule: Rule, vocab: int, length: int, size: int, coupling: str, tail: str) -> tuple:
    """A window of (token, stored law) pairs; what follows the first rejection is redrawn in its place."""
    uniform = (Fraction(1, vocab),) * vocab

    def fresh(count: int) -> Iterator[tuple[tuple, Fraction]]:
        for xs in product(range(vocab), repeat=count):
            hot = [tuple(ONE * (v == x) for v in range(vocab)) for x in xs]
            laws = hot if tail == "onehot" else [uniform] * count
            yield tuple(zip(xs, laws, strict=True)), uniform[0] ** count

    def followers(left: tuple, laws: list[Law], end: int) -> Iterator[tuple[tuple, Fraction]]:
        """Windows after a commit up to `end`: the redrawn rest of the old one, then new tail positions."""
        options = [redraw(coupling, x, old, new) for (x, old), new in zip(left, laws, strict=True)]
        for some in product(*options):
            for new, mass in fresh(min(size, length - end) - len(left)):
                for _, share in some:
                    mass *= share
                yield tuple(pair for pair, _ in some) + new, mass

    def step(tokens: tuple, drafts: tuple) -> Iterator[Event]:
        xs, count, alive = tuple(x for x, _ in drafts), len(drafts), ONE
        laws = [target(tokens + xs[:j]) for j in range(count)]
        for j, (x, stored) in enumerate(drafts):
            keep, residual = rule(stored, laws[j], x, j)
            for y, g in enumerate(residual):
                if refused := alive * (1 - keep) * g:
                    for rest, share in followers(drafts[j + 1 :], laws[j + 1 :], len(tokens) + j + 1):
                        yield Event(refused * share, (*xs[:j], y), j, j + 1, count, rest)
            alive *= keep
        if len(tokens) + count == length and alive:
            yield Event(alive, xs, count, count, count)
        for y, g in enumerate(target(tokens + xs) if len(tokens) + count < length else ()):
            for rest, share in followers((), [], len(tokens) + count + 1) if alive * g else ():
                yield Event(alive * g * share, (*xs, y), count, count, count, rest)

    return {((), rest): share for rest, share in fresh(min(size, length))}, step


def redraw(coupling: str, x: int, old: Law, new: Law) -> list[tuple[tuple[int, Law], Fraction]]:
    """[((new token, stored law), probability)] of a window position whose law changed from `old` to `new`."""
    if coupling == "independent":
        return [((y, new), share) for y, share in enumerate(new) if share]
    keep, residual = strict(old, new, x, 0)
    kept = [((x, old if coupling == "maximal_stale" else new), keep)] if keep else []
    return kept + [((y, new), (1 - keep) * g) for y, g in enumerate(residual) if (1 - keep) * g]


def norm(weights: list[Fraction], fallback: Law) -> Law:
    return tuple(w / sum(weights) for w in weights) if any(weights) else fallback


def ratio(weight: Fraction, share: Fraction) -> Fraction:
    """min(1, weight / share); a token that is never drafted counts as kept if it has weight."""
    return min(ONE, weight / share) if share else (ONE if weight else ZERO)


def vanilla(q: Law, p: Law, keep: Any = None) -> Law:
    """norm[p - q]+"""
    return norm([max(b - a, ZERO) for a, b in zip(q, p, strict=True)], p)


def optimal(q: Law, p: Law, keep: list[Fraction]) -> Law:
    """norm[p - q b]+"""
    return vanilla(tuple(a * b for a, b in zip(q, keep, strict=True)), p)


def rule_of(keep: Callable, residual: Callable) -> Rule:
    """keep(q(v), p(v), p, q, slot, v) -> b(v); residual(q, p, b) -> G."""

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        b = [keep(q[v], p[v], p, q, slot, v) for v in range(len(p))]
        return b[x], residual(q, p, b)

    return rule


strict = rule_of(lambda q, p, *_: ratio(p, q), vanilla)


def annealed(omegas: Any) -> Rule:
    """omegas: the factor of each slot, given because exp is not rational; the same in all for lenience."""
    return rule_of(lambda q, p, _p, _q, slot, v: ratio(omegas[slot] * p, q), optimal)


def raised(bonus: Callable[[Law], Fraction], delta: Any) -> Rule:
    """The ratio plus bonus(p) if TV < delta; masked.  "Addition" has a constant bonus and delta > 1."""

    def keep(q: Fraction, p: Fraction, law: Law, draft: Law, slot: int, v: int) -> Fraction:
        near = sum(abs(a - b) for a, b in zip(law, draft, strict=True)) / 2 < delta
        return min(ONE, ratio(p, q) + (bonus(law) if near else 0)) if p else ZERO

    return rule_of(keep, vanilla)


def borrowed(p: Law, near: tuple, k: int, delta: Any) -> tuple[Fraction, int]:
    """(sum, m) for the largest m <= k whose m nearest neighbours together have mass <= delta."""
    sums = [sum((p[n] for n in near[:m]), ZERO) for m in range(min(k, len(near)) + 1)]
    return max((total, m) for m, total in enumerate(sums) if total <= delta)


def lantern_optimal(k: int, delta: Any, near: Any) -> Rule:
    """near[v]: all other tokens, nearest first."""
    return rule_of(lambda q, p, law, _q, slot, v: ratio(p + borrowed(law, near[v], k, delta)[0], q), optimal)


def lantern(k: int, delta: Any, near: Any) -> Rule:
    """The residual of the released static path depends on the refused token; where it is empty nothing is refused."""

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        zeroed = near[x][: k + 1] if borrowed(p, near[x], k, delta)[1] else ()
        left = [max(b - (0 if v in zeroed else q[v]), ZERO) for v, b in enumerate(p)]
        return lantern_optimal(k, delta, near)(q, p, x, slot)[0], norm(left, p)

    return rule


def nats(law: Law) -> Fraction:
    """The entropy, rounded to a float64 once; numpy's log, since only it rounds the same."""
    some = np.array([float(share) for share in law if share])
    return Fraction(float(-np.sum(some * np.log(some))))


def nearest(codebook: list) -> list[tuple]:
    """For every token all others, nearest first, ties by id."""
    gaps = [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in codebook] for x in codebook]
    others = [[y for y in range(len(gaps)) if y != x] for x in range(len(gaps))]
    return [tuple(sorted(ys, key=gap.__getitem__)) for ys, gap in zip(others, gaps, strict=True)]


def model_of(table: Any) -> dict[tuple, Law]:
    """{prefix: law} of a table, whose rows come shorter prefixes first, in base-V order."""
    prefixes = [x for n in range(table.length) for x in product(range(table.vocab), repeat=n)]
    return {x: tuple(row) for x, row in zip(prefixes, table.laws.tolist(), strict=True)}
