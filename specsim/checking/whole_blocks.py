"""Whole blocks and runs of a rule that judges them: what is right for one draft may be wrong in a block.

Blocks must be laws (`windows`); runs of Chain are enumerated on small table models, so a bias shows wherever it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from specsim.checking.block_flows import require_flow
from specsim.checking.codebooks import bound
from specsim.checking.forms import whole
from specsim.checking.onetoken import plain, slack_of, texts
from specsim.checking.validity import NotExact, failure, guarded
from specsim.checking.windows import block_of, require_alone, windows
from specsim.decoders import Chain
from specsim.errors import SpecsimError
from specsim.exact_laws import exact
from specsim.laws import Law, target_mass
from specsim.rules import Strict
from specsim.rules.codebooks import codes_of
from specsim.tables import Table, random_table, table
from specsim.verification import Rule

STEADY = (("1/2 1/2", "0 1"), ("1/3 2/3", "2/3 1/3"), ("0 1", "1/2 1/2"), ("1/5 4/5", "1/2 1/2"))
"""(target, draft): the same laws at every position."""
SIZES = ((2, 1), (3, 2), (4, 3))
"""(tokens, lookahead) of runs of steady laws over two tokens."""
RANDOM = ((2, 3, 2, 0), (2, 3, 2, 1), (2, 4, 3, 2), (2, 4, 3, 3), (3, 3, 2, 4), (3, 3, 2, 5))
"""(vocab, tokens, lookahead, seed) of runs of random laws, those with an odd seed having zeros."""
MOST_CODES = 8
"""Largest vocabulary of a run: a rule that is bound to more codes is refused."""


Say = Callable[[str, int, int], None]


class Case(NamedTuple):
    """A run: name, models in Fractions, and drafts of a block."""

    name: str
    target: Table
    draft: Table
    lookahead: int


@dataclass(frozen=True)
class Run:
    """One run as a counterexample, in texts.  target, draft: the law after every prefix, "0 1" being tokens 0 and 1;
    sequences, wanted, out: every sequence, its probability under the target, and what it comes out with."""

    name: str
    value: Any
    target: dict[str, tuple[str, ...]]
    draft: dict[str, tuple[str, ...]]
    sequences: tuple[str, ...]
    wanted: tuple[str, ...]
    out: tuple[str, ...]


@dataclass(frozen=True)
class WholeBlocks:
    """What is known of a rule that judges blocks, beyond one draft.

    exactness: as of the table of pairs; blocks: how many were laws; runs: how many were enumerated, of at most
    `tokens` tokens and `lookahead` drafts; tv: the largest TV(out, target), where; smallest: the first run whose TV is
    not 0; off: the largest mass on sequences that the target never emits; calls, strict_calls: mean E[target calls].
    """

    exactness: str
    blocks: int
    runs: int
    tokens: int
    lookahead: int
    tv: Any
    where: str
    smallest: Run | None
    off: Any
    calls: float
    strict_calls: float

    @property
    def lossless(self) -> bool:
        """Every run has the target's law."""
        return self.smallest is None and self.off == 0


def judge(rule: Rule, codebook: Any, exact_too: bool, say: Say) -> WholeBlocks | None:
    """Blocks in both kinds of numbers and runs, in Fractions where the rule can; None for a token-wise rule."""
    if not whole(rule):
        return None
    vocabs = vocabs_of(rule)
    try:
        counted = blocks(rule, codebook, vocabs, True) if exact_too else 0
        exactness = "exact" if exact_too else "float64"
    except NotExact as reason:
        counted, exactness = 0, f"float64: {reason}"
    counted += blocks(rule, codebook, vocabs, False)
    require_flow(rule, codebook, vocabs, exactness == "exact")
    try:
        return runs(rule, codebook, vocabs, exactness, counted, say)
    except NotExact as reason:
        return runs(rule, codebook, vocabs, f"float64: {reason}", counted, say)


def vocabs_of(rule: Rule) -> tuple[int, ...]:
    """Two and three tokens, or as many as a bound rule has codes."""
    codes = codes_of(rule)
    if codes and codes > MOST_CODES:
        raise SpecsimError(f"{rule!r} is bound to {codes} codes, and whole runs have at most {MOST_CODES}; unbind it")
    return (codes,) if codes else (2, 3)


