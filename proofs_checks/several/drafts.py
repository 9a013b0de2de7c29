"""What several drafts of one position are, as the law of the set of tokens that they hold: {tokens: probability}.

Whether the output is one of the drafts depends on the set alone.  A drafting is f(draft [V], count) -> Sets, in the
arithmetic of the draft's law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from specsim.arrays import Array

Tokens = frozenset[int]
Sets = dict[Tokens, Fraction]
Drafting = Callable[[Array, int], Sets]
ONE = Fraction(1)


def merged(parts: Iterable[tuple[Tokens, Fraction]]) -> Sets:
    """Equal sets added up, those that never occur left out."""
    found: Sets = {}
    for tokens, chance in parts:
        if chance > 0:
            found[tokens] = found.get(tokens, 0 * ONE) + chance
    return found


def independent(draft: Array, count: int) -> Sets:
    """Every draft from the same law."""
    sets: Sets = {frozenset(): ONE}
    for _ in range(count):
        sets = merged((held | {v}, chance * q) for held, chance in sets.items() for v, q in enumerate(draft))
    return sets


def distinct(draft: Array, count: int) -> Sets:
    """Without replacement: the law renormalised over what no earlier draft holds; fewer drafts where none is left."""
    sets: Sets = {frozenset(): ONE}
    for _ in range(count):
        sets = merged(part for held, chance in sets.items() for part in one_more(draft, held, chance))
    return sets


def one_more(draft: Array, held: Tokens, chance: Fraction) -> list[tuple[Tokens, Fraction]]:
    """A set with a token more that is not in it."""
    left = [(v, q) for v, q in enumerate(draft) if v not in held and q > 0]
    total = sum((q for _, q in left), 0 * ONE)
    return [(held | {v}, chance * q / total) for v, q in left] or [(held, chance)]


def likeliest(draft: Array, count: int) -> list[int]:
    """The draft's most probable tokens, the first ones of equals."""
    return sorted(range(len(draft)), key=lambda v: -draft[v])[:count]


def top(draft: Array, count: int) -> Sets:
    """No chance at all: the draft's most probable tokens."""
    return {frozenset(likeliest(draft, count)): ONE}


def greedy(draft: Array, count: int) -> Sets:
    """All but the last as `top`, the last drawn from the rest (Hu et al. 2025, arXiv 2502.18779)."""
    return merged(one_more(draft, frozenset(likeliest(draft, count - 1)), ONE))


def inside(sets: Sets, tokens: Tokens) -> Fraction:
    """Q(H): probability that every draft is one of the tokens H."""
    return sum((chance for held, chance in sets.items() if held <= tokens), 0 * ONE)
