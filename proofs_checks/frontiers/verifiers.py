"""What a verifier can do with a drafted block, as equations: sequential decisions, block-level ones, whole runs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proofs_checks.frontiers.masses import ONE, ZERO, Laws, Masses, Path, Terms, add, continuation, paths


@dataclass(frozen=True)
class Verifier:
    """What a verifier can do.

    masses: the equations; out: {sequence: terms of its mass}; cost: terms of the expected cost; sign: 1 where more is
    better, -1 where less is; local: {path: (terms of what arrives, terms of its prefix)} for errors token by token;
    target: its laws; length: tokens of a sequence.
    """

    masses: Masses
    out: dict[Path, Terms]
    cost: Terms
    sign: int
    local: dict[Path, tuple[Terms, Terms]]
    target: Laws
    length: int


def round_from(
    masses: Masses, start: Path, alive: Terms, alive_right: Fraction, target: Laws, draft: Laws, size: int, key: str
) -> tuple[dict[Path, Terms], dict[Path, Terms]]:
    """One round of `size` drafts from a prefix whose mass is `alive` + alive_right -> (accepted, corrected) terms.

    accepted[x], |x| > |start|: mass with all drafts up to x kept; corrected[x]: mass whose first refused draft was
    replaced by the last token of x.
    """
    accepted: dict[Path, Terms] = {start: alive}
    corrected: dict[Path, Terms] = {}
    layer = [start]
    for _ in range(size):
        following = []
        for prefix in layer:
            constant = alive_right if prefix == start else ZERO
            flow: Terms = {}
            for token in range(draft.vocab):
                path, share = (*prefix, token), draft[prefix][token]
                column = masses.var(key, "corrected", start, path)
                corrected[path] = {column: ONE}
                add(flow, column, ONE)
                if share:
                    kept, refused = masses.var(key, "accepted", start, path), masses.var(key, "refused", start, path)
                    terms: Terms = {kept: ONE, refused: ONE}
                    for some, value in accepted[prefix].items():
                        add(terms, some, -share * value)
                    masses.equation(terms, share * constant)
                    add(flow, kept, ONE)
                    accepted[path] = {kept: ONE}
                    following.append(path)
            for some, value in accepted[prefix].items():
                add(flow, some, -value)
            masses.equation(flow, constant)
        layer = following
    return accepted, corrected


def sequential_block(target: Laws, draft: Laws, lookahead: int) -> Verifier:
    """One block of L drafts, each decision on what was drafted so far; the target goes on from a correction.

    The cost is E[accepted]: more is better.
    """
    masses = Masses()
    accepted, corrected = round_from(masses, (), {}, ONE, target, draft, lookahead, "block")
    out: dict[Path, Terms] = {path: {} for path in paths(target.vocab, lookahead)}
    for path, terms in corrected.items():
        for end, share in continuation(target, path, lookahead):
            for column, value in terms.items():
                add(out[end], column, share * value)
    cost: Terms = {}
    for path, terms in accepted.items():
        if path:
            for column, value in terms.items():
                add(cost, column, value)
                if len(path) == lookahead:
                    add(out[path], column, value)
    local = local_masses(accepted, corrected)
    return Verifier(masses, out, cost, 1, local, target, lookahead)


def local_masses(accepted: dict[Path, Terms], corrected: dict[Path, Terms]) -> dict[Path, tuple[Terms, Terms]]:
    """What arrives at each path of a block, and its prefix's mass."""
    found = {}
    for path, terms in corrected.items():
        arrives = dict(terms)
        for column, value in accepted.get(path, {}).items():
            add(arrives, column, value)
        found[path] = (arrives, accepted[path[:-1]])
    return found


def joint_block(target: Laws, draft: Laws, lookahead: int) -> Verifier:
    """One block whose decision may look at all of it: masses of (block x, i kept).  The cost is E[accepted]."""
    masses, length = Masses(), lookahead
    out: dict[Path, Terms] = {path: {} for path in paths(target.vocab, length)}
    cost: Terms = {}
    stopped: dict[Path, Terms] = {}
    for block, share in continuation(draft, (), length):
        whole: Terms = {}
        for kept in range(length + 1):
            column = masses.var("kept", kept, block)
            add(whole, column, ONE)
            add(cost, column, Fraction(kept))
            if kept == length:
                add(out[block], column, ONE)
            else:
                add(stopped.setdefault(block[:kept], {}), column, ONE)
        masses.equation(whole, share)
    for prefix, terms in stopped.items():
        flow: Terms = {column: -value for column, value in terms.items()}
        for token in range(target.vocab):
            column = masses.var("corrected", prefix, token)
            add(flow, column, ONE)
            for end, share in continuation(target, (*prefix, token), length):
                add(out[end], column, share)
        masses.equation(flow)
    return Verifier(masses, out, cost, 1, {}, target, length)


def whole_run(target: Laws, draft: Laws, lookahead: int, length: int, free_bonus: bool = False) -> Verifier:
    """A run of N tokens: masses of (round start, prefix).  The cost is E[target calls]: fewer is better.

    The bonus token follows the target, or any law (`free_bonus`).
    """
    masses = Masses()
    arrives: dict[Path, Terms] = {path: {} for n in range(1, length + 1) for path in paths(target.vocab, n)}
    cost: Terms = {}
    for n in range(length):
        for start in paths(target.vocab, n):
            column = masses.var("start", start)
            terms: Terms = {column: ONE}
            for some, value in arrives.get(start, {}).items():
                add(terms, some, -value)
            masses.equation(terms, ZERO if start else ONE)
            add(cost, column, ONE)
            size = min(lookahead, length - n - 1)
            accepted, corrected = round_from(masses, start, {column: ONE}, ZERO, target, draft, size, "run")
            for path, terms in corrected.items():
                for some, value in terms.items():
                    add(arrives[path], some, value)
            for path, terms in accepted.items():
                if len(path) == n + size:
                    bonus(masses, start, path, terms, target, arrives, free_bonus)
    out = {path: arrives[path] for path in paths(target.vocab, length)}
    return Verifier(masses, out, cost, -1, {}, target, length)


def bonus(
    masses: Masses, start: Path, path: Path, alive: Terms, target: Laws, arrives: dict[Path, Terms], free: bool
) -> None:
    """The token after a wholly accepted block."""
    if not free:
        for token, share in enumerate(target[path]):
            for column, value in alive.items():
                add(arrives[(*path, token)], column, share * value)
        return
    flow: Terms = {column: -value for column, value in alive.items()}
    for token in range(target.vocab):
        column = masses.var("bonus", start, path, token)
        add(flow, column, ONE)
        add(arrives[(*path, token)], column, ONE)
    masses.equation(flow)
