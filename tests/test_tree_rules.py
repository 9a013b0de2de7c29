"""Relaxed rules inside trees of drafts: the exact law of a call and of a run against a recursion on dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specsim import DynamicTree, Optimal, Tree, exact, random_table
from specsim.arrays import Array, number, slot
from specsim.rules import (
    Additive,
    Annealed,
    ContentAware,
    Lantern,
    LanternDynamic,
    LanternPlus,
    LanternPlusDynamic,
    Lenient,
    lantern,
    lantern_plus,
)
from specsim.tables import table
from specsim.trees import DraftedTree, descend
from specsim.verification import Verdict, verdict_at
from tests import oracle
from tests.oracle import ONE, ZERO, Event, Model, Rule, model_of, norm
from tests.test_one_token import bound, plain
from tests.test_trees import SMALL, as_dicts, best_by_hand, first_call

F = Fraction
ANNEALED = [Annealed(2.0, 0.7), Annealed(1.1, 0.7, clamp=False)]
STATIC = [Lantern(1, 0.4), Lantern(2, 0.6), LanternPlus(1, 2.0), LanternPlus()]
RULES = [
    *ANNEALED, *STATIC, *map(Optimal, STATIC), Optimal(LanternPlusDynamic(1, 2.0)),
    LanternDynamic(1, 0.4), LanternDynamic(), LanternPlusDynamic(1, 2.0), LanternPlusDynamic(),
    ContentAware(0.5, 0.8), ContentAware(), Additive(0.4),
]  # fmt: skip
GROWN = DynamicTree(2, 2, 5)
BOTH = ((0,), (1,), (0, 0), (0, 1))
SPLIT = ((0,), (1,), (0, 0), (1, 0))
TREES = {"pairs": Tree(BOTH), "split": Tree(SPLIT), "again": Tree(SMALL, "independent"), "grown": GROWN}
Offers = Callable[[tuple, tuple, tuple], oracle.Law | None]
"""offers(tokens on the way, path of the child, elder siblings' tokens) -> the law that child is drawn from, if any."""


def models(vocab: int, length: int, seed: int, zeros: bool = False) -> tuple[Any, Any]:
    return random_table(vocab, length, seed, zeros), random_table(vocab, length, seed + 100, zeros)


def alike(law: tuple, length: int) -> Any:
    """The same law after every prefix."""
    return table([[list(law)] * len(law) ** n for n in range(length)])


def round_of(tokens: tuple, target: Model, rule: Rule, offers: Offers) -> Iterator[Event]:
    """Everything one call can do: children in turn, each against what is left of the law after their parent."""

    def judge(way: tuple, path: tuple, refused: tuple, left: oracle.Law, mass: Fraction) -> Iterator[Event]:
        draft = offers(way, (*path, len(refused)), refused)
        if draft is None:
            yield from (Event(mass * g, (*way, y), *(len(way),) * 3) for y, g in enumerate(left) if g)
            return
        for x, share in ((x, share) for x, share in enumerate(draft) if share):
            keep, rest = rule(draft, left, x, len(way))
            if keep:
                below = (*way, x), (*path, len(refused)), ()
                yield from judge(*below, target((*tokens, *way, x)), mass * share * keep)
            if keep < 1:
                yield from judge(way, path, (*refused, x), rest, mass * share * (1 - keep))

    yield from judge((), (), (), target(tokens), ONE)


def drawn(draft: Model, tokens: tuple, length: int, paths: tuple, siblings: str) -> Offers:
    """A fixed tree, no draft being the last token of a sequence."""

    def offers(way: tuple, path: tuple, refused: tuple) -> oracle.Law | None:
        if path not in paths or len(tokens) + len(way) >= length - 1:
            return None
        gone = refused if siblings == "distinct" else ()
        some = [ZERO if v in gone else share for v, share in enumerate(draft((*tokens, *way)))]
        return norm(some, ()) or None

    return offers


def grown(draft: Any, sizes: tuple) -> Offers:
    """EAGLE-2's tree after no token: the likeliest are certain, likeliest first."""
    dicts = as_dicts(draft, sizes[0])
    ways, vocab = best_by_hand(dicts, *sizes), draft.vocab

    def offers(way: tuple, path: tuple, refused: tuple) -> oracle.Law | None:
        born = [w[-1] for w in ways if len(w) == len(way) + 1 and w[:-1] == way]
        order = sorted(born, key=lambda token: (-dicts[way][token], token))
        return tuple(ONE * (v == order[len(refused)]) for v in range(vocab)) if len(refused) < len(order) else None

    return offers


def by_hand(decoder: Any, target: Any, draft: Any, rule: Any) -> dict:
    """Law of the tokens of the first call."""
    models = [model_of(model).__getitem__ for model in (target, draft)]
    law: dict[tuple, Fraction] = {}
    if isinstance(decoder, Tree):
        offers = drawn(models[1], (), target.length, decoder.paths, decoder.siblings)
    else:
        offers = grown(draft, (decoder.depth, decoder.width, decoder.nodes))
    for event in round_of((), models[0], plain(rule, target.vocab), offers):
        law[event.added] = law.get(event.added, ZERO) + event.share
    return law


def found(decoder: Any, target: Any, draft: Any, rule: Any) -> dict:
    """The same from the decoder."""
    law = first_call(decoder, target, draft, bound(rule, target.vocab))
    return {tokens: mass for tokens, mass in law.items() if mass}


def bias(law: dict, target: Any) -> Fraction:
    """TV of the first token of a call."""
    first = [sum((m for way, m in law.items() if way[0] == v), ZERO) for v in range(target.vocab)]
    return sum((abs(a - b) for a, b in zip(first, target.at_length(0)[0], strict=True)), ZERO) / 2


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_first_call_by_hand(rule: Any, name: str) -> None:
    target, draft = models(3, 4, seed=31, zeros=name == "split")
    wanted = by_hand(TREES[name], target, draft, rule)
    assert sum(wanted.values()) == 1 and found(TREES[name], target, draft, rule) == wanted


@pytest.mark.parametrize("decoder", [Tree(((0,), (1,), (2,))), DynamicTree(2, 3, 6)], ids=["3", "3+"])
@pytest.mark.parametrize("rule", [ANNEALED[0], *STATIC[::2], Optimal(STATIC[2]), ContentAware(0.5, 0.8)], ids=repr)
def test_four_tokens_and_three_siblings(rule: Any, decoder: Any) -> None:
    target, draft = models(4, 3, seed=52)
    assert found(decoder, target, draft, rule) == by_hand(decoder, target, draft, rule)


BIASED = [rule for rule in RULES if rule != Optimal(LanternPlusDynamic(1, 2.0))]
"""That one keeps less than the strict rule here, so it is lossless."""


@pytest.mark.parametrize(("siblings", "paths"), [("distinct", SMALL), ("independent", ((0,), (1,)))])
@pytest.mark.parametrize("rule", BIASED, ids=repr)
def test_whole_runs_by_hand(rule: Any, siblings: str, paths: tuple) -> None:
    """The bias of a run and its calls are the same fractions from two sources."""
    target, draft = models(3, 3, seed=61)
    goal, offered = (model_of(model).__getitem__ for model in (target, draft))

    def step(tokens: tuple, window: tuple) -> Iterator[Event]:
        return round_of(tokens, goal, plain(rule, 3), drawn(offered, tokens, 3, paths, siblings))

    wanted = oracle.run(({((), ()): ONE}, step), 3)
    law = exact(Tree(paths, siblings), target, draft, rule=bound(rule, 3))
    masses = [wanted.law[way] for way in np.ndindex(3, 3, 3)]
    assert law.mass.tolist() == masses and law.call_law == {n: m for n, m in wanted.calls.items() if m}
    away = sum(abs(goal(())[a] * goal((a,))[b] * goal((a, b))[c] - mass) for (a, b, c), mass in wanted.law.items())
    missed = ONE - sum(goal(w[:0])[w[0]] * goal(w[:1])[w[1]] * goal(w[:2])[w[2]] for w in wanted.law)
    assert law.tv(target) == (away + missed) / 2 > 0


WRITTEN = {
    Annealed(2.0, 0.0): ("1/3", "4/15"), Additive(0.4): ("1/3", "37/75"), Lantern(1, 0.4): ("11/30", "1/6"),
    Optimal(Lantern(1, 0.4)): ("1/3", "1/6"), LanternPlus(): ("4/9", "2/3"), Optimal(LanternPlus()): ("1/3", "2/3"),
    LanternDynamic(1, 0.4): ("19/54", "16/27"), LanternPlusDynamic(): ("1/3", "2/3"),
}  # fmt: skip
"""Bias of the first token with two siblings, drawn and grown; target (1, 1, 4)/6, draft (3, 2, 1)/6."""


@pytest.mark.parametrize("rule", WRITTEN, ids=repr)
def test_the_bias_of_a_token_as_a_fraction(rule: Any) -> None:
    target, draft = alike((F(1, 6), F(1, 6), F(2, 3)), 2), alike((F(1, 2), F(1, 3), F(1, 6)), 2)
    biases = [
        [bias(law(decoder, target, draft, rule), target) for law in (by_hand, found)]
        for decoder in (Tree(((0,), (1,))), DynamicTree(1, 2, 2))
    ]
    assert biases == [[F(written)] * 2 for written in WRITTEN[rule]]


Seen = Callable[[DraftedTree, Array, Array, Array], tuple[Array, Array, Array]]
"""seen(tree, child, law left, levels) -> draft law, target law and slot that a rule is shown."""


def showing(seen: Seen) -> Callable:
    """DraftedTree.by, but for what the rule is shown."""

    def by(self: DraftedTree, rule: Any) -> Any:
        levels = self.branches.of("level", self.tokens)

        def judged(child: Array, left: Array) -> tuple[Array, Array]:
            draft, law, slots = seen(self, child, left, levels)
            return tuple(verdict_at(rule, draft, law, slot(self.tokens, child), slots))

        return descend(self, judged)

    return by


def as_it_is(tree: DraftedTree, child: Array, left: Array, levels: Array) -> tuple[Array, Array, Array]:
    return slot(tree.draft, child), left, levels


def unscaled(tree: DraftedTree, child: Array, left: Array, levels: Array) -> tuple[Array, Array, Array]:
    """What elder siblings left of the draft's law is not renormalised."""
    own, eldest = slot(tree.draft, child), slot(tree.draft, tree.branches.of("children", tree.tokens)[..., 0])
    return np.where(own > 0, eldest, number(0, own)), left, levels


def reset(tree: DraftedTree, child: Array, left: Array, levels: Array) -> tuple[Array, Array, Array]:
    """Every sibling is judged against the target's law, and what it leaves is of that law too."""
    return slot(tree.draft, child), tree.target, levels


def level_ignored(tree: DraftedTree, child: Array, left: Array, levels: Array) -> tuple[Array, Array, Array]:
    return slot(tree.draft, child), left, 0 * levels


def level_of_the_child(tree: DraftedTree, child: Array, left: Array, levels: Array) -> tuple[Array, Array, Array]:
    return slot(tree.draft, child), left, levels + 1


NEEDS_Q = [Annealed(2.0, 0.7), Additive(0.4), LanternPlus(1, 2.0), Optimal(LanternPlus(1, 2.0)), Lantern(1, 0.4)]
MISTAKES = [
    *((unscaled, rule) for rule in NEEDS_Q),
    *((reset, rule) for rule in (*NEEDS_Q, LanternDynamic(1, 0.4), LanternPlusDynamic(1, 2.0))),
    *((change, Annealed(2.0, 0.7)) for change in (level_ignored, level_of_the_child)),
]


@pytest.mark.parametrize(("mistake", "rule"), MISTAKES, ids=lambda it: getattr(it, "__name__", repr(it)))
def test_mistakes_differ_from_the_recursion(mistake: Seen, rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = models(3, 4, seed=39)
    wanted = by_hand(Tree(SMALL), target, draft, rule)
    monkeypatch.setattr(DraftedTree, "by", showing(as_it_is))
    assert found(Tree(SMALL), target, draft, rule) == wanted
    monkeypatch.setattr(DraftedTree, "by", showing(mistake))
    assert found(Tree(SMALL), target, draft, rule) != wanted


@pytest.mark.parametrize("rule", [Lantern(1, 0.4), LanternPlus(1, 2.0), LanternPlusDynamic(1, 2.0)], ids=repr)
def test_neighbours_lend_what_is_left_of_them(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what the target gave them before elder siblings were refused."""
    target, draft = models(3, 4, seed=31)
    wanted, before = by_hand(Tree(SMALL), target, draft, rule), {}

    def seen(tree: DraftedTree, child: Array, left: Array, levels: Array) -> tuple[Array, Array, Array]:
        before["target"] = tree.target
        return as_it_is(tree, child, left, levels)

    def loan(neighbours: Any, law: Array, *others: Any) -> Any:
        return plain_loan(neighbours, before["target"], *others)

    plain_loan = lantern.loan
    monkeypatch.setattr(DraftedTree, "by", showing(seen))
    assert found(Tree(SMALL), target, draft, rule) == wanted
    for module in (lantern, lantern_plus):
        monkeypatch.setattr(module, "loan", loan)
    assert found(Tree(SMALL), target, draft, rule) != wanted


@dataclass(frozen=True)
class Noting:
    """Lenience that notes which slot it is shown of each tree node."""

    slots: list

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        self.slots.append(np.unique(position, axis=0).tolist())
        return Lenient(1.5)(draft, target, position)


@pytest.mark.parametrize("decoder", [Tree(BOTH), DynamicTree(2, 2, 4)], ids=["drawn", "grown"])
def test_the_slot_of_a_draft_is_its_level(decoder: Any) -> None:
    """0 for every child of the final tokens, 1 for theirs, whichever sibling they are."""
    rule = Noting([])
    target, draft = models(3, 4, seed=31)
    first_call(decoder, target, draft, rule)
    assert rule.slots == [[[0, 1, 1, 2, 2]]] * 2
