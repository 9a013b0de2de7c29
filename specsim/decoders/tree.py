"""Speculative decoding with a tree of drafts: several next tokens at every step, one target call for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim.arrays import Array, hits, namespace, place, slot
from specsim.decoding import NOWHERE, Round, Rows, Task, settle
from specsim.errors import require
from specsim.siblings import SIBLINGS
from specsim.trees import Branches, DraftedTree, Paths, by_node, require_paths
from specsim.verification import draw_stop


@dataclass(frozen=True)
class Tree:
    """Draft a fixed tree of tokens, verify all of it in one target call, add one token.

    paths: of every node, the number of the child taken at each level; siblings: "distinct", drawn without replacement
    (EAGLE-1), or "independent".  Siblings are judged in turn, each against what the rule's residual left of the
    target's law.  Lossless with a lossless rule of single tokens.  Sources: EAGLE (arXiv 2401.15077), SpecInfer
    (2305.09781), LANTERN++ (2502.06352: a fixed tree of image tokens).
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
        state, tokens, real, draft = self.drafted(state, choose, task, branches)
        xp, end = namespace(tokens), task.length - 1
        target = all_laws(task.target, state, tokens, branches)
        position = state.length[:, None] + by_node(branches.level, tokens) - 1
        tree = DraftedTree(draft, target, tokens, real, position, branches)
        block, live = task.verify(choose, tree, (*state, tokens))
        node, (old, length, tokens, residual) = draw_stop(block, choose, (*live, block.residual))
        added = slot(residual, node[:, None])[:, 0, :]
        stop = slot(by_node(branches.level, tokens), node[:, None])[:, 0]
        extra, (old, length, tokens, node, stop) = choose.token(added, length + stop, (old, length, tokens, node, stop))
        way = slot(by_node(branches.way, tokens), node[:, None])[:, 0, :]
        kept = xp.concat([slot(tokens, way), extra[:, None]], axis=1)
        values = xp.where(hits(stop, branches.depth + 1), extra[:, None], kept)
        return settle(task, Rows(old, length), values, stop, xp.clip(end - length, 0, branches.depth))

    def drafted(self, state: Rows, choose: Any, task: Task, branches: Branches) -> tuple[Rows, Array, Array, Array]:
        """Draw the tree -> (state, tokens [B, S], real [B, S], laws [B, S, V])."""
        assert task.draft is not None
        xp = namespace(state.tokens)
        tokens = xp.broadcast_to(0 * state.length[:, None], (state.length.shape[0], branches.size))
        real = tokens == 0
        draft = xp.broadcast_to(task.fresh, (*tokens.shape, task.fresh.shape[0]))
        for level in range(branches.depth):
            law, token = laws(task.draft, state, tokens, branches, level), None
            position = state.length[:, None] + level + 0 * law_index(branches, level, tokens)
            for rank in range(branches.width):
                law, there = SIBLINGS[self.siblings](law, token, rank)
                there = there & (position < task.length - 1)
                where = xp.where(there, position, NOWHERE)
                token, (*held, tokens, real, draft, law, there, position) = choose.token(
                    law, where, (*state, tokens, real, draft, law, there, position)
                )
                state = Rows(*held)
                tokens, real, draft = (
                    put(branches, level, rank, old, new) for old, new in ((tokens, token), (real, there), (draft, law))
                )
        return state, tokens, real, draft


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


def laws(model: Any, state: Rows, tokens: Array, branches: Branches, level: int) -> Array:
    """The model's laws of what comes after each node of a level, [B, P, V]."""
    nodes = nodes_of(branches, level)
    if hasattr(model, "tree") and level:
        known = branches.up_to(level)
        found = model.tree(state.tokens, state.length, tokens[:, : known.size], known)
        return found[:, int(nodes[0]) : int(nodes[-1]) + 1, :]
    found = [after(model, state, slot(tokens, by_node(branches.way[node, :level], tokens))) for node in nodes]
    return namespace(tokens).stack(found, axis=1)


def all_laws(model: Any, state: Rows, tokens: Array, branches: Branches) -> Array:
    """The model's laws of what comes after every node, [B, S, V]: one forward of a model that reads trees, `model.tree(
    tokens [B, T], start [B], nodes [B, S], branches)`.

    Of any other, one node after another is put after the final tokens: a row may have a prompt of its own, so nodes
    cannot be rows.
    """
    if hasattr(model, "tree"):
        return model.tree(state.tokens, state.length, tokens, branches)
    found = [laws(model, state, tokens, branches, level) for level in range(branches.depth + 1)]
    return namespace(tokens).concat(found, axis=1)


def after(model: Any, state: Rows, way: Array) -> Array:
    """The law after the tokens `way` [B, d] that follow the final ones, [B, V]."""
    return model(place(state.tokens, state.length, way), state.length + way.shape[1], 1)[:, 0, :]
