"""What every tree of drafts shares: the target's answer, verification, and what becomes final."""

from __future__ import annotations

from typing import Any

from specsim.arrays import Array, hits, namespace, place, slot
from specsim.decoding import Round, Rows, Task, settle
from specsim.trees import DraftedTree
from specsim.verification import draw_stop


def tree_round(
    state: Rows, choose: Any, task: Task, drafted: tuple[Array, Array, Array], branches: Any
) -> tuple[Rows, Round]:
    """Verify a tree in one target call and add one token.

    drafted: tokens, real [B, S], draft laws [B, S, V]; branches: `Branches`, or another tree with its tables.
    """
    tokens, real, draft = drafted
    xp, end = namespace(tokens), task.length - 1
    target = all_laws(task.target, state, tokens, branches)
    level, way = branches.of("level", tokens), branches.of("way", tokens)
    tree = DraftedTree(draft, target, tokens, real, state.length[:, None] + level - 1, branches)
    block, live = task.verify(choose, tree, (*state, tokens, level, way))
    node, (old, length, tokens, level, way, residual) = draw_stop(block, choose, (*live, block.residual))
    there = node[:, None]
    added, stop = slot(residual, there)[:, 0, :], slot(level, there)[:, 0]
    kept = slot(tokens, slot(way, there)[:, 0, :])
    extra, (old, length, kept, stop) = choose.token(added, length + stop, (old, length, kept, stop))
    values = xp.concat([kept, extra[:, None]], axis=1)
    values = xp.where(hits(stop, branches.depth + 1), extra[:, None], values)
    return settle(task, Rows(old, length), values, stop, xp.clip(end - length, 0, branches.depth))


def all_laws(model: Any, state: Rows, tokens: Array, branches: Any) -> Array:
    """The model's laws of what comes after every node, [B, S, V]: one forward of a model that reads trees, `model.tree(
    tokens [B, T], start [B], nodes [B, S], branches)`.

    Of any other, one node after another is put after the final tokens: a row may have a prompt of its own, so nodes
    cannot be rows.
    """
    if hasattr(model, "tree"):
        return model.tree(state.tokens, state.length, tokens, branches)
    way, level = branches.of("way", tokens), branches.of("level", tokens)
    found = [after_node(model, state, tokens, way[:, node, :], level[:, node]) for node in range(branches.size)]
    return namespace(tokens).stack(found, axis=1)


def after(model: Any, state: Rows, way: Array) -> Array:
    """The law after the tokens `way` [B, d] that follow the final ones, [B, V]."""
    return model(place(state.tokens, state.length, way), state.length + way.shape[1], 1)[:, 0, :]


def after_node(model: Any, state: Rows, tokens: Array, way: Array, level: Array) -> Array:
    """The law after a node, whose way [B, D] is `level` [B] long in each row, [B, V]."""
    return model(place(state.tokens, state.length, slot(tokens, way)), state.length + level, 1)[:, 0, :]
