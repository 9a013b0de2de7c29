"""EAGLE-2's tree: the likeliest tokens of the draft model, grown where they are likely to be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from specsim.arrays import Array, arange, namespace, point, slot
from specsim.decoders.tree_round import after, tree_round
from specsim.decoding import Round, Rows, Task, drafting, require_slots
from specsim.errors import require
from specsim.grown import Grown, first_of
from specsim.trees import MOST_NODES

MOST_WIDTH = 64
"""Published: 10.  Every child of a node is judged after its elders, and each step looks at all nodes."""


class Candidates(NamedTuple):
    """Nodes grown so far, [B, C], node 0 first: tokens, parent, rank, level, and value, the draft's own probability of
    all tokens on the way."""

    tokens: Array
    parent: Array
    rank: Array
    level: Array
    value: Array


@dataclass(frozen=True)
class DynamicTree:
    """Grow `depth` levels: of each the `width` nodes of highest value get `width` children, the draft's likeliest
    tokens; of all of them the `nodes` of highest value are verified.  Nothing is drawn: its law is 1 on each.

    value: the product of the draft's probabilities on the way.  The tree is grown as if the sequence went on: what lies
    beyond its end is dropped afterwards, so fewer nodes are verified there.  Where a node has fewer likely tokens than
    children, tokens of draft probability 0 fill up.  Lossless with a lossless rule of single tokens: siblings that are
    certain are kept as often as the target draws them.  Source: EAGLE-2 (arXiv 2406.16858), with 60 nodes, depth 6 and
    width 10; the ones here are smaller, fit for image tokens and for exact laws.
    """

    depth: int = 3
    width: int = 3
    nodes: int = 8
    needs_draft: ClassVar[bool] = True
    takes_rule: ClassVar[bool] = True
    single_tokens: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("depth", "width", "nodes"):
            require_slots("DynamicTree", name, getattr(self, name))
        require(self.width <= MOST_WIDTH, "DynamicTree", "width", self.width, f"at most {MOST_WIDTH}")
        grown = self.width + (self.depth - 1) * self.width**2
        require(
            grown <= MOST_NODES, "DynamicTree", "depth, width", (self.depth, self.width), f"at most {MOST_NODES} nodes"
        )
        require(self.nodes <= grown, "DynamicTree", "nodes", self.nodes, f"at most {grown}, as many as are grown")

    def start(self, task: Task, rows: Rows, choose: Any) -> Rows:
        """Nothing to prepare."""
        return rows

    def step(self, state: Rows, choose: Any, task: Task) -> tuple[Rows, Round]:
        """One round: `width` draft calls a level (one, of a model that reads trees), one target call."""
        depth, width = min(self.depth, max(1, task.length - 1)), min(self.width, task.fresh.shape[0])
        found = grow(state, task, depth, width)
        count = min(self.nodes, found.tokens.shape[1] - 1)
        tokens, tree = best(found, count, depth, width)
        position = state.length[:, None] + tree.level - 1
        real = (tree.level > 0) & (position < task.length - 1)
        like = namespace(tokens).broadcast_to(task.fresh, (*tokens.shape, task.fresh.shape[0]))
        return tree_round(state, choose, task, (tokens, real, point(tokens, like)), tree)


def grow(state: Rows, task: Task, depth: int, width: int) -> Candidates:
    """All candidates, [B, 1 + width + (depth - 1) width^2]."""
    none = 0 * state.length[:, None]
    found = Candidates(none, none, none, none, 1 + 0 * namespace(none).astype(none, task.fresh.dtype))
    chosen = none
    for level in range(1, depth + 1):
        born = children_of(found, chosen, laws_at(task, state, found, chosen, level - 1, width), width)
        first = found.tokens.shape[1]
        found = Candidates(*(namespace(none).concat(pair, axis=1) for pair in zip(found, born, strict=True)))
        chosen = first + first_of(born.value, width)
    return found


def laws_at(task: Task, state: Rows, found: Candidates, chosen: Array, level: int, width: int) -> Array:
    """The draft model's laws after the chosen nodes [B, P] of one level, [B, P, V]."""
    model = drafting(task, state.length)
    if level and hasattr(model, "tree"):
        grown = Grown(found.parent, found.rank, found.level, level, width)
        return slot(model.tree(state.tokens, state.length, found.tokens, grown), chosen)
    xp, laws = namespace(chosen), []
    for node in range(chosen.shape[1]):
        up, way = chosen[:, node : node + 1], []
        for _ in range(level):
            way.append(slot(found.tokens, up))
            up = slot(found.parent, up)
        tokens = xp.concat(way[::-1], axis=1) if way else state.tokens[:, :0]
        laws.append(after(model, state, tokens))
    return xp.stack(laws, axis=1)


def children_of(found: Candidates, chosen: Array, laws: Array, width: int) -> Candidates:
    """The `width` likeliest tokens after each chosen node [B, P], likeliest first, [B, P width]."""
    xp, rows = namespace(laws), laws.shape[0]
    vocab = laws.shape[-1]
    ranked = first_of(xp.reshape(laws, (-1, vocab)), width)
    chance = xp.take_along_axis(xp.reshape(laws, (-1, vocab)), ranked, axis=-1)
    # Laws that are none are named when the step is looked at; until then no child may be worth more than its parent.
    chance = xp.where(chance > 0, chance, 0 * chance)
    chance = xp.where(chance < 1, chance, 0 * chance + 1)
    parent = chosen[..., None] + 0 * xp.reshape(ranked, (rows, -1, width))
    value = slot(found.value, chosen)[..., None] * xp.reshape(chance, (rows, -1, width))
    rank = 0 * parent + arange(width, parent)
    level = slot(found.level, chosen)[..., None] + 1 + 0 * parent
    parts = xp.reshape(ranked, (rows, -1, width)), parent, rank, level, value
    return Candidates(*(xp.reshape(part, (rows, -1)) for part in parts))


def best(found: Candidates, count: int, depth: int, width: int) -> tuple[Array, Grown]:
    """tokens [B, S] and the tree of node 0 and the `count` others of highest value.

    A node is never worth more than its parent or its elder sibling, and comes after both: so they are there too.
    """
    xp = namespace(found.tokens)
    order = xp.sort(1 + first_of(found.value[:, 1:], count), axis=-1)
    kept = xp.concat([0 * order[:, :1], order], axis=1)
    tokens, rank, level = (slot(table, kept) for table in (found.tokens, found.rank, found.level))
    parent = slot(found.parent, kept)
    new = xp.sum(xp.astype(kept[:, None, :] < parent[..., None], kept.dtype), axis=-1)
    return tokens, Grown(new, rank, level, depth, width)
