"""Trees of drafts: exactly lossless, a chain where they are one, and every published mistake is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specsim import (
    Autoregressive,
    Chain,
    DynamicTree,
    Lenient,
    Optimal,
    Race,
    Strict,
    Tree,
    exact,
    random_table,
    sample,
    trees,
)
from specsim.arrays import Array, at, hits, indicator, normalise, point
from specsim.decoders import dynamic_tree
from specsim.decoders import tree as tree_file
from specsim.decoding import Rows, empty_rows
from specsim.errors import SpecsimError
from specsim.grown import Grown
from specsim.interpreters.exact import Exact
from specsim.rules import RULES, Annealed, Band, Ledger
from specsim.rules.codebooks import codes_of
from specsim.siblings import SIBLINGS
from specsim.tasks import make_task
from specsim.trees import Branches
from specsim.verification import Verdict, standard_residual

TWO = ((0,), (1,))
SMALL = ((0,), (1,), (0, 0))
FULL = ((0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1))
WIDE = ((0,), (1,), (2,), (0, 0), (0, 1), (0, 2), (1, 0))
DEEP = ((0,), (0, 0), (0, 0, 0), (1,))
SHAPES = {"two": TWO, "small": SMALL, "full": FULL, "wide": WIDE, "deep": DEEP}
STANDARD_ERRORS = 5
"""A mean of samples farther from the exact one is a fault: by chance one in 1.7 million."""


def models(vocab: int, length: int, seed: int, zeros: bool = False) -> tuple[Any, Any]:
    return random_table(vocab, length, seed, zeros), random_table(vocab, length, seed + 100, zeros)


LOSSLESS = [(name, "distinct") for name in SHAPES] + [(name, "independent") for name in ("two", "small", "full")]


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(("name", "siblings"), LOSSLESS)
def test_strict_trees_are_lossless_in_fractions(name: str, siblings: str, zeros: bool) -> None:
    target, draft = models(3, 3, seed=len(SHAPES[name]), zeros=zeros)
    law = exact(Tree(SHAPES[name], siblings), target, draft, rule=Strict())
    assert law.tv(target) == 0 and isinstance(law.calls, Fraction)
    if not zeros:
        assert exact(Tree(SHAPES[name], siblings), target, draft, rule=Lenient(1.5)).tv(target) > Fraction(1, 100)


GROWN = [DynamicTree(1, 1, 1), DynamicTree(2, 2, 3), DynamicTree(3, 2, 5), DynamicTree(2, 3, 7), DynamicTree(2, 3, 12)]


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("decoder", GROWN, ids=repr)
def test_grown_trees_are_lossless_in_fractions(decoder: Any, zeros: bool) -> None:
    target, draft = models(3, 4, seed=1, zeros=zeros)
    law = exact(decoder, target, draft, rule=Strict())
    assert law.tv(target) == 0 and isinstance(law.calls, Fraction)
    if not zeros:
        assert exact(decoder, target, draft, rule=Lenient(1.5)).tv(target) > Fraction(1, 100)


def test_a_grown_tree_that_holds_every_token_keeps_every_level() -> None:
    """Width V and all nodes: whatever the target draws is there, so each call keeps `depth` drafts."""
    target, draft = models(3, 4, seed=1)
    law = exact(DynamicTree(2, 3, 12), target, draft, rule=Strict())
    assert law.calls == 2


def best_by_hand(draft: dict, depth: int, width: int, nodes: int) -> set[tuple]:
    """The token ways of EAGLE-2's tree, from its words."""
    value, level, grown = {(): Fraction(1)}, [()], []
    for _ in range(depth):
        born = []
        for way in level:
            likeliest = sorted(draft[way], key=lambda token: (-draft[way][token], token))[:width]
            born += [(*way, token) for token in likeliest]
            value |= {(*way, token): value[way] * draft[way][token] for token in likeliest}
        grown += born
        level = sorted(born, key=lambda way: -value[way])[:width]
    return set(sorted(grown, key=lambda way: -value[way])[:nodes])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sizes", [(2, 2, 4), (3, 2, 5), (3, 3, 9)])
def test_the_tree_is_the_one_of_the_paper(sizes: tuple, seed: int) -> None:
    target, draft = models(4, 5, seed=60 + seed)
    task = make_task(DynamicTree(*sizes), target, draft, None, None, None)
    found = dynamic_tree.grow(Rows(np.zeros((1, 5), dtype=np.int64), np.zeros(1, dtype=np.int64)), task, *sizes[:2])
    tokens, tree = dynamic_tree.best(found, sizes[2], *sizes[:2])
    ways = {tuple(int(tokens[0, node]) for node in way if node) for way in tree.of("way", tokens)[0]} - {()}
    assert ways == best_by_hand(as_dicts(draft, 4), *sizes)


