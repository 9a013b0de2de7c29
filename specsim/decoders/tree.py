"""Speculative decoding with a tree of drafts: several next tokens at every step, one target call for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim.arrays import Array, namespace, slot
from specsim.decoders.tree_round import after, tree_round
from specsim.decoding import NOWHERE, Round, Rows, Task, drafting
from specsim.errors import require
from specsim.siblings import SIBLINGS
from specsim.trees import Branches, Paths, by_node, require_paths


@dataclass(frozen=True)
class Tree:
    """Draft a fixed tree of tokens, verify all of it in one target call, add one token.

    paths: of every node, the number of the child taken at each level; siblings: "distinct", drawn without replacement
    (EAGLE-1), or "independent".  Siblings are judged in turn, each against what the rule's residual left of the
    target's law.  Lossless with a lossless rule of single tokens.  Sources: EAGLE (arXiv 2401.15077), SpecInfer
    (2305.09781), LANTERN++ (2502.06352: a fixed tree of image tokens).  In a race, whose noise they share, independent
    siblings are all the same token (docs/theory.md, T29).
    """

    paths: Paths = ((0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0))
    siblings: str = "distinct"
    needs_draft: ClassVar[bool] = True
    takes_rule: ClassVar[bool] = True
    single_tokens: ClassVar[bool] = True  # no rule that judges chains

    def __post_init__(self) -> None:
        require_paths("Tree", self.paths)
        require(self.siblings in SIBLINGS, "Tree", "siblings", self.siblings, f"one of {', '.join(SIBLINGS)}")

    def start(self, task: Task, rows: Rows, choose: Any) -> Rows:
        """Nothing to prepare."""
        return rows

    def step(self, state: Rows, choose: Any, task: Task) -> tuple[Rows, Round]:
        """One round: a draft call for each level, one target call."""
        branches = Branches(self.paths).up_to(max(1, task.length - 1))
        state, *drafted = self.drafted(state, choose, task, branches)
        return tree_round(state, choose, task, tuple(drafted), branches)

    def drafted(self, state: Rows, choose: Any, task: Task, branches: Branches) -> tuple[Rows, Array, Array, Array]:
        """Draw the tree -> (state, tokens [B, S], real [B, S], laws [B, S, V])."""
        xp = namespace(state.tokens)
        tokens = xp.broadcast_to(0 * state.length[:, None], (state.length.shape[0], branches.size))
        real = tokens == 0
        draft = xp.broadcast_to(task.fresh, (*tokens.shape, task.fresh.shape[0]))
        for level in range(branches.depth):
            law, token = laws(task, state, tokens, branches, level), None
            position = state.length[:, None] + level + 0 * law_index(branches, level, tokens)
            for rank in range(branches.width):
                law, there = SIBLINGS[self.siblings](law, token, rank)
                there = there & (position < task.length - 1) & has_child(branches, level, rank, tokens)
                where = xp.where(there, position, NOWHERE)
                token, (*held, tokens, real, draft, law, there, position) = choose.token(
                    law, where, (*state, tokens, real, draft, law, there, position)
                )
                state = Rows(*held)
                tokens, real, draft = (
                    put(branches, level, rank, old, new) for old, new in ((tokens, token), (real, there), (draft, law))
                )
        return state, tokens, real, draft


def has_child(branches: Branches, level: int, rank: int, like: Array) -> Array:
    """Which nodes of a level have such a child, [B, P]: what is drawn for the others cannot matter."""
    return by_node(branches.children[nodes_of(branches, level), rank] > 0, like)


def law_index(branches: Branches, level: int, like: Array) -> Array:
    """The nodes of one level [B, P]."""
    return by_node(nodes_of(branches, level), like)


def nodes_of(branches: Branches, level: int) -> Any:
    """Numbers of the nodes of one level: they follow one another."""
    return (branches.level == level).nonzero()[0]


def put(branches: Branches, level: int, rank: int, old: Array, new: Array) -> Array:
    """old [B, S, ...] with new [B, P, ...] at the rank-th children of a level's nodes, where they have one."""
    xp = namespace(old)
    takes = (branches.level == level + 1) & (branches.rank == rank)
    first = int(nodes_of(branches, level)[0])
    source = by_node((branches.parent - first).clip(0, new.shape[1] - 1), old)
    takes = by_node(takes, old)
    moved = slot(new, source)
    return xp.where(takes[..., None] if old.ndim > 2 else takes, moved, old)


def laws(task: Task, state: Rows, tokens: Array, branches: Branches, level: int) -> Array:
    """The draft model's laws of what comes after each node of a level, [B, P, V]."""
    nodes, model = nodes_of(branches, level), drafting(task, state.length)
    if level and hasattr(model, "tree"):
        known = branches.up_to(level)
        found = model.tree(state.tokens, state.length, tokens[:, : known.size], known)
        return found[:, int(nodes[0]) : int(nodes[-1]) + 1, :]
    found = [after(model, state, slot(tokens, by_node(branches.way[node, :level], tokens))) for node in nodes]
    return namespace(tokens).stack(found, axis=1)
