"""Domains and searches: what is listed is complete, what is found is smallest, and what is not found is said."""

from fractions import Fraction as F
from itertools import product

import pytest

from specsim import SpecsimError
from specsim.testing.domains import MODELS, PAIR, Domain
from specsim.testing.fields import LawField, ModelField, NumberField, OneOf, ProbabilityField, Shape
from specsim.testing.statements import CI, LEAST_DRAWN, Profile, Statement, equal, examine, holds, implies

SMALL = Profile("small", listed=300, drawn=60)


def test_every_law_up_to_a_denominator_is_listed_once() -> None:
    domain = Domain({"target": LawField()}, vocabs=(3,), highest={3: 4})
    listed = [case.raw for shape, d in domain.sizes() for case in domain.cases(shape, d)]
    grid = {
        w for d in range(1, 5) for w in product(*([F(n, d) for n in range(d + 1)] for _ in range(3))) if sum(w) == 1
    }
    assert len(listed) == len(set(listed)) == len(grid)
    assert {dict(raw)["target"] for raw in listed} == grid


def test_the_listing_goes_from_small_to_large() -> None:
    domain = Domain(PAIR)
    sizes = [case.size[:3] for shape, d in domain.sizes() for case in domain.cases(shape, d)]
    assert sizes == sorted(sizes) and sizes[0] == (1, 1, 1) and sizes[-1][0] == 4


def test_models_are_listed_lazily() -> None:
    domain = Domain(MODELS, vocabs=(3,), lengths=(3,))
    first = next(domain.cases(Shape(3, 3), 1))
    assert first.target.length == 3 and first.target.laws.shape == (13, 3)


@pytest.mark.parametrize(
    ("least", "expected"), [(F(1, 2), (1, 2)), (F(2, 3), (2, 3)), (F(3, 4), (3, 4)), (F(0), (0, 1))], ids=str
)
def test_the_counterexample_is_the_smallest(least: F, expected: tuple[int, int]) -> None:
    """Fails where the first entry is `least`: found at V = 2 (or 1) with that very denominator."""
    domain = Domain({"target": LawField()})
    found = examine(Statement("not that", domain, lambda case, _: holds(case.target[0] != least)), SMALL)
    assert found.counterexample is not None and found.minimal
    assert found.counterexample.vocab == 2 and found.counterexample.target[0] == F(*expected)


def test_a_smaller_shape_with_a_larger_denominator_is_the_smaller_one() -> None:
    """At V = 3 it fails with halves, at V = 2 only with sevenths: V decides, and what was ruled out is said."""
    domain = Domain({"target": LawField()}, vocabs=(2, 3))
    wrong = {2: F(2, 7), 3: F(1, 2)}
    found = examine(Statement("not that", domain, lambda case, _: holds(case.target[0] != wrong[case.vocab])), SMALL)
    assert found.counterexample is not None and found.counterexample.size == (2, 1, 7) and found.minimal
    assert found.complete == ((2, 1, 6), (3, 1, 1))
    only = examine(Statement("V = 3", domain, lambda c, _: holds(c.vocab < 3 or c.target[0] != F(1, 2))), SMALL)
    assert only.counterexample is not None and only.complete == ((2, 1, 8), (3, 1, 1))


def test_what_is_beyond_the_listing_is_drawn_and_shrunk_and_not_called_minimal() -> None:
    domain = Domain({"number": NumberField(F(0), F(1))}, vocabs=(2,))
    found = examine(Statement("small", domain, lambda case, _: holds(case.number.denominator < 7)), CI)
    assert found.counterexample is not None and not found.minimal and found.complete == ((2, 1, 4),)
    assert found.counterexample.number.denominator >= 7


def test_a_statement_that_holds_reports_its_worst_margin_and_what_was_tried() -> None:
    domain = Domain({"target": LawField()}, vocabs=(2,))
    found = examine(Statement("max >= 1/2", domain, lambda case, _: max(case.target) - F(1, 2)), SMALL)
    assert (found.counterexample, found.worst, found.listed, found.drawn) == (None, 0, 7, 60)
    assert found.complete == ((2, 1, 4),)


def test_options_have_no_size() -> None:
    domain = Domain({"target": LawField(), "step": OneOf((F(1, 7), F(1, 5)))}, vocabs=(2,))
    listed = [case for shape, d in domain.sizes() for case in domain.cases(shape, d)]
    assert len(listed) == 2 * 7 and [case.size[2] for case in listed[:4]] == [1, 1, 1, 1]


def test_hypotheses_restrict_both_searches() -> None:
    domain = Domain(PAIR, where=lambda case: bool(case.target[0] > case.draft[0]))
    seen = []
    examine(Statement("seen", domain, lambda case, _: seen.append(case) or F(0)), SMALL)
    assert len(seen) > SMALL.drawn and all(case.target[0] > case.draft[0] for case in seen)