def test_tables_of_a_grown_tree_are_those_of_a_fixed_one() -> None:
    for paths in SHAPES.values():
        fixed = Branches(paths)
        tables = (np.array(table)[None] for table in (fixed.parent, fixed.rank, fixed.level))
        grown, like = Grown(*tables, fixed.depth, fixed.width), np.zeros((1, fixed.size), dtype=np.int64)
        for name in ("children", "way", "sees", "level", "parent", "rank"):
            assert (grown.of(name, like) == fixed.of(name, like)).all(), name


def test_an_end_of_sequence_inside_a_tree() -> None:
    target, draft = models(3, 4, seed=5)
    plain = exact(Autoregressive(), target, eos=1)
    law = exact(Tree(SMALL), target, draft, rule=Strict(), eos=1)
    assert law.tv(plain) == 0 and law.calls < plain.calls


CHAINS = [name for name, rule in RULES.items() if codes_of(rule()) is None and name != "Grouped"]
"""Rules that need no codebook, which these tables have not."""


@pytest.mark.parametrize("siblings", SIBLINGS)
@pytest.mark.parametrize("name", CHAINS)
def test_a_tree_with_one_child_a_node_is_a_chain(name: str, siblings: str) -> None:
    rule = RULES[name]()
    target, draft = (model.floats() for model in models(3, 4, seed=7))
    if hasattr(rule, "judge") or hasattr(rule, "block"):
        with pytest.raises(SpecsimError, match="judges chains of drafts, not trees"):
            exact(Tree(SMALL), target, draft, rule=rule)
        return
    chain = exact(Chain(2), target, draft, rule=rule)
    tree = exact(Tree(((0,), (0, 0)), siblings), target, draft, rule=rule)
    assert tree.tv(chain) < 1e-12 and abs(tree.calls - chain.calls) < 1e-12
    assert np.allclose(tree.acceptance_by_slot, chain.acceptance_by_slot)


def test_more_siblings_never_cost_calls_and_distinct_ones_cost_fewest() -> None:
    """On these models; in general the recursive residual is not even the best use of several drafts."""
    for seed in range(12):
        target, draft = models(3, 3, seed=20 + seed)
        calls = {
            (paths, kind): exact(Tree(paths, kind), target, draft, rule=Strict()).calls
            for paths in (((0,),), TWO)
            for kind in SIBLINGS
        }
        assert calls[TWO, "distinct"] <= calls[TWO, "independent"] <= calls[((0,),), "independent"]


def by_hand(draft: dict, target: dict, paths: Any, rule: Any) -> dict:
    """One round of a two-level tree of distinct siblings with a rule of single tokens, on dicts of Fractions."""
    law: dict[tuple, Fraction] = {}

    def node(prefix: tuple, path: tuple, mass: Fraction) -> None:
        """Go down from a node that was reached with this mass, its children not yet drawn."""
        left = dict(target[prefix])
        offers = dict(draft.get(prefix, {}))
        children(prefix, path, 0, left, offers, mass)

    def children(prefix: tuple, path: tuple, rank: int, left: dict, offers: dict, mass: Fraction) -> None:
        total = sum(offers.values())
        if (*path, rank) not in paths or not total:
            for token, chance in left.items():
                add((*prefix, token), mass * chance)
            return
        own = {token: chance / total for token, chance in offers.items()}
        for token, chance in own.items():
            if not chance:
                continue
            keep = rule.accept(own, left, token)
            if keep:
                node((*prefix, token), (*path, rank), mass * chance * keep)
            rest = rule.residual(own, left)
            others = {t: c for t, c in offers.items() if t != token}
            if keep < 1:
                children(prefix, path, rank + 1, rest, others, mass * chance * (1 - keep))

    def add(tokens: tuple, mass: Fraction) -> None:
        law[tokens] = law.get(tokens, Fraction(0)) + mass

    node((), (), Fraction(1))
    return {tokens: mass for tokens, mass in law.items() if mass}


class Omega:
    """b = min(1, w p/q), G* = norm[p - q b]+, on dicts."""

    def __init__(self, omega: Fraction) -> None:
        self.omega = omega

    def accept(self, draft: dict, target: dict, token: int) -> Fraction:
        return min(Fraction(1), self.omega * target[token] / draft[token])

    def residual(self, draft: dict, target: dict) -> dict:
        kept = {t: chance * self.accept(draft, target, t) for t, chance in draft.items() if chance}
        left = {t: max(chance - kept.get(t, 0), Fraction(0)) for t, chance in target.items()}
        total = sum(left.values())
        return {t: c / total for t, c in left.items()} if total else dict(target)


