"""Trees of drafts: their shape, and how a rule verifies one.

Node 0 is the tokens already final; every other node holds one draft, after its parent.  A chain is a tree with one
child a node.  Siblings are judged in their order: the first one against the target's law, every later one against what
the rule's residual leaves of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array, indicator, namespace, number, slot
from specsim.errors import require
from specsim.verification import Block, Rule, verdict_at

MOST_NODES = 1024
"""Drafts of a tree: published ones verify up to 60 and grow up to 510."""
Paths = tuple[tuple[int, ...], ...]
EAGLE_TREE: Paths = (
    *((0,), (1,), (2,), (3,)),
    *((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)),
    *((0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 2, 0), (0, 2, 1), (1, 0, 0)),
    *((0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 2), (0, 0, 0, 0, 0), (0, 0, 0, 0, 1)),
)
"""The fixed tree of EAGLE-1's release, 25 nodes on five levels, which LANTERN++ verifies too."""


@dataclass(frozen=True)
class Branches:
    """A fixed tree.  paths: of every node but 0, the number of the child taken at each level, as EAGLE lists them."""

    paths: Paths

    @cached_property
    def nodes(self) -> Paths:
        """The paths of nodes 1, 2, ..: level by level, siblings in their order."""
        return tuple(sorted(self.paths, key=lambda path: (len(path), path)))

    @cached_property
    def number(self) -> dict[tuple[int, ...], int]:
        """Node of each path."""
        return {path: node for node, path in enumerate(((), *self.nodes))}

    @property
    def size(self) -> int:
        """S: nodes, node 0 included."""
        return len(self.paths) + 1

    @cached_property
    def depth(self) -> int:
        """D: levels of drafts."""
        return max(len(path) for path in self.paths)

    @cached_property
    def width(self) -> int:
        """W: most siblings."""
        return max(path[-1] for path in self.paths) + 1

    @cached_property
    def level(self) -> np.ndarray:
        """Drafts on the way to each node, itself included, [S]."""
        return np.array([0, *(len(path) for path in self.nodes)])

    @cached_property
    def parent(self) -> np.ndarray:
        """[S]; of node 0 itself."""
        return np.array([0, *(self.number[path[:-1]] for path in self.nodes)])

    @cached_property
    def rank(self) -> np.ndarray:
        """Which child of its parent a node is, [S]."""
        return np.array([0, *(path[-1] for path in self.nodes)])

    @cached_property
    def children(self) -> np.ndarray:
        """[S, W]; 0, which is nobody's child, where there is none."""
        found = np.zeros((self.size, self.width), dtype=np.int64)
        for node, path in enumerate(self.nodes, 1):
            found[self.parent[node], path[-1]] = node
        return found

    @cached_property
    def way(self) -> np.ndarray:
        """Nodes on the way to each node, [S, D]; 0 beyond its end."""
        found = np.zeros((self.size, self.depth), dtype=np.int64)
        for node, path in enumerate(self.nodes, 1):
            found[node, : len(path)] = [self.number[path[: i + 1]] for i in range(len(path))]
        return found

    @cached_property
    def sees(self) -> np.ndarray:
        """Whether a node comes after another, or is it, [S, S]."""
        found = np.zeros((self.size, self.size), dtype=bool)
        for node, way in enumerate(self.way):
            found[node, [0, node, *way]] = True
        return found

    def arrays(self) -> tuple[Array, ...]:
        """What an interpreter that forks rows must hand back: the tree is the same in all of them."""
        return ()

    def having(self, arrays: tuple[Array, ...]) -> Branches:
        """The tree with the arrays handed back."""
        return self

    def of(self, name: str, like: Array) -> Array:
        """A table by node, [B, S, ...]."""
        return by_node(getattr(self, name), like)

    def up_to(self, depth: int) -> Branches:
        """The tree without what lies deeper."""
        return self if depth >= self.depth else Branches(tuple(path for path in self.paths if len(path) <= depth))


def require_paths(name: str, paths: Any) -> None:
    """Paths of a tree: whole numbers, no gap between siblings, every node's parent there."""
    form = isinstance(paths, tuple) and all(isinstance(path, tuple) and path for path in paths)
    whole = form and all(type(step) is int and step >= 0 for path in paths for step in path)
    require(
        bool(whole and paths), name, "paths", paths, "such as ((0,), (1,), (0, 0)): child numbers from the root down"
    )
    require(len(paths) <= MOST_NODES, name, "paths", f"{len(paths)} paths", f"at most {MOST_NODES}")
    there = set(paths)
    require(len(there) == len(paths), name, "paths", paths, "different from each other")
    for path in paths:
        before = (path[:-1], (*path[:-1], path[-1] - 1))
        whole = (before[0] in there or not before[0]) and (before[1] in there or path[-1] == 0)
        require(
            whole, name, "paths", path, "beside the paths of its parent and of the sibling before it; one is missing"
        )


