"""What z3 proves of T30.  One sibling more: r is the law it is judged against, a = q b what is kept of it, R what its
refusal leaves, in mass; F(y) is what the siblings after it make of a law y.  G* leaves R <= [r - a]+.
"""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, positive, reals
from proofs_checks.theorems import t17_proofs, t21_proofs, t28_proofs


def line() -> list[Obligation]:
    """T28 for the law that is put out, whatever it is: kept <= 1 + out(H) - Q(H), and out(H) <= p(H) + TV(out, p)."""
    out, p = reals("out p")
    excess = positive(out - p)
    goal = both(out <= p + excess, excess >= 0)
    within = Obligation("a token of H: out <= p + [out - p]+; others add [out - p]+", [], goal)
    return [*t28_proofs.dual(), within]


def draft() -> list[Obligation]:
    """b >= min(1, p/q): at most R more than [a - p]+ comes out too often, and R sums to the sum of q - a."""
    p, q, a, back = reals("p q a R")
    law = [p >= 0, q >= 0, a <= q, a >= least(p, q), back >= 0]
    return [
        Obligation("[a + R - p]+ <= [a - p]+ + R", law, positive(a + back - p) <= positive(a - p) + back),
        Obligation("[a - p]+ + q - a = [q - p]+", law, positive(a - p) + q - a == positive(q - p)),
    ]


def filtered() -> list[Obligation]:
    """s: TV of this sibling and what it leaves, t = TV(r, q), u: P(it is refused); later ones add u delta at most."""
    s, t, u, delta = reals("s t u delta")
    law = [s >= 0, t >= 0, u >= 0, u <= 1, delta >= 0]
    return [
        Obligation("passed: s + u = t < delta", [*law, s + u == t, t < delta, delta <= 1], s + u * delta <= delta),
        Obligation("shut: s = 0", [*law, s == 0], s + u * delta <= delta),
    ]


def again() -> list[Obligation]:
    """a <= w r: F(y) <= w y makes a + w R <= w r."""
    r, a, w, back, after = reals("r a w R F")
    law = [r >= 0, a >= 0, w >= 1, a <= w * r, back >= 0, back <= positive(r - a)]
    return [Obligation("a + F(R) <= w r", [*law, after <= w * back], a + after <= w * r)]


def at_most_one() -> list[Obligation]:
    """And TV <= 1 - 1/w, as in T17; all three rules keep a <= w r."""
    p, q, g, a, w = reals("p q g a w")
    kept = [p >= 0, q >= 0, w >= 1, g >= 0, g <= (w - 1) * p]
    return [
        Obligation("lenience: min(q, w p) <= w p", kept, least(q, w * p) <= w * p),
        Obligation("LANTERN++: min(q, p + g) <= w p", [*kept, a == least(q, p + g)], a <= w * p),
        *again(),
        t17_proofs.at_most_one()[-1],
    ]


def runs() -> list[Obligation]:
    """K kept of all siblings of a node, B put in after them: K + w B <= w p, by induction on the siblings.

    What follows a kept token exceeds the target's mass by at most U, what follows a new call by Z, as in T19.
    """
    r, a, w, back, kept, put = reals("r a w R K B")
    law = [r >= 0, a >= 0, w >= 1, a <= w * r, back >= 0, back <= positive(r - a)]
    on, new, bound = reals("U Z X")
    after = [kept >= 0, put >= 0, on >= 0, new >= 0, w * on <= bound, new <= bound]
    return [
        Obligation("one sibling more", [*law, kept + w * put <= w * back], a + kept + w * put <= w * r),
        Obligation("K U + B Z <= X p", [*after, w >= 1, kept + w * put <= w * r], kept * on + put * new <= bound * r),
    ]


def support() -> list[Obligation]:
    """Of the law it is judged against a sibling keeps, and a refusal leaves, nothing where that is 0 (T21)."""
    some = (t21_proofs.ratio_rules, t21_proofs.masked_rules, t21_proofs.typical)
    plus = (t21_proofs.lantern_plus, t21_proofs.lantern_plus_optimal)
    return [obligation for proof in (*some, *plus) for obligation in proof()]


def compounded() -> list[Obligation]:
    """E(v) = out - law <= e for what a refusal leaves (u its probability, u <= 1 - a): out <= r + d + (1 - d) e."""
    r, a, d, u, back, e = reals("r a d u R e")
    law = [r >= 0, a >= 0, d >= 0, d <= 1, e >= 0, e <= 1, u >= 0, u <= 1 - a, a <= r + d]
    left = [*law, back >= 0, back <= positive(r - a)]
    return [Obligation("a + R + u e <= r + d + (1 - d) e", left, a + back + u * e <= r + d + (1 - d) * e)]