def as_dicts(table: Any, depth: int) -> dict:
    found = {}
    for n in range(depth):
        for code, law in enumerate(table.at_length(n)):
            prefix = tuple((code // table.vocab**k) % table.vocab for k in reversed(range(n)))
            found[prefix] = dict(enumerate(law))
    return found


@pytest.mark.parametrize("omega", [Fraction(1), Fraction(3, 2)])
@pytest.mark.parametrize("paths", [TWO, SMALL, FULL], ids=["two", "small", "full"])
def test_the_first_call_by_hand(paths: Any, omega: Fraction) -> None:
    """The law of the tokens of one call, from a recursion on dicts that knows nothing of blocks."""
    target, draft = models(3, 4, seed=31)
    wanted = by_hand(as_dicts(draft, 3), as_dicts(target, 4), set(paths), Omega(omega))
    assert sum(wanted.values()) == 1
    assert first_call(Tree(paths), target, draft, Lenient(omega)) == wanted


def first_call(decoder: Any, target: Any, draft: Any, rule: Any) -> dict:
    """Law of the tokens that the first call makes final."""
    task = make_task(decoder, target, draft, rule, None, None)
    choose = Exact(task.fresh, task.length, 2**30)
    state, _ = decoder.step(decoder.start(task, empty_rows(1, task), choose), choose, task)
    law: dict[tuple, Fraction] = {}
    for tokens, length, weight in zip(state.tokens.tolist(), state.length, choose.weight, strict=True):
        law[tuple(tokens[:length])] = law.get(tuple(tokens[:length]), Fraction(0)) + weight
    return law


@pytest.mark.parametrize("siblings", SIBLINGS)
def test_a_race_on_a_tree_is_plain_decoding(siblings: str) -> None:
    target, draft = models(2, 3, seed=3)
    assert exact(Race(Tree(SMALL, siblings)), target, draft).tv(target) == 0
    assert exact(Race(DynamicTree(2, 2, 3)), target, draft).tv(target) == 0
    target, draft = (model.floats() for model in models(3, 5, seed=3))
    plain = sample(Race(Autoregressive()), target, rows=300, seed=1).tokens
    found = sample(Race(Tree(FULL, siblings)), target, draft, rows=300, seed=1)
    assert (found.tokens == plain).all() and found.calls.mean() < 4


@pytest.mark.parametrize("siblings", SIBLINGS)
def test_samples_have_the_exact_laws_figures(siblings: str) -> None:
    target, draft = models(3, 4, seed=9)
    law = exact(Tree(SMALL, siblings), target, draft, rule=Lenient(1.5))
    found = sample(Tree(SMALL, siblings), target.floats(), draft.floats(), Lenient(1.5), rows=20000, seed=0)
    for seen, wanted in ((found.calls, law.calls), (found.accepted, law.accepted)):
        assert abs(seen.mean() - float(wanted)) < STANDARD_ERRORS * seen.std() / np.sqrt(len(seen))
    assert [s is not None for s in found.acceptance_by_slot] == [True, True]


Change = Callable[[pytest.MonkeyPatch], None]


def scored_without(patch: pytest.MonkeyPatch) -> None:
    """Siblings drawn with replacement, scored as if without: an elder sibling's token gets draft law 0."""

    def kind(law: Array, token: Array | None, number: int) -> tuple[Array, Array]:
        return law, law[..., 0] == law[..., 0]

    patch.setitem(SIBLINGS, "distinct", kind)
    plain = tree_file.put

    def put(branches: Branches, level: int, rank: int, old: Array, new: Array) -> Array:
        if rank and old.ndim > 2:  # the law that is stored, not the one drawn from
            new = normalise(new * (1 - indicator(new == new.max(axis=-1, keepdims=True), new)), new)
        return plain(branches, level, rank, old, new)

    patch.setattr(tree_file, "put", put)


def unnormalised(patch: pytest.MonkeyPatch) -> None:
    """What is left of the draft law is not renormalised."""

    def kind(law: Array, token: Array | None, number: int) -> tuple[Array, Array]:
        left = law if token is None else law * (1 - indicator(hits(token, law.shape[-1]), law))
        return left, left.sum(axis=-1) > 0

    patch.setitem(SIBLINGS, "distinct", kind)


@dataclass(frozen=True)
class Certain:
    """Draft law 1 on a token that was drawn (EAGLE-2's score on EAGLE-1's siblings); residual: of the law it was drawn
    from, or of the certainty that it is scored with."""

    consistent: bool

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        sure = Strict()(point(token, draft), target, position)
        return Verdict(at(sure.accept, token), sure.residual if self.consistent else standard_residual(draft, target))


def reset(patch: pytest.MonkeyPatch) -> None:
    """Every sibling is judged against the target's law again."""
    plain = trees.descend

    def forgetful(drafted: Any, judged: Any) -> Any:
        return plain(drafted, lambda child, left: judged(child, drafted.target))

    patch.setattr(trees, "descend", forgetful)


@pytest.mark.parametrize("mistake", [scored_without, unnormalised, reset], ids=lambda change: change.__name__)
def test_known_mistakes_are_biased(mistake: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = models(3, 3, seed=41)
    assert exact(Tree(SMALL), target, draft, rule=Strict()).tv(target) == 0
    mistake(monkeypatch)
    assert exact(Tree(SMALL), target, draft, rule=Strict()).tv(target) > Fraction(1, 1000)


def test_draft_law_one_on_sampled_siblings() -> None:
    """In the acceptance alone it is biased.  In the residual too it is lossless after all, whatever drew the token, and
    costs calls: a draft is then kept as often as the target would draw it."""
    target, draft = models(3, 3, seed=41)
    assert exact(Tree(SMALL), target, draft, rule=Certain(False)).tv(target) > Fraction(1, 1000)
    dear = exact(Tree(SMALL), target, draft, rule=Certain(True))
    assert dear.tv(target) == 0 and dear.calls > exact(Tree(SMALL), target, draft, rule=Strict()).calls


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ((), "such as"), (((),), "such as"), ([(0,)], "such as"), (((0,), (0,)), "different"), (((1,),), "missing"),
        (((0,), (1, 0)), "missing"), (((0,), (0, 1)), "missing"), (((-1,),), "such as"), (((0.0,),), "such as"),
        (tuple((i,) for i in range(1100)), "at most 1024"),
    ],
)  # fmt: skip
def test_paths_that_are_no_tree_are_refused(paths: Any, said: str) -> None:
    with pytest.raises(SpecsimError, match=said):
        Tree(paths)
    with pytest.raises(SpecsimError, match="one of distinct, independent"):
        Tree(siblings="other")


def test_rules_of_whole_blocks_are_refused_by_name() -> None:
    target, draft = models(3, 3, seed=1)
    for rule in (Ledger(), Band()):
        with pytest.raises(SpecsimError, match="give a rule of single tokens"):
            exact(Tree(TWO), target, draft, rule=rule)
    assert exact(Tree(TWO), target, draft, rule=Annealed()).calls < 3
    assert exact(Tree(TWO), target, draft, rule=Optimal(Lenient(0.5))).tv(target) == 0


def test_nothing_is_drawn_for_children_that_a_tree_has_not() -> None:
    """Four nodes of two tokens: 16 ways to draw them, though the level below the first has room for nine."""
    target, draft = models(2, 3, seed=1)
    decoder, branches = Tree(((0,), (1,), (2,), (0, 0)), "independent"), Branches(((0,), (1,), (2,), (0, 0)))
    task = make_task(decoder, target, draft, None, None, None)
    choose = Exact(task.fresh, task.length, 2**30)
    decoder.drafted(empty_rows(1, task), choose, task, branches)
    assert len(choose.weight) == 16 and choose.weight.sum() == 1


def test_wide_trees_that_would_hang_are_refused() -> None:
    with pytest.raises(SpecsimError, match="width = 65 must be at most 64"):
        DynamicTree(1, 65, 65)


class Wrong:
    """A draft model whose laws are none."""

    def __init__(self, table: Any, change: Callable[[Array], Array]) -> None:
        self.table, self.change = table, change
        self.vocab, self.length, self.uniform = table.vocab, table.length, table.uniform

    def __call__(self, tokens: Array, start: Array, count: int) -> Array:
        return self.change(self.table(tokens, start, count))


@pytest.mark.parametrize("decoder", [Tree(SMALL), DynamicTree(2, 2, 3)], ids=repr)
@pytest.mark.parametrize("change", [lambda laws: laws - 0.5, lambda laws: 2 * laws], ids=["negative", "too much"])
def test_draft_laws_that_are_none_are_named(decoder: Any, change: Any) -> None:
    target, draft = (model.floats() for model in models(3, 4, seed=1))
    with pytest.raises(SpecsimError, match="draft model: the law of row"):
        sample(decoder, target, Wrong(draft, change), rows=4)
