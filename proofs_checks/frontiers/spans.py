"""The costs that verifiers can have: the most drafts that a block can keep, the fewest calls that a run can take."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from proofs_checks.frontiers.masses import ONE, ZERO, Laws, Path
from proofs_checks.frontiers.rounds import Held, Pair, by_block, by_prefix


def greatest_accepted(target: Laws, draft: Laws, lookahead: int, support: bool) -> Fraction:
    """E[accepted] when every draft is kept; with `support`, every draft that the target can draw."""
    layer: dict[Path, Fraction] = {(): ONE}
    total = ZERO
    for _ in range(lookahead):
        layer = {
            (*path, v): mass * share
            for path, mass in layer.items()
            for v, share in enumerate(draft[path])
            if share and (target[path][v] or not support)
        }
        total += sum(layer.values(), ZERO)
    return total


def least_calls(pair: Pair, held: Held, lookahead: int, length: int, free_bonus: bool) -> Fraction:
    """E[target calls] when every decision is the one after which the fewest calls are expected."""
    target, draft = pair.target, pair.draft

    @cache
    def from_start(path: Path) -> Fraction:
        """Calls from the start of a round on."""
        return ZERO if len(path) == length else ONE + after_round[held](path, min(lookahead, length - len(path) - 1))

    def corrected(path: Path) -> Fraction:
        """Calls after a correction that is the best there."""
        return min(from_start((*path, v)) for v in pair.may(path))

    def ended(path: Path) -> Fraction:
        """Calls after a wholly kept block."""
        mean = sum((share * from_start((*path, v)) for v, share in enumerate(target[path]) if share), ZERO)
        return corrected(path) if free_bonus else mean

    @cache
    def draft_by_draft(path: Path, left: int) -> Fraction:
        """Calls after this round, with `left` drafts of it still to be judged."""
        if not left:
            return ended(path)
        best, may = corrected(path), set(pair.may(path))
        keep = (min(best, draft_by_draft((*path, v), left - 1)) if v in may else best for v in range(target.vocab))
        return sum((share * calls for share, calls in zip(draft[path], keep, strict=True)), ZERO)

    def block_seen(path: Path, left: int, best: Fraction | None = None) -> Fraction:
        """The same when every draft of the block is seen first; best: of all prefixes so far."""
        here = corrected(path) if left else ended(path)
        best = here if best is None else min(best, here)
        if not left:
            return best
        may = set(pair.may(path))
        further = (block_seen((*path, v), left - 1, best) if v in may else best for v in range(target.vocab))
        return sum((share * calls for share, calls in zip(draft[path], further, strict=True)), ZERO)

    after_round: dict[Held, Callable[[Path, int], Fraction]] = {by_prefix: draft_by_draft, by_block: block_seen}
    return from_start(())