def test_a_dear_domain_gets_fewer_cases_but_some() -> None:
    domain = Domain(PAIR, cost=10_000)
    found = examine(Statement("free", domain, lambda case, _: F(0)), SMALL)
    assert (found.listed, found.drawn) == (LEAST_DRAWN, LEAST_DRAWN)


def test_without_a_seed_the_same_cases_are_drawn_and_with_another_seed_others() -> None:
    def drawn(seed: int | None) -> list:
        seen: list = []
        domain = Domain({"target": LawField()}, vocabs=(4,))
        profile = Profile("some", listed=0, drawn=60, seed=seed)
        examine(Statement("seen", domain, lambda case, _: seen.append(case.raw) or F(0)), profile)
        return seen[LEAST_DRAWN:]

    assert drawn(None) == drawn(None) and drawn(1) == drawn(1) != drawn(2)


def test_zeros_ties_points_and_disjoint_laws_are_drawn() -> None:
    seen = []
    domain = Domain(PAIR, vocabs=(3,))
    examine(Statement("seen", domain, lambda c, _: seen.append((c.target, c.draft)) or F(0)), Profile("d", 0, 150))
    pairs = seen[LEAST_DRAWN:]
    assert any((p == 0).any() for p, _ in pairs) and any(max(p) == 1 for p, _ in pairs)
    assert any((p == q).all() for p, q in pairs) and any(((p == 0) | (q == 0)).all() for p, q in pairs)
    assert any(len(set(p)) < 3 for p, _ in pairs)


@pytest.mark.parametrize(
    "domain",
    [
        Domain(PAIR, vocabs=(2,)),
        Domain(MODELS, vocabs=(2,), lengths=(2,)),
        Domain({"joint": LawField(2), "accept": ProbabilityField()}, vocabs=(2,)),
        Domain({"omega": NumberField(F(1), F(3)), "tail": OneOf(("uniform", "onehot"))}, vocabs=(1,)),
    ],
    ids=lambda domain: "-".join(domain.fields),
)
def test_a_case_that_was_written_down_is_read_back(domain: Domain) -> None:
    cases: list = []
    examine(Statement("all", domain, lambda case, _: cases.append(case) or F(0)), Profile("few", 20, 20))
    assert cases and all(domain.read(case.as_json()) == case for case in cases)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "a case needs vocab, length and values"),
        ({"vocab": 0, "length": 1, "values": {}}, "vocab = 0 must be a whole number from 1 to 64"),
        ({"vocab": 10**9, "length": 1, "values": {}}, "must be a whole number from 1 to 64"),
        ({"vocab": 2, "length": True, "values": {}}, "length = True"),
        ({"vocab": 2, "length": 1, "values": {"target": ["1", "0"]}}, "mind draft"),
        ({"vocab": 2, "length": 1, "values": {"target": ["1", "0"], "draft": ["1"]}}, "must be a list of 2 fractions"),
        ({"vocab": 2, "length": 1, "values": {"target": ["1", "0"], "draft": ["1", "1"]}}, "is not a law"),
        ({"vocab": 2, "length": 1, "values": {"target": ["1", "0"], "draft": ["x", "1"]}}, "is not a fraction"),
        ({"vocab": 2, "length": 1, "values": {"target": ["1", "0"], "draft": ["1/0", "1"]}}, "is not a fraction"),
    ],
)
def test_a_case_that_is_none_is_refused(content: object, words: str) -> None:
    with pytest.raises(SpecsimError, match=words):
        Domain(PAIR).read(content)


def test_a_case_outside_its_hypotheses_is_refused() -> None:
    case = {"vocab": 1, "length": 1, "values": {"target": ["1"], "draft": ["1"]}}
    with pytest.raises(SpecsimError, match="does not satisfy the hypotheses"):
        Domain(PAIR, where=lambda case: False).read(case)


def test_margins() -> None:
    law = LawField().load((F(1, 3), F(2, 3)))
    assert equal(law, law) == 0 and equal(law, law[::-1]) == F(-1, 3) and equal(F(1), F(3)) == -2
    assert (holds(True), holds(False)) == (0, -1) and (implies(False, F(-1)), implies(True, F(-1))) == (1, -1)


def test_a_model_field_is_a_table() -> None:
    raw = ((F(1), F(0)), (F(0), F(1)), (F(1, 2), F(1, 2)))
    assert ModelField().load(raw).at_length(1).tolist() == [list(raw[1]), list(raw[2])]
    with pytest.raises(SpecsimError, match="has 3 laws"):
        ModelField().read([["1", "0"]], Shape(2, 2))
