"""The check of a rule: everything there is to say about one verified token, in one record."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from specsim.checking import met_laws, whole_blocks
from specsim.checking.block_parity import with_blocks
from specsim.checking.codebooks import assumption, bound, unfit, usable
from specsim.checking.forms import slots_of
from specsim.checking.met_file import Met, read_laws
from specsim.checking.met_laws import MetLaws
from specsim.checking.onetoken import Seen, Worst, each, measure, plain, slack_of, worst
from specsim.checking.pairs import GROUPS, Pair, all_pairs, stacks
from specsim.checking.parity import Backends, Known, ParityRow, parity
from specsim.checking.validity import NotExact, exact_verdict, float_verdict
from specsim.checking.whole_blocks import WholeBlocks
from specsim.errors import SpecsimError
from specsim.rules.codebooks import vectors
from specsim.verification import Rule

SCHEMA = "specsim.check/3"
DERIVED = {ParityRow: ("agrees",), MetLaws: ("lossless", "on_line"), WholeBlocks: ("lossless",)}
"""Properties that a reader of the JSON would otherwise have to work out."""
EXPECTATIONS = ("lossless", "on-line", "biased")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Edge:
    """One group of pairs.  acceptance, strict: mean probability of keeping a draft, by this rule and by Strict()."""

    group: str
    pairs: int
    tv: Any
    on_line: bool
    off_support: Any
    acceptance: float
    strict: float


@dataclass(frozen=True)
class CheckResult:
    """What is known of a rule on one verified token.

    exactness: "exact" when the table was computed in Fractions, else "float64: why"; parity and laws are always
    floating point.  tv, line, off_support: the worst value, where, and the smallest pair that shows one.  All of it is
    known of laws of at most largest_vocab tokens at these slots, and of the real laws.  whole: of a rule that judges
    blocks, of which all else is said of a block of one draft; None for a token-wise rule.
    """

    rule: str
    exactness: str
    validity: str
    verdict: str
    on_line: bool
    tv: Worst
    line: Worst
    off_support: Worst
    max_ratio: Any
    pairs: int
    largest_vocab: int
    slots: tuple[int, ...]
    edges: tuple[Edge, ...]
    parity: tuple[ParityRow, ...]
    laws: MetLaws | None
    assumption: str | None
    whole: WholeBlocks | None = None

    @property
    def dominated(self) -> bool:
        """Without bias and yet off the line: it only accepts less than the strict rule."""
        return self.verdict == "lossless" and not self.on_line

    @property
    def agrees(self) -> bool:
        """Every array backend computes the same rule."""
        return all(row.agrees for row in self.parity)


def check(
    rule: Rule,
    backends: Backends,
    laws_file: str | Path | None = None,
    codebook: Any = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Put a rule to every pair, backend and law; SpecsimError when it is no valid rule or the file no valid file.

    backends: name -> converter of a numpy array; codebook: [V, d] for rules that need one (real laws use that of their
    file where none is given); progress(what, done, of).
    """
    say = progress or (lambda what, done, of: None)
    codebook = None if codebook is None else vectors(codebook)
    met = None if laws_file is None else read_laws(laws_file)
    pairs = usable(rule, all_pairs())
    known, exactness = measured(rule, pairs, codebook, say)
    blocks = whole_blocks.judge(rule, codebook, exactness == "exact", say)
    rows = with_blocks(parity(known, backends), rule, codebook, backends)
    say("parity", 1, 1)
    laws = None if met is None else real_laws(rule, met, met.codebook if codebook is None else codebook, say)
    return conclude(rule, known, exactness, rows, laws, assumption(rule, codebook), blocks)


def require_rule(rule: Rule) -> None:
    """SpecsimError unless the rule gives valid verdicts on every pair; what it is good for is not asked."""
    quiet: Progress = lambda what, done, of: None  # noqa: E731
    exactness = measured(rule, usable(rule, all_pairs()), None, quiet)[1]
    whole_blocks.judge(rule, None, exactness == "exact", quiet)


def measured(rule: Rule, pairs: list[Pair], codebook: Any, say: Progress) -> tuple[list[Known], str]:
    """Every stack with its figures, in Fractions if the rule can, and "exact" or "float64: why".

    The verdicts are checked in both kinds of numbers, Fractions first: their values read better in an error.
    """
    bounds = {vocab: bound(rule, vocab, codebook) for vocab in {some.vocab for some in pairs}}
    floats = [(bounds[some.pairs[0].vocab], some) for some in stacks(pairs, np.float64, slots_of(rule))]
    exactness, known = "exact", list[Known]()
    try:
        for done, some in enumerate(stacks(pairs, slots=slots_of(rule))):
            say("pairs", done, len(floats))
            chosen = bounds[some.pairs[0].vocab]
            known.append(Known(chosen, some, measure(chosen, some, exact_verdict(chosen, some).accept)))
    except NotExact as reason:
        exactness = f"float64: {reason}"
    verdicts = [float_verdict(*case) for case in floats]
    if exactness != "exact":
        known = [Known(*c, measure(*c, verdict.accept)) for c, verdict in zip(floats, verdicts, strict=True)]
    return known, exactness


