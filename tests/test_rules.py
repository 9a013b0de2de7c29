"""What holds of every shipped rule: its two forms, its source; and what single papers claim."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specsim import DECODERS, RULES, SpecsimError
from specsim.arrays import total_variation
from specsim.catalogue import parameters
from specsim.rules import (
    Annealed,
    Cactus,
    CascadeOpt,
    Ensemble,
    Grouped,
    Lantern,
    LanternPlus,
    Optimal,
    Partitioned,
    Strict,
)
from specsim.rules.grouped import ranking
from specsim.rules.optimal import acceptance
from specsim.specs import parse
from specsim.verification import Verdict
from tests.test_one_token import SETTINGS, SOME_PAIRS, accepted, array, bound, out, pairs

F = Fraction
REFERENCES = (Path(__file__).parents[1] / "docs" / "references.bib").read_text()
KEYS = re.findall(r"^@\w+\{(\w+),", REFERENCES, re.MULTILINE)


@pytest.mark.parametrize("rule", [rule for rule in SETTINGS if hasattr(rule, "acceptance")], ids=repr)
@pytest.mark.parametrize("vocab", [1, 2, 5, 8])
def test_whole_vocabulary_acceptance_is_that_of_single_tokens(rule: Any, vocab: int) -> None:
    ready = bound(rule, vocab)
    for q, p in pairs(5, vocab, seed=vocab):
        whole = acceptance(ready, array(q), array(p), np.array(0))
        every = np.arange(vocab)
        laws = (np.broadcast_to(array(law), (vocab, vocab)) for law in (q, p))
        assert whole.tolist() == ready.at(*laws, every, 0 * every).accept.tolist()


@pytest.mark.parametrize("slot", [0, 1, 5])
def test_the_wrapper_asks_for_the_slot_that_is_judged(slot: int) -> None:
    rule, where = Annealed(2.0, 0.3), np.array(slot)
    for q, p in SOME_PAIRS:
        wrapped, plain = (some(array(q), array(p), where).accept.tolist() for some in (Optimal(rule), rule))
        assert wrapped == plain


@dataclass(frozen=True)
class OnlyAt:
    """A rule with neither a whole-law verdict nor `acceptance`."""

    def at(self, draft: Any, target: Any, token: Any, position: Any) -> Verdict:
        return bound(Lantern(1, 0.4), draft.shape[-1]).at(draft, target, token, position)


def test_a_rule_that_only_has_at_is_asked_for_every_token() -> None:
    for q, p in pairs(10, 4, seed=5):
        laws = array(q)[None, None], array(p)[None, None], np.arange(1)
        found, wanted = (rule(*laws) for rule in (Optimal(OnlyAt()), bound(Optimal(Lantern(1, 0.4)), 4)))
        assert found.accept.tolist() == wanted.accept.tolist()
        assert found.residual.tolist() == wanted.residual.tolist()


@pytest.mark.parametrize("inner", [3, Lantern, "Strict()", None], ids=repr)
def test_only_rules_are_wrapped(inner: Any) -> None:
    with pytest.raises(SpecsimError, match=r"Optimal: rule = .* must be an acceptance rule"):
        Optimal(inner)


def test_ensemble_is_the_mixture() -> None:
    for (q, p), weight in ((pair, F(n, 7)) for pair in SOME_PAIRS for n in range(8)):
        mixture = [weight * a + (1 - weight) * b for a, b in zip(p, q, strict=True)]
        assert out(Ensemble(weight), q, p).tolist() == mixture


@pytest.mark.parametrize("lam", [1, 1.5, 5.0, 20.0])
def test_lantern_plus_with_the_best_residual_stays_below_lam(lam: float) -> None:
    reached = 0
    for q, p in pairs(60, 5, seed=21):
        law = out(Optimal(LanternPlus(3, lam)), q, p)
        assert all(a <= F(str(lam)) * b for a, b in zip(law, p, strict=True))
        reached += any(b and a == F(str(lam)) * b for a, b in zip(law, p, strict=True))
    assert reached or lam >= 5


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_partition_keeps_what_the_strict_rule_keeps_of_its_runs(size: int) -> None:
    """GSD's theorem: sum q b = sum over runs of min(P(C), Q(C)) = 1 - TV(runs), at least 1 - TV(p, q)."""
    below = 0
    for q, p in SOME_PAIRS:
        order = ranking(array(p))
        runs = [order[start : start + size] for start in range(0, len(p), size)]
        masses = [array([array(law)[run].sum() for run in runs]) for law in (q, p)]
        kept = accepted(Partitioned(size), q, p)
        assert kept == 1 - total_variation(*masses) >= accepted(Strict(), q, p)
        law = Partitioned(size)(array(q), array(p), np.array(0)).accept
        below += (law < Strict()(array(q), array(p), np.array(0)).accept).any()
    assert (below > 0) == (size > 1)  # in total, not token by token


def test_a_cascade_keeps_all_from_alpha_one_on() -> None:
    assert all(accepted(CascadeOpt(1), q, p) == 1 for q, p in SOME_PAIRS)
    # A peaked target and a flat draft: max p - max q is the TV, and in floats rounding would decide.
    for numbers in (np.float64, np.float32):
        draft, target = np.full(5, 0.2, dtype=numbers), np.array([0.96, *[0.01] * 4], dtype=numbers)
        assert (CascadeOpt(1.0)(draft, target, np.array(0)).accept == 1).all()


@pytest.mark.parametrize("budget", [0, 0.1, 1, 100.0])
def test_cactus_costs_what_the_optimal_residual_costs(budget: float) -> None:
    """On the line for every law: r G stays below [p - q b]+."""
    for q, p in SOME_PAIRS:
        law, best = (out(rule, q, p) for rule in (Cactus(budget), Optimal(Cactus(budget))))
        assert total_variation(law, array(p)) == total_variation(best, array(p))
    assert budget or all(out(Cactus(0), q, p).tolist() == list(p) for q, p in SOME_PAIRS)


@pytest.mark.parametrize("rule", SETTINGS, ids=repr)
def test_a_rule_is_its_repr(rule: Any) -> None:
    assert parse(repr(rule), RULES, "rule") == rule


def test_the_wrapper_is_listed_with_a_rule_to_type() -> None:
    assert parameters(Optimal) == {"rule": "Lantern(k=10, delta=0.1)"}
    assert parse("Optimal(Grouped)", RULES, "rule") == Optimal(Grouped())
    assert parse("Optimal(LanternPlus(k=5, lam=20))", RULES, "rule") == Optimal(LanternPlus(5, 20))


@pytest.mark.parametrize("kind", RULES.values(), ids=lambda kind: kind.__name__)
def test_a_docstring_says_what_the_rule_is_and_where_it_is_from(kind: type) -> None:
    text = str(kind.__doc__)
    cited = re.findall(r"\[([a-z]+\d{4}[a-z]*)\]", text)
    assert bool(cited) != ("Source: this project" in text) and set(cited) <= set(KEYS)
    assert "Source: " in text and re.search("lossless|biased", text, re.IGNORECASE)
    for key in cited:
        entry = REFERENCES.partition(f"{{{key},")[2].partition("\n}")[0]
        assert all(f"  {name} = {{" in entry for name in ("title", "author", "year"))
        assert (number := re.search(r"eprint = \{([\d.]+)\}", entry)) and f"arXiv {number[1]}" in text


def test_every_reference_is_cited() -> None:
    texts = " ".join(str(kind.__doc__) for kind in (*RULES.values(), *DECODERS.values()))
    assert len(KEYS) == len(set(KEYS)) and all(f"[{key}]" in texts for key in KEYS)
