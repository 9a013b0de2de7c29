"""A block put to a rule on every drafted path: what T15, T24 and T25 read off it, in masses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.frontiers.masses import ONE, Masses, Terms
from specsim import Table
from specsim.arrays import Array
from specsim.decoding import Decoder
from specsim.enumeration import enumerate_law
from specsim.exact_laws import BUDGET
from specsim.laws import Law, target_mass
from specsim.tasks import make_task
from specsim.verification import Block, Drafted, verifier


def every_path(target: Table, draft: Table, lookahead: int, drafts: int | None = None) -> Drafted:
    """All V**L blocks of L drafts, of which the first `drafts` are real (default all); one slot more holds none."""
    vocab, count = target.vocab, target.vocab**lookahead
    tokens = np.arange(count)[:, None] // vocab ** np.arange(lookahead - 1, -1, -1) % vocab
    start = np.zeros(count, dtype=np.int64)
    wide = [model(tokens, start, lookahead) for model in (draft, target)]
    wide = [np.concatenate([laws, laws[:, -1:]], axis=1) for laws in wide]
    slots = np.broadcast_to(np.arange(lookahead + 1), (count, lookahead + 1))
    real = slots < (lookahead if drafts is None else drafts)
    return Drafted(wide[0], wide[1], np.concatenate([tokens, 0 * tokens[:, :1]], axis=1), real, slots)


def judged(rule: Any, drafted: Drafted) -> Block:
    """The rule's own code on a block."""
    return verifier(rule)(None, drafted, ())[0]


def passed(rule: Any, target: Table, draft: Table, lookahead: int) -> list[Array]:
    """A_i(x) = P(x is drafted, all of it kept) for every prefix x of i tokens, i = 1 .. L: [V**i] each."""
    stop = judged(rule, every_path(target, draft, lookahead)).stop
    weight = target_mass(draft, lookahead)
    kept = [weight * stop[:, i:].sum(axis=1) for i in range(1, lookahead + 1)]
    return [mass.reshape(draft.vocab**i, -1).sum(axis=1) for i, mass in enumerate(kept, 1)]


def corrected(rule: Any, target: Table, draft: Table, lookahead: int) -> list[Array]:
    """R_i(x) = P(the last token of x is a correction in slot i), [V**i] each, i = 1 .. L."""
    block, vocab = judged(rule, every_path(target, draft, lookahead)), draft.vocab
    weight, found = target_mass(draft, lookahead), []
    for i in range(lookahead):
        mass = (weight * block.stop[:, i])[:, None] * block.residual[:, i, :]
        found.append(mass.reshape(vocab**i, -1, vocab).sum(axis=1).reshape(-1))
    return found


def block_law(rule: Any, target: Table, draft: Table, lookahead: int) -> Array:
    """Law [V**L] of one block, corrections followed by the target."""
    out = passed(rule, target, draft, lookahead)[-1]
    for i, mass in enumerate(corrected(rule, target, draft, lookahead), 1):
        for n in range(i, lookahead):
            mass = (mass[:, None] * target.at_length(n)).reshape(-1)
        out = out + mass
    return out


def unrefused(decoder: Decoder, target: Table, rule: Any) -> Law:
    """The law of a decoder with a rule that it would refuse."""
    task = make_task(decoder, target, None, None, None, None)
    return enumerate_law(decoder, task._replace(verify=verifier(rule)), target, BUDGET)[0]


def equations(masses: Masses) -> list[Terms]:
    """The rows of a program as equations: a slack in [0, 1] for each that is an inequality, after all other columns."""
    loose = list(zip(masses.rows, masses.loose, strict=True))
    return [{**some, masses.var("slack", i): ONE} if slack else some for i, (some, slack) in enumerate(loose)]


def slacks(masses: Masses, point: Sequence[Fraction]) -> list[Fraction]:
    """The slacks of a point, in the order of their columns."""
    loose = [i for i, some in enumerate(masses.loose) if some]
    used = [sum((value * point[column] for column, value in masses.rows[i].items()), 0 * ONE) for i in loose]
    return [masses.right[i] - some for i, some in zip(loose, used, strict=True)]


def row(path: Sequence[int], vocab: int) -> int:
    """The number of a path in base-V order."""
    index = 0
    for token in path:
        index = index * vocab + token
    return index