def blocks(rule: Rule, codebook: Any, vocabs: tuple[int, ...], in_fractions: bool) -> int:
    """Check that blocks are laws -> how many."""
    count = 0
    for some in windows(vocabs, in_fractions):
        ready = bound(rule, some.target.shape[-1], codebook)
        block = block_of(ready, some)
        if not in_fractions:
            require_alone(ready, block, some)
        count += len(some.tokens)
    return count


def steady(law: str, length: int) -> Table:
    """The same law at every position."""
    row = law.split()
    return table([[row] * len(row) ** n for n in range(length)])


@lru_cache(maxsize=8)
def cases(vocabs: tuple[int, ...]) -> tuple[Case, ...]:
    """The runs, smallest first."""
    found = [
        Case(f"steady p = ({p}), q = ({q})", steady(p, n), steady(q, n), lookahead)
        for n, lookahead in SIZES
        for p, q in STEADY
    ]
    shapes = RANDOM if vocabs == (2, 3) else tuple((vocab, 2, 1, 1) for vocab in vocabs)
    for vocab, length, lookahead, seed in shapes:
        target, draft = (random_table(vocab, length, 10 * seed + n, zeros=seed % 2 == 1) for n in (0, 1))
        found.append(Case(f"random {seed}", target, draft, lookahead))
    fitting = [some for some in found if some.target.vocab in vocabs]
    return tuple(sorted(fitting, key=lambda some: (some.target.vocab**some.target.length, some.target.length)))


def runs(
    rule: Rule,
    codebook: Any,
    vocabs: tuple[int, ...],
    exactness: str,
    counted: int,
    say: Say,
) -> WholeBlocks:
    """Enumerate the runs."""
    in_fractions = exactness == "exact"
    every, seen = cases(vocabs), list[tuple[Case, Law]]()
    for done, some in enumerate(every):
        say("whole blocks", done, len(every))
        seen.append((some, law_of(bound(rule, some.target.vocab, codebook), some, in_fractions)))
    values = [law.tv(model(some.target, in_fractions)) for some, law in seen]
    offs = [off_support(some, law) for some, law in seen]
    slack = slack_of(seen[0][1].mass)
    worst = max(range(len(seen)), key=values.__getitem__)
    wrong = next((n for n, (tv, off) in enumerate(zip(values, offs, strict=True)) if tv > slack or off > 0), None)
    return WholeBlocks(
        exactness,
        counted,
        len(seen),
        max(some.target.length for some in every),
        max(some.lookahead for some in every),
        plain(values[worst]),
        name(every[worst]),
        None if wrong is None else example(*seen[wrong], values[wrong]),
        plain(max(offs)),
        float(np.mean([float(law.calls) for _, law in seen])),
        strict_calls(vocabs),
    )


def law_of(rule: Rule, some: Case, in_fractions: bool) -> Law:
    """One run; whatever the rule raises is said in one line."""
    models = model(some.target, in_fractions), model(some.draft, in_fractions)
    try:
        return exact(Chain(some.lookahead), *models, rule)
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        if in_fractions:
            raise NotExact(f"on Fractions the rule raises {failure(rule, error)}") from error
        return guarded(rule, exact, Chain(some.lookahead), *models, rule)


@lru_cache(maxsize=8)
def strict_calls(vocabs: tuple[int, ...]) -> float:
    """Mean E[target calls] of the strict rule."""
    return float(np.mean([law_of(Strict(), some, False).calls for some in cases(vocabs)]))


def model(part: Table, in_fractions: bool) -> Table:
    """A model in the numbers that are used."""
    return part if in_fractions else part.floats()


def off_support(some: Case, law: Law) -> Any:
    """Mass on sequences that the target never emits."""
    never = target_mass(some.target, some.target.length) == 0
    return law.mass[never].sum() if never.any() else 0 * law.mass[0]


def name(some: Case) -> str:
    """Where a figure was taken."""
    return f"Chain({some.lookahead}), {some.target.length} tokens, {some.name}"


def example(some: Case, law: Law, value: Any) -> Run:
    """A run in texts."""
    length, vocab = some.target.length, some.target.vocab
    paths = [[" ".join(map(str, path)) for path in np.ndindex(*[vocab] * n)] for n in range(length + 1)]
    target, draft = (
        {path: texts(row) for n in range(length) for path, row in zip(paths[n], part.at_length(n), strict=True)}
        for part in (some.target, some.draft)
    )
    wanted = texts(target_mass(some.target, length))
    return Run(name(some), plain(value), target, draft, tuple(paths[-1]), wanted, texts(law.mass))
