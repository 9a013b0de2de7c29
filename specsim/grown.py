"""Trees that grow differently in every row: the likeliest tokens of a draft model, as EAGLE-2 grows them."""

from __future__ import annotations

from typing import Any, NamedTuple

from specsim.arrays import Array, arange, namespace, slot


class Grown(NamedTuple):
    """A tree for each row, by node, all [B, S]: as `Branches`, whose tables are the same in every row.

    parent: of node 0 itself; rank: which child of its parent; level: drafts on the way to it.  depth, width: most
    levels and most siblings.
    """

    parent: Array
    rank: Array
    level: Array
    depth: int
    width: int

    @property
    def size(self) -> int:
        """S."""
        return self.parent.shape[1]

    def arrays(self) -> tuple[Array, ...]:
        """What an interpreter that forks rows must hand back."""
        return self.parent, self.rank, self.level

    def having(self, arrays: tuple[Array, ...]) -> Grown:
        """The tree with the arrays handed back."""
        parent, rank, level = arrays
        return Grown(parent, rank, level, self.depth, self.width)

    def of(self, name: str, like: Array) -> Array:
        """A table by node, [B, S, ...]."""
        return {"children": children, "way": way, "sees": sees}[name](self) if name in MADE else getattr(self, name)


MADE = ("children", "way", "sees")


def children(tree: Grown) -> Array:
    """[B, S, W]; 0 where there is none."""
    xp, node = namespace(tree.parent), arange(tree.size, tree.parent)
    born = (tree.parent[:, None, :] == node[:, None]) & (node > 0)  # [B, S, S]: node is a child of
    found = [xp.sum(xp.where(born & (tree.rank[:, None, :] == w), node, 0 * node), axis=-1) for w in range(tree.width)]
    return xp.stack(found, axis=-1)


def way(tree: Grown) -> Array:
    """Nodes on the way to each node, [B, S, D]; 0 beyond its end."""
    xp = namespace(tree.parent)
    up = 0 * tree.parent + arange(tree.size, tree.parent)
    found: list[Any] = []
    for depth in range(tree.depth, 0, -1):
        here = slot(tree.level, up) == depth
        found.append(xp.where(here, up, 0 * up))
        up = xp.where(here, slot(tree.parent, up), up)
    return xp.stack(found[::-1], axis=-1)


def sees(tree: Grown) -> Array:
    """Whether a node comes after another, or is it, [B, S, S]."""
    node, found = arange(tree.size, tree.parent), way(tree)
    xp = namespace(node)
    after = xp.any(found[..., None] == node, axis=-2)
    return after | (node == 0) | (node[:, None] == node)


def first_of(values: Array, count: int) -> Array:
    """Places of the `count` largest of values [B, C], the first of equals first, [B, count]."""
    return namespace(values).argsort(values, axis=-1, descending=True, stable=True)[:, :count]
