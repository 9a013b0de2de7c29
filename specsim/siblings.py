"""How the children of a node are drawn, one after another; a row each in SIBLINGS."""

from __future__ import annotations

from collections.abc import Callable

from specsim.arrays import Array, hits, indicator, namespace, ratio
from specsim.decoding import first_if

Next = Callable[[Array, Array | None, int], tuple[Array, Array]]
"""(law [B, P, V] of the last child or, before the first, of the draft model; its token [B, P] or None; its number) ->
(law that the next child is drawn from, bool [B, P]: there is one)."""


def distinct(law: Array, token: Array | None, number: int) -> tuple[Array, Array]:
    """Without replacement (EAGLE-1): the law renormalised over what no elder sibling holds; none is left of a law on
    fewer tokens than siblings."""
    if token is None:
        return law, law[..., 0] == law[..., 0]
    left = law * (1 - indicator(hits(token, law.shape[-1]), law))
    total = namespace(law).sum(left, axis=-1, keepdims=True)
    there = total[..., 0] > 0
    return first_if(~there, ratio(left, total)), there


def independent(law: Array, token: Array | None, number: int) -> tuple[Array, Array]:
    """With replacement: every child from the same law (SpecInfer, SpecTr)."""
    return law, law[..., 0] == law[..., 0]


SIBLINGS: dict[str, Next] = {"distinct": distinct, "independent": independent}