def put_back_again() -> list[Obligation]:
    """At most r(v) is put back (T17), and the siblings after make at most c times that of it: out <= (lam + c) r."""
    r, a, lam, back, after, c = reals("r a lam R F c")
    law = [r >= 0, lam >= 1, a <= lam * r, back >= 0, back <= r, c >= 1, after <= c * back]
    return [*t17_proofs.put_back(), Obligation("a + F <= (lam + c) r", law, a + after <= (lam + c) * r)]


def losses_compound() -> list[Obligation]:
    """s: TV of this sibling, at most epsilon, u: P(it is refused), s + u = TV(r, q) <= 1; e: TV of later ones."""
    s, u, e, epsilon = reals("s u e epsilon")
    law = [s >= 0, u >= 0, s + u <= 1, s <= epsilon, epsilon <= 1, e >= 0, e <= 1]
    return [
        *one_addition(),
        Obligation("s + u e <= epsilon + (1 - epsilon) e", law, s + u * e <= epsilon + (1 - epsilon) * e),
    ]


def one_addition() -> list[Obligation]:
    """a = min(q, r + epsilon q): the excess is at most epsilon q, which sums to epsilon."""
    r, q, epsilon = reals("r q epsilon")
    law = [r >= 0, q >= 0, epsilon >= 0]
    return [Obligation("[a - r]+ <= epsilon q", law, positive(least(q, r + epsilon * q) - r) <= epsilon * q)]


def added_once() -> list[Obligation]:
    """One law q for all siblings: where q > r nothing is left, elsewhere a = q and R <= r - q; F(R) <= R + u e q."""
    r, q, a, e, u, back, after = reals("r q a epsilon u R F")
    law = [r >= 0, q >= 0, e >= 0, u >= 0, u <= 1, back >= 0, back <= positive(r - q)]
    return [
        Obligation("q > r", [*law, q > r, a <= r + e * q, after == 0], a + after <= r + e * q),
        Obligation("q > r: nothing is left", [*law, q > r], back == 0),
        Obligation("q <= r", [*law, q <= r, a == q, after <= back + u * e * q], a + after <= r + e * q),
    ]


def as_strict() -> list[Obligation]:
    """min(p, q) <= a <= q: G* leaves what Strict leaves.  f <= f_0: P(x drafted and refused), k >= k_0: kept later."""
    p, q, a, f, f0, k, k0 = reals("p q a f f_0 k k_0")
    law = [p >= 0, q >= 0, a <= q, a >= least(p, q)]
    lost = [f >= 0, f <= f0, k >= k0, k <= 1]
    return [
        Obligation("[p - a]+ = [p - q]+", law, positive(p - a) == positive(p - q)),
        Obligation("q - a <= [q - p]+", law, q - a <= positive(q - p)),
        Obligation("f (1 - k) <= f_0 (1 - k_0)", lost, f * (1 - k) <= f0 * (1 - k0)),
    ]


def two_tokens() -> list[Obligation]:
    """V = 2: only a token x with q > p is refused; then nothing is left of it, with either residual, so all is y."""
    p, q, a, less = reals("p q a q'")
    law = [p >= 0, p <= 1, q >= 0, q <= 1, a >= least(p, q), a <= q]
    nothing = both(positive(p - q) == 0, positive(p - a) == 0)
    return [
        Obligation("refused only where q > p", [*law, a < q], q > p),
        Obligation("x: [p - q']+ = 0 as q' = q on it, and [p - a]+ = 0", [*law, a < q], nothing),
        Obligation("y: [(1 - p) - q']+ > 0", [*law, q > p, less <= 1 - q], positive(1 - p - less) > 0),
    ]


def mixture() -> list[Obligation]:
    """x refused, the others taken out of q: p = (p - q) + q, so what is left mixes G* and the next sibling's law.

    r = t g + (1 - t) c: of a sibling drawn from c no less is accepted against r than against g.
    """
    p, q, s, u, t, c, g, r = reals("p q S Q t c g r")
    token = [p >= q, q >= 0, s > 0, u > 0, g * s == p - q, c * u == q, r * (s + u) == p, t * (s + u) == s]
    law = [g >= 0, c >= 0, t >= 0, t <= 1, r == t * g + (1 - t) * c]
    return [
        Obligation("r (S + Q) = S g + Q c", token, r * (s + u) == s * g + u * c),
        Obligation("min(c, r) >= min(c, g)", law, least(c, r) >= least(c, g)),
    ]