class DraftedTree(NamedTuple):
    """A tree of drafts with the target's answer, by node: laws [B, S, V], the others [B, S].

    draft: law a node's token was drawn from, given that its elder siblings were refused; target: law of what comes
    after the node; tokens; real: False where a node holds no draft; position: absolute, of its token.  What it says of
    node 0 is not read, but for its target.  branches: the tree, `Branches` or another one with its tables.
    """

    draft: Array
    target: Array
    tokens: Array
    real: Array
    position: Array
    branches: Any

    def arrays(self) -> tuple[Array, ...]:
        """What an interpreter that forks rows must hand back."""
        return (*self[:5], *self.branches.arrays())

    def having(self, arrays: tuple[Array, ...]) -> DraftedTree:
        """The drafts with the arrays handed back."""
        draft, target, tokens, real, position, *others = arrays
        return DraftedTree(draft, target, tokens, real, position, self.branches.having(tuple(others)))

    def by(self, rule: Rule) -> Block:
        """As a rule of single tokens verifies it: siblings in turn, each against what the residual left of the law."""
        levels = self.branches.of("level", self.tokens)

        def judged(child: Array, left: Array) -> tuple[Array, Array]:
            verdict = verdict_at(rule, slot(self.draft, child), left, slot(self.tokens, child), levels)
            return verdict.accept, verdict.residual

        return descend(self, judged)

    def compared(self, nowhere: int) -> Array:
        """[B, S]: position of what comes after each node, `nowhere` where no child holds a draft."""
        xp, children = namespace(self.real), self.branches.of("children", self.tokens)
        held = [(children[..., k] > 0) & slot(self.real, children[..., k]) for k in range(self.branches.width)]
        return xp.where(xp.any(xp.stack(held, axis=-1), axis=-1), self.position + 1, nowhere)

    def matched(self, winner: Array) -> Block:
        """The child is kept that holds the token `winner` [B, S] of its parent, the first one of equals."""

        def judged(child: Array, left: Array) -> tuple[Array, Array]:
            return indicator(slot(self.tokens, child) == winner, left), left

        return descend(self, judged)


def by_node(table: np.ndarray, like: Array) -> Array:
    """A table over nodes [S, ...] on the device of `like` [B, S], a copy for every row: [B, S, ...]."""
    xp = namespace(like)
    there = xp.asarray(table, device=like.device)
    return xp.broadcast_to(there, (like.shape[0], *there.shape))


def descend(drafted: DraftedTree, judged: Callable[[Array, Array], tuple[Array, Array]]) -> Block:
    """The block of a tree from judged(child [B, S], law [B, S, V]) -> (acceptance [B, S], what a refusal leaves).

    Every node asks for its children in turn, all nodes at once.
    """
    xp, zero = namespace(drafted.target), number(0, drafted.target)
    children = drafted.branches.of("children", drafted.tokens)
    law, kept = drafted.target, []
    left = 0 * law[..., 0] + number(1, law)  # P(every child so far was refused)
    for rank in range(drafted.branches.width):
        child = children[..., rank]
        there = (child > 0) & slot(drafted.real, child)
        accept, residual = judged(child, law)
        accept = xp.where(there, accept, zero)
        kept.append(left * accept)
        left = left * (1 - accept)
        law = xp.where(there[..., None], residual, law)
    return Block(reached(drafted.branches, xp.stack(kept, axis=-1)) * left, law)


def reached(branches: Any, kept: Array) -> Array:
    """kept [B, S, W]: P(child kept | its parent reached) -> P(node reached), [B, S]."""
    xp = namespace(kept)
    rows, width = kept.shape[0], branches.width
    flat = xp.reshape(kept, (rows, branches.size * width))
    parent, rank, level = (branches.of(name, kept) for name in ("parent", "rank", "level"))
    accept = slot(flat, parent * width + rank)
    found = 0 * accept + indicator(level == 0, kept)
    for depth in range(1, branches.depth + 1):
        found = xp.where(level == depth, slot(found, parent) * accept, found)
    return found
