"""The record of a check: worst and smallest, edges of thresholds, JSON, and what is shown."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from specsim import Additive, ContentAware, Lantern, Lenient, Optimal, SpecsimError, Strict, Verdict
from specsim.arrays import Array, indicator, number
from specsim.checking.onetoken import measure
from specsim.checking.pairs import all_pairs, stack
from specsim.checking.parity import Known, compare
from specsim.checking.result import CheckResult, as_json, check, meets
from specsim.checking.show import render
from specsim.checking.validity import exact_verdict
from specsim.verification import optimal_residual, standard_residual

BACKENDS = {"torch": torch.asarray}


def shown(result: CheckResult) -> str:
    console = Console(width=80, file=io.StringIO())
    with console.capture() as captured:
        console.print(render(result))
    return captured.get()


@dataclass(frozen=True)
class Typical:
    """Keep a token iff its target probability is above a threshold."""

    threshold: Fraction

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        accept = indicator(target > number(self.threshold, target), target)
        return Verdict(accept, optimal_residual(draft, target, accept))


def known(rule: Any) -> list[Known]:
    some = next(one for one in all_pairs() if one.name == "canonical pair")
    pile = stack([some])
    return [Known(rule, pile, measure(rule, pile, exact_verdict(rule, pile).accept))]


def test_the_worst_and_the_smallest_are_different_things() -> None:
    result = check(Lenient(2), {})
    assert result.tv.value == Fraction(1, 2)
    some = result.tv.smallest
    assert some is not None and len(some.target) == 2
    assert (some.target, some.draft, some.out) == (("1/2", "1/2"), ("0", "1"), ("0", "1"))
    assert some.residual is None and some.value == Fraction(1, 2)


def test_a_threshold_met_exactly_is_an_edge_not_a_mismatch() -> None:
    # .1 + .2 is above .3 in float64: the exact rule keeps the two neighbours, the float one does not.
    row = check(Optimal(Lantern(k=2, delta=0.3)), {}).parity[0]
    assert row.agrees and row.edges > 0
    rounded = compare(
        known(Typical(Fraction(1, 10))),
        "up",
        lambda a: np.nextafter(a, 1) if a.dtype.kind == "f" else a,
        "float64",
    )
    assert rounded.agrees and rounded.edges == 7


def test_an_error_far_from_any_threshold_is_no_edge() -> None:
    def shifted(array: np.ndarray) -> np.ndarray:
        return array + 1e-6 if array.dtype.kind == "f" else array

    row = compare(known(Lenient(2)), "shifted", shifted, "float64")
    assert not row.agrees and row.edges == 0 and row.difference is not None and row.difference > 1e-7
    row = compare(known(Typical(Fraction(1, 10))), "shifted", shifted, "float64")
    assert not row.agrees


def test_expectations() -> None:
    strict, lenient, low = (check(rule, {}) for rule in (Strict(), Lenient(2), Lenient(0.5)))
    table = [[meets(result, name) for name in ("lossless", "on-line", "biased")] for result in (strict, lenient, low)]
    assert table == [[True, True, False], [False, True, True], [True, False, False]]
    with pytest.raises(SpecsimError, match="unknown expectation 'fast'; known: lossless, on-line, biased"):
        meets(strict, "fast")


def test_edges_have_a_row_for_each_group_and_sum_to_the_table() -> None:
    result = check(Additive(), {})
    assert sum(edge.pairs for edge in result.edges) == result.pairs == len(all_pairs())
    rows = {edge.group: edge for edge in result.edges}
    assert max(edge.tv for edge in result.edges) == result.tv.value == Fraction(1, 10)
    assert rows["equal"].tv == rows["one token"].tv == rows["disjoint"].tv == 0
    assert rows["disjoint"].acceptance == 0 and rows["equal"].acceptance == rows["equal"].strict == 1
    assert rows["full support"].acceptance > rows["full support"].strict


@pytest.mark.parametrize("rule", [Strict(), Lenient(2), Lantern(), ContentAware()], ids=repr)
def test_json_is_strict_and_keeps_fractions(rule: Any) -> None:
    result = check(rule, BACKENDS)
    body = json.loads(json.dumps(as_json(result), allow_nan=False))
    assert (body["schema"], body["rule"], body["verdict"]) == ("specsim.check/3", repr(rule), result.verdict)
    assert Fraction(body["tv"]["value"]["fraction"]) == result.tv.value
    assert body["tv"]["value"]["value"] == float(result.tv.value)
    assert [row["agrees"] for row in body["parity"]] == [True] * 4 and body["agrees"]
    if result.tv.smallest is not None:
        some = body["tv"]["smallest"]
        assert sum(map(Fraction, some["out"])) == sum(map(Fraction, some["target"])) == 1


def test_json_has_no_nan_for_a_backend_that_failed() -> None:
    result = check(Strict(), {})
    broken = replace(result, parity=(replace(result.parity[0], difference=float("inf")),))
    assert as_json(broken)["parity"][0]["difference"] is None


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    check(Strict(), {}, progress=lambda *some: told.append(some))
    assert {what for what, _, _ in told} == {"pairs", "parity"}
    assert all(0 <= done <= of for _, done, of in told)


SAID: list[tuple[Any, list[str]]] = [
    (
        Strict(),
        [
            "at most",
            "20 tokens, slots 0, 1, 2, 3, 7, 15, 63",
            "lossless: TV(out, p) = 0",
            "on it",
            "nothing where p = 0",
            "pairs exact",
            "agree",
        ],
    ),
    (Lenient(2), ["biased: TV(out, p) up to 1/2", "on it", "smallest pair with TV(out, p) 1/2 (exact)"]),
    (Lenient(0.8), ["lossless", "off by up to 1/5", "dominated"]),
    (Lantern(), ["token v at point v/2 on a line", "off by up to", "off support", "up to 343/1273"]),
]


@pytest.mark.parametrize(("rule", "words"), SAID, ids=lambda value: str(value)[:20])
def test_what_is_shown_in_eighty_columns(rule: Any, words: list[str]) -> None:
    text = shown(check(rule, BACKENDS))
    assert all(word in text for word in words), text
    assert max(map(len, text.splitlines())) <= 80
    assert all(group in text for group in ("point masses", "target zeros", "published", "random"))
    assert "torch float32" in text


def float_only(draft: Array, target: Array) -> Verdict:
    accept = np.exp(np.minimum(np.log(target) - np.log(draft), 0))
    return Verdict(np.where(draft > 0, accept, target > 0), standard_residual(draft, target))


@dataclass(frozen=True)
class Logarithmic:
    """The strict rule through logarithms, which Fractions do not have."""

    verdict: Callable[[Array, Array], Verdict] = float_only

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        return self.verdict(draft, target)


def test_a_rule_without_fractions_is_valid_and_says_so() -> None:
    result = check(Logarithmic(), {})
    assert result.exactness.startswith("float64: on Fractions the rule raises TypeError")
    assert "test_result.py:" in result.exactness
    assert (result.verdict, result.on_line) == ("lossless", True)
    assert 0 < result.tv.value < 1e-14 and result.off_support.value == 0
    text = shown(result)
    assert "floating point throughout (float64: on Fractions the rule raises" in " ".join(text.split())
    assert "lossless: TV(out, p) = 0 up to rounding" in text and "(exact" not in text
