"""Exact laws: the sizes people ask for, in one run with the alternative they would pick, plain dicts of states.

Goals on 2 cores: V=3 N=8 W=4 maximal under 5 s; Fractions V=3 N=5 W=3 under 2 s; Chain V=4 N=8 L=4 under 1 s.
"""

import time

import pytest

from specsim import Chain, Jacobi, Strict, exact, random_table

CASES = {
    "float64 Jacobi maximal V3 N8 W4": (Jacobi(4, "maximal"), 3, 8, False),
    "Fractions Jacobi maximal V3 N5 W3": (Jacobi(3, "maximal"), 3, 5, True),
    "float64 Chain V4 N8 L4": (Chain(4), 4, 8, False),
}


@pytest.mark.parametrize("name", CASES)
def test_exact_law(benchmark, name):
    decoder, vocab, length, fractions = CASES[name]
    target, draft = random_table(vocab, length, 1), random_table(vocab, length, 2)
    if not fractions:
        target, draft = target.floats(), draft.floats()
    law = benchmark.pedantic(
        exact, (decoder, target, draft if decoder.needs_draft else None), rounds=3, warmup_rounds=1, iterations=1
    )
    assert law.tv(target) < 1e-12


def test_against_dict_recursion(benchmark):
    """The same law by the oracle of the tests, dicts of states in plain Python, in Fractions both."""
    from tests import oracle

    target = random_table(3, 5, 1)
    decoder = oracle.jacobi(oracle.model_of(target).__getitem__, oracle.strict, 3, 5, 3, "maximal", "uniform")
    begin = time.perf_counter()
    found = oracle.run(decoder, 5)
    seconds = time.perf_counter() - begin
    law = benchmark.pedantic(exact, (Jacobi(3, "maximal"), target, None, Strict()), rounds=3, iterations=1)
    assert law.calls == sum(calls * mass for calls, mass in found.calls.items())
    if benchmark.stats is not None:
        benchmark.extra_info["dict_recursion_over_specsim"] = seconds / benchmark.stats.stats.median
