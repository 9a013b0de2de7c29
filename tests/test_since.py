"""Draft models whose laws depend on where a round began, as a head on the target's features has them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specsim import Chain, DynamicTree, Lenient, RelaxedBonus, Strict, Tree, exact, random_table, sample
from specsim.arrays import namespace
from specsim.decoders import chain as chain_file

DECODERS = [Chain(2), RelaxedBonus(2), Tree(((0,), (1,), (0, 0), (0, 1))), DynamicTree(2, 2, 4)]
STANDARD_ERRORS = 5
"""A mean of samples farther from the exact one is a fault: by chance one in 1.7 million."""


class Rooted:
    """The first draft of a round follows one table, every later one another."""

    def __init__(self, first: Any, later: Any) -> None:
        self.first, self.later = first, later
        self.vocab, self.length, self.uniform = first.vocab, first.length, first.uniform

    def floats(self) -> Rooted:
        return Rooted(self.first.floats(), self.later.floats())

    def since(self, length: Any) -> Any:
        def laws(tokens: Any, start: Any, count: int) -> Any:
            deep = start[:, None] + np.arange(count) > length[:, None]
            return namespace(tokens).where(
                deep[..., None], self.later(tokens, start, count), self.first(tokens, start, count)
            )

        return laws

    def __call__(self, tokens: Any, start: Any, count: int) -> Any:
        raise AssertionError("a decoder says which tokens are final")


def models(zeros: bool = False) -> tuple[Any, Any, Any]:
    return tuple(random_table(3, 4, seed, zeros) for seed in (1, 2, 3))  # type: ignore[return-value]


@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_lossless_in_fractions(decoder: Any) -> None:
    target, first, later = models()
    law = exact(decoder, target, Rooted(first, later), rule=Strict())
    assert law.tv(target) == 0 and isinstance(law.calls, Fraction)
    assert exact(decoder, target, Rooted(first, later), rule=Lenient(1.5)).tv(target) > Fraction(1, 100)


@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_both_tables_count_and_where_they_are_one_it_is_a_plain_draft(decoder: Any) -> None:
    target, first, later = models()
    law = exact(decoder, target, Rooted(first, later), rule=Lenient(1.5))
    for other in (Rooted(first, first), Rooted(later, later)):
        assert law.tv(exact(decoder, target, other, rule=Lenient(1.5))) > 0
    plain = exact(decoder, target, first, rule=Lenient(1.5))
    assert exact(decoder, target, Rooted(first, first), rule=Lenient(1.5)).tv(plain) == 0


def test_a_chain_is_the_tree_with_one_child_a_node() -> None:
    target, first, later = models()
    draft = Rooted(first, later)
    chain = exact(Chain(2), target, draft, rule=Lenient(1.5))
    tree = exact(Tree(((0,), (0, 0))), target, draft, rule=Lenient(1.5))
    assert tree.tv(chain) == 0 and tree.calls == chain.calls


def test_samples_have_the_exact_laws_figures_in_sequences_shorter_than_the_model() -> None:
    target, first, later = (model.floats() for model in models())
    law = exact(Chain(2), target, Rooted(first, later), rule=Lenient(1.5), length=3)
    found = sample(Chain(2), target, Rooted(first, later), Lenient(1.5), length=3, rows=20000, seed=0)
    assert abs(found.calls.mean() - law.calls) < STANDARD_ERRORS * found.calls.std() / np.sqrt(20000)


def test_a_round_that_begins_elsewhere_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts taken as final ones: still lossless, as any draft law is, but another decoder."""
    target, first, later = models()
    right = exact(Chain(2), target, Rooted(first, later), rule=Strict())
    plain = chain_file.drafting
    monkeypatch.setattr(
        chain_file, "drafting", lambda task, length: lambda t, start, c: plain(task, start)(t, start, c)
    )
    wrong = exact(Chain(2), target, Rooted(first, later), rule=Strict())
    assert wrong.tv(target) == 0 and wrong.calls != right.calls
