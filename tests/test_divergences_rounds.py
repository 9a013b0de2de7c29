"""What the rounds of a run do, local errors and relaxed tokens, against the second implementation of a decoder."""

import math
from collections import Counter
from fractions import Fraction as F
from typing import Any, NamedTuple

import pytest

from specsim import Annealed, Lenient
from specsim.divergences import MEASURES
from specsim.rules import BlockVerification, Ledger
from tests import oracle, oracle_blocks
from tests.divergence_models import Case, total

CASES = (Case(2, 4, 3, 1), Case(3, 3, 2, 2, zeros=True), Case(2, 5, 2, 3))
OMEGAS = [F(3, 2)] * 3
COOLED = [max(F(1), 2 * F(math.exp(-0.7 * i))) for i in range(3)]
SPENT = [max(F(1), 2 * F(math.exp(-3.0 * i))) for i in range(3)]
RULES = {
    "uniform": (Lenient(1.5), oracle.chain, oracle.annealed(OMEGAS)),
    "annealed": (Annealed(2.0, 0.7), oracle.chain, oracle.annealed(COOLED)),
    "ledger": (Ledger(2.0, 3.0), oracle_blocks.chain, oracle_blocks.ledger(SPENT)),
    "block": (BlockVerification(), oracle_blocks.chain, oracle_blocks.block_verification),
}


class Seen(NamedTuple):
    """Expected sums over a whole run."""

    local: F
    relaxed: F
    relaxed_runs: F


def run(case: Case, make: Any, judge: Any) -> Seen:
    """Every round from every prefix, with its mass."""
    target, draft = (oracle.model_of(model).get for model in (case.target, case.draft))
    live, step = make(target, draft, judge, case.length, case.lookahead)
    sums = Seen(F(0), F(0), F(0))
    while live:
        following: Counter = Counter()
        for (tokens, _), mass in live.items():
            events = list(step(tokens, ()))
            found = of_round(events, tokens, draft, target)
            sums = Seen(*(a + mass * b for a, b in zip(sums, found, strict=True)))
            for event in events:
                if len(tokens + event.added) < case.length:
                    following[tokens + event.added, ()] += mass * event.share
        live = following
    return sums


def of_round(events: list, tokens: tuple, draft: Any, target: Any) -> Seen:
    """Of one round, by its masses: alive[path] is the chance that it keeps the drafts `path` and perhaps more."""
    alive, put = Counter(), Counter()
    for event in events:
        for i in range(event.kept + 1):
            alive[event.added[:i]] += event.share
            put[event.added[: i + 1]] += event.share if i < len(event.added) else 0
    local = relaxed = runs = F(0)
    over: dict[tuple, F] = {(): F(0)}
    for path in sorted(alive, key=len):
        law = target(tokens + path)
        local += sum(abs(put[*path, v] - alive[path] * law[v]) for v in range(len(law))) / 2
        if path:
            before = alive[path[:-1]]
            strict = before * min(target(tokens + path[:-1])[path[-1]], draft(tokens + path[:-1])[path[-1]])
            over[path] = max(alive[path] - strict, F(0))
            relaxed += over[path]
            runs += over[path] * (1 - over[path[:-1]] / before)
    return Seen(local, relaxed, runs)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_local_errors_and_relaxed_tokens(case: Case, name: str) -> None:
    rule, make, judge = RULES[name]
    law, paths = case.law(rule), case.paths(rule)
    found = Seen(*(total(law.mass, MEASURES[figure].values(paths)) for figure in Seen._fields))
    assert found == run(case, make, judge)
    assert found.relaxed >= found.relaxed_runs > 0