def real_laws(rule: Rule, met: Met, codebook: Any, say: Progress) -> MetLaws:
    """The rule on the laws of a file; without a codebook it is not judged where making one up says nothing."""
    count, vocab = met.draft.shape
    why = unfit(rule, vocab, codebook)
    if why:
        return MetLaws(met.name, count, vocab, 0, {}, {}, None, f"all {count:,} laws not judged: {why}")
    return met_laws.judge(bound(rule, vocab, codebook), met, lambda done, of: say("real laws", done, of))


def conclude(
    rule: Rule,
    known: list[Known],
    exactness: str,
    rows: tuple[ParityRow, ...],
    laws: MetLaws | None,
    taken: str | None,
    blocks: WholeBlocks | None,
) -> CheckResult:
    """The record, from everything that was computed."""
    seen = list(each([(case.stack, case.figures) for case in known]))
    slack, slots = slack_of(known[0].figures.tv), slots_of(rule)
    tv, line, off = worst(seen, "tv", slack), worst(seen, "distance", slack), worst(seen, "off", 0)
    lossless = (
        tv.smallest is None and off.smallest is None and all(some is None or some.lossless for some in (laws, blocks))
    )
    return CheckResult(
        rule=repr(rule),
        exactness=exactness,
        validity=f"valid: {len(seen)} verdicts in {'Fractions and ' * (exactness == 'exact')}float64",
        verdict="lossless" if lossless else "biased",
        on_line=line.smallest is None and (laws is None or laws.on_line),
        tv=tv,
        line=line,
        off_support=off,
        max_ratio=plain(max(some.row.ratio for some in seen)),
        pairs=len(seen) // len(slots),
        largest_vocab=max(some.pair.vocab for some in seen),
        slots=slots,
        edges=tuple(edges(seen, slack, len(slots))),
        parity=rows,
        laws=laws,
        assumption=taken,
        whole=blocks,
    )


def edges(seen: list[Seen], slack: Any, slots: int) -> Iterator[Edge]:
    """One row for every group that has pairs."""
    for group in GROUPS:
        some = [one for one in seen if one.pair.group == group]
        if some:
            rows = [one.row for one in some]
            strict = [sum(map(min, one.pair.target, one.pair.draft)) for one in some]
            yield Edge(
                group,
                len(some) // slots,
                plain(max(row.tv for row in rows)),
                all(row.distance <= slack for row in rows),
                plain(max(row.off for row in rows)),
                float(np.mean([float(1 - row.reject) for row in rows])),
                float(np.mean([float(value) for value in strict])),
            )


def meets(result: CheckResult, expect: str) -> bool:
    """Whether the rule is what was expected; a backend that computes another rule meets no expectation."""
    if expect not in EXPECTATIONS:
        raise SpecsimError(f"unknown expectation {expect!r}; known: {', '.join(EXPECTATIONS)}")
    return result.agrees and (result.on_line if expect == "on-line" else result.verdict == expect)


def summary(result: CheckResult) -> str:
    """What a rule is, in a few words."""
    words = [result.verdict, "on the line" if result.on_line else "off the line"]
    return ", ".join(words if result.agrees else [*words, "and another rule on another backend"])


def as_json(result: CheckResult) -> dict[str, Any]:
    """The record for a JSON file: exact numbers as {"value": 0.15, "fraction": "3/20"}, float ones with null there."""
    body = {field.name: jsonable(getattr(result, field.name)) for field in dataclasses.fields(result)}
    return {"schema": SCHEMA, **body, "dominated": result.dominated, "agrees": result.agrees}


def jsonable(value: Any) -> Any:
    """Records become objects, Fractions keep their text, and what JSON cannot say becomes null."""
    if dataclasses.is_dataclass(value):
        names = (*(field.name for field in dataclasses.fields(value)), *DERIVED.get(type(value), ()))
        return {name: jsonable(getattr(value, name)) for name in names}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, Fraction):
        return {"value": float(value), "fraction": str(value)}
    return None if isinstance(value, float) and not math.isfinite(value) else value
