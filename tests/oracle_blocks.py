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


def band(omega: Fraction) -> object:
    """Relative to the mass alive: c put there by earlier corrections, d = q/w; kept and put back within a band."""

    def share(x: Fraction) -> Fraction:
        return min(max(x, ZERO), ONE)

    def levels(d: list, p: Law, width: Fraction) -> tuple[Fraction, Fraction]:
        up, e, tiny = ZERO, Fraction(1, 1000), Fraction(1, 10**30)
        for _ in range(3):
            down = (width - up) / omega
            g = sum(min(max(a - v, -down * v), up * v) for a, v in zip(d, p, strict=True))
            rates = [(a - v) / max(v, tiny) for a, v in zip(d, p, strict=True)]
            above = sum(v * share(2 - (up - t) / (e * (1 + up))) for v, t in zip(p, rates, strict=True))
            below = sum(v * share(2 - (down + t) / e) for v, t in zip(p, rates, strict=True))
            up = min(max(up - g / max(above + below / omega, tiny), ZERO), width)
        return up, (width - up) / omega

    def judge(drafts: Drafts, last: Law) -> Judged:
        passes, laws, w, c = [], [], ONE, ZERO
        for x, q, p in drafts:
            d = [v / max(w, Fraction(1, 10**30)) for v in q]
            up, down = levels(d, p, (omega - 1) * (1 + c))
            keep = [min(a, (1 + up) * v) for a, v in zip(d, p, strict=True)]
            keep = [k / max(ONE, sum(keep)) for k in keep]
            left, room = 1 - sum(keep), [max(v - a, ZERO) for a, v in zip(d, p, strict=True)]
            missing = [max((1 - down) * v - a, ZERO) for a, v in zip(d, p, strict=True)]
            if left > sum(missing):
                theta = (left - sum(missing)) / (sum(room) - sum(missing))
                missing = [m + theta * (r - m) for m, r in zip(missing, room, strict=True)]
            law = norm(missing, p)
            s = w * left
            passes.append(s / (s + 1 - w) if s + 1 - w else ONE)
            laws.append(law)
            c = (c * p[x] + left * law[x]) / keep[x] if keep[x] else ZERO
            w = w * keep[x] / q[x]
        judged, rest = [], ONE
        for i, (h, law) in reversed(list(enumerate(zip([*passes, w], [*laws, last], strict=True)))):
            judged.append((rest * (h if i else ONE), law))
            rest -= judged[-1][0]
        return judged[::-1]

    return judge


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
