"""Rules that judge whole blocks, a second time: masses of paths in dicts of Fractions, from their definitions alone.

A rule is judge(drafts, last) -> [(probability of keeping so many, law of the token after them)]; drafts: [(token, draft
law, target law)]; last: the target's law after them.
"""

from collections.abc import Iterator
from fractions import Fraction

from tests.oracle import ONE, ZERO, Event, Law, Model, norm

Drafts = list[tuple[int, Law, Law]]
Judged = list[tuple[Fraction, Law]]
"""For every number kept: its probability, and the law of the token after them."""


def chain(target: Model, draft: Model, judge: object, length: int, lookahead: int) -> tuple:
    """min(L, N - n - 1) drafts, judged together."""

    def step(tokens: tuple, window: tuple, drafts: Drafts = (), mass: Fraction = ONE) -> Iterator[Event]:  # type: ignore[assignment]
        path = tokens + tuple(x for x, _, _ in drafts)
        if len(drafts) == (count := min(lookahead, length - len(tokens) - 1)):
            for kept, (share, law) in enumerate(judge(list(drafts), target(path))):  # type: ignore[operator]
                for y, g in enumerate(law):
                    if mass * share * g:
                        added = (*path[len(tokens) : len(tokens) + kept], y)
                        yield Event(mass * share * g, added, kept, min(kept + 1, count), count)
            return
        q = draft(path)
        for x, share in enumerate(q):
            if share:
                yield from step(tokens, (), [*drafts, (x, q, target(path))], mass * share)

    return {((), ()): ONE}, step


def block_verification(drafts: Drafts, last: Law) -> Judged:
    """Keep the longest prefix i with u_i < h_i."""
    weights = [ONE]
    for x, q, p in drafts:
        weights.append(min(ONE, weights[-1] * p[x] / q[x]))
    laws = [p for _, _, p in drafts] + [last]
    missing = [
        [
            max(weights[i] * p - (q if i < len(drafts) else ZERO), ZERO)
            for p, q in zip(laws[i], drafts[i][1] if i < len(drafts) else last, strict=True)
        ]
        for i in range(len(laws))
    ]
    passes = []
    for i, row in enumerate(missing):
        total = sum(row)
        passes.append(
            weights[i] if i == len(drafts) else (total / (total + 1 - weights[i]) if total + 1 - weights[i] else ONE)
        )
    judged, left = [], ONE
    for i in reversed(range(len(laws))):
        share = left * (passes[i] if i else ONE)
        judged.append((share, norm(missing[i], laws[i])))
        left -= share
    return judged[::-1]


def ledger(omegas: list) -> object:
    """Relative to the target's mass of the path: a alive, c put there by earlier corrections."""

    def judge(drafts: Drafts, last: Law) -> Judged:
        judged, reached, a, c = [], ONE, ONE, ZERO
        for slot, (x, q, p) in enumerate(drafts):
            base = [v * max(ONE - c, ZERO) for v in p]
            keep = [min(a * r, omegas[slot] * m) for r, m in zip(q, base, strict=True)]
            slack = max(a + c - 1, ZERO) - sum(max(k - m, ZERO) for k, m in zip(keep, base, strict=True))
            room = sum(a * r - k for r, k, v in zip(q, keep, p, strict=True) if v)
            theta = min(max(slack / room, ZERO), ONE) if room else ZERO
            keep = [k + theta * (a * r - k) if v else k for r, k, v in zip(q, keep, p, strict=True)]
            law = norm([max(v * (1 - c) - k, ZERO) for v, k in zip(p, keep, strict=True)], p)
            rejected = a - sum(keep)
            b = keep[x] / (a * q[x]) if a * q[x] else ZERO
            judged.append((reached * (1 - b), law))
            reached *= b
            if p[x]:
                a, c = keep[x] / p[x], c + rejected * law[x] / p[x]
            else:
                assert b == 0
        return [*judged, (reached, last)]

    return judge
