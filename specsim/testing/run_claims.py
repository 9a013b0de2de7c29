"""What a rule or decoder can claim of whole runs: laws of sequences, calls, and tokens drawn with the same noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from specsim.checking.forms import whole
from specsim.checking.validity import NotExact
from specsim.decoders import Autoregressive, Chain, Jacobi, Race
from specsim.errors import SpecsimError
from specsim.exact_laws import exact
from specsim.laws import Law, target_mass
from specsim.sampling import sample
from specsim.tables import Table, random_table
from specsim.testing.domains import MODELS, Case, Domain
from specsim.testing.fields import Field, ModelField, OneOf
from specsim.testing.statements import Statement, holds
from specsim.testing.subjects import Subject, vocabs_of
from specsim.testing.token_claims import statement

RUNS = (Chain(lookahead=2), Jacobi(window=2))
"""Decoders that a rule's whole runs are computed in."""
LONG = Chain(lookahead=3)
"""One more for rules that judge blocks: in a block of two drafts the last slot still has only one before it."""
COST, MOST_SEQUENCES = 8, 9
"""A run takes about as long as eight cases of one token; of more sequences than this, far longer."""
ROWS = 8
"""Sequences that are drawn with each seed."""
ENDLESS = 50
"""Calls beyond the length of a sequence after which a decoder is taken not to end."""
NEVER = -Fraction(1)
"""Margin of a run that does not end."""
Gap = Callable[[Law, Any], Any]


def small(case: Case) -> bool:
    """Few enough sequences."""
    return case.vocab**case.length <= MOST_SEQUENCES


def run_domain(vocabs: tuple[int, ...], lengths: tuple[int, ...], **more: Field) -> Domain:
    """Models and more."""
    return Domain({**MODELS, **more}, vocabs, lengths, where=small, cost=COST)


def decoder_domain(subject: Subject) -> Domain:
    """Models that a decoder needs, of up to three positions."""
    fields: dict[str, Field] = MODELS if subject.thing.needs_draft else {"target": ModelField()}

    def known() -> Iterator[dict[str, Any]]:
        for vocab, length in KNOWN_SHAPES:
            for seed in (0, 1):
                models = random_table(vocab, length, seed), random_table(vocab, length, seed + 10)
                raw = [tuple(map(tuple, model.laws.tolist())) for model in models]
                yield dict(zip(fields, raw, strict=False))

    return Domain(fields, (1, 2, 3), (1, 2, 3), where=affordable, cost=COST, known=known)


KNOWN_SHAPES = ((2, 4), (2, 5), (3, 3))
"""(V, N) of a few random models that are tried whatever the search finds: longer and wider than what is listed."""


def affordable(case: Case) -> bool:
    """Few enough sequences, or a known shape."""
    return small(case) or case.shape in KNOWN_SHAPES


@lru_cache(maxsize=512)
def run(subject: Subject, decoder: Any, target: tuple, draft: tuple | None) -> tuple[Law | None, Table]:
    """The law of a run of a rule in a decoder, or of the decoder that is judged (None if it never ends); its target.

    Whatever code of somebody's own raises is one line.
    """
    models = [None if rows is None else ModelField().load(rows) for rows in (target, draft)]
    tables = [model if model is None or subject.exact else model.floats() for model in models]
    goal, rule = tables[0], None if subject.kind == "decoder" else subject.rule(len(target[0]))
    assert goal is not None
    try:
        return exact(
            subject.thing if decoder is None else decoder,
            goal,
            tables[1],
            rule,
            progress=patience(goal.length),
        ), goal
    except Endless:
        return None, goal
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        if subject.exact:
            raise NotExact(f"on Fractions it raises {reason}") from error
        raise SpecsimError(f"{subject.name}: a run raises {reason}; correct it") from error


class Endless(Exception):
    """A run that may never end has no law."""


def patience(length: int) -> Callable[[int, int], None]:
    """Stops a decoder that would never end."""

    def look(calls: int, rows: int) -> None:
        if calls > length + ENDLESS:
            raise Endless

    return look


def law_of(case: Case, subject: Subject) -> tuple[Law | None, Table]:
    """The run of a case: by its decoder with the rule, or by the decoder that is judged."""
    raw = dict(case.raw)
    return run(subject, raw.get("decoder"), raw["target"], raw.get("draft"))


def masses(case: Case, subject: Subject) -> dict[str, Any]:
    """The masses of all sequences, in the order of `sequences`."""
    law, target = law_of(case, subject)
    wanted = target_mass(target, case.length)
    return {"target": wanted, "out": ["never ends"] * len(wanted) if law is None else law.mass}


def sequences(vocab: int, length: int) -> list[str]:
    """Names of all sequences, "0 1 1", as their masses are ordered."""
    return [" ".join(map(str, tokens)) for tokens in product(range(vocab), repeat=length)]


def distance(case: Case, subject: Subject) -> Any:
    """TV(out, target) = 0"""
    law, target = law_of(case, subject)
    return NEVER if law is None else -law.tv(target)


def rule_runs(subject: Subject) -> tuple[Domain, str]:
    """Models and the decoders that a rule is run in, and these in words; one is for whole blocks."""
    usual, runs = vocabs_of(subject, (2, 3)), (*RUNS, LONG) if whole(subject.thing) else RUNS
    fields, names = {**MODELS, "decoder": OneOf(runs)}, " and ".join(map(repr, runs))
    if usual != (2, 3):
        return Domain(fields, usual, (1, 2), cost=COST), names

    def known() -> Iterator[dict[str, Any]]:
        for seed in range(4) if LONG in runs else ():
            models = random_table(2, 4, seed, seed > 1), random_table(2, 4, seed + 10, seed > 1)
            raw = [tuple(map(tuple, model.laws.tolist())) for model in models]
            yield {**dict(zip(MODELS, raw, strict=True)), "decoder": LONG}

    return Domain(fields, usual, (2, 3), where=affordable, cost=COST, known=known), names


def lossless_run(subject: Subject) -> Statement:
    """Whole runs with a rule."""
    domain, names = rule_runs(subject)
    return statement(f"TV(out, target) = 0 for whole runs of {names}", domain, distance, subject, masses)


def lossless_decoder(subject: Subject) -> tuple[Statement, ...]:
    """Whole runs of a decoder with the strict rule, if it takes one."""
    with_rule = " with the strict rule" if subject.thing.takes_rule else ""
    text = f"TV(out, target) = 0 for whole runs{with_rule}"
    return (statement(text, decoder_domain(subject), distance, subject, masses),)


def drawn(case: Case, subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """Tokens [rows, N] of plain decoding by races, and of the decoder with the same noise."""
    target, draft = (getattr(case, name).floats() if name in case.fields else None for name in MODELS)
    try:
        found = sample(subject.thing, target, draft, rows=ROWS, seed=case.seed).tokens
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        raise SpecsimError(
            f"{subject.name}: sampling raises {type(error).__name__}: {' '.join(str(error).split())[:160]}; correct it"
        ) from error
    return sample(Race(Autoregressive()), target, rows=ROWS, seed=case.seed).tokens, np.asarray(found)


def same_tokens(case: Case, subject: Subject) -> Any:
    """Minus the share of rows that differ."""
    plain, found = drawn(case, subject)
    return holds(bool((plain == found).all()))


def token_columns(case: Case, subject: Subject) -> dict[str, Any]:
    """The rows that were drawn."""
    plain, found = drawn(case, subject)
    return {name: [" ".join(map(str, row)) for row in rows] for name, rows in (("plain", plain), ("decoder", found))}


def race_parts(subject: Subject) -> tuple[Statement, ...]:
    """The law of plain decoding, and its very tokens."""
    models = decoder_domain(subject)
    seeded = Domain({**models.fields, "seed": OneOf((0, 1, 2))}, (1, 2, 3, 4), (1, 2, 3, 4), cost=COST)
    text = f"token for token what Race(Autoregressive()) draws with the same noise, {ROWS} rows of each seed"
    return (*lossless_decoder(subject), Statement(text, seeded, same_tokens, subject, shows=token_columns))


def counts(case: Case, subject: Subject) -> dict[str, Any]:
    """What was counted in a run, in the order of the slots; call law: probability of 1, 2, .. calls."""
    law = law_of(case, subject)[0]
    if law is None:
        return {"out": ["never ends"]}
    calls = [law.call_law.get(n, 0 * law.calls) for n in range(1, max(law.call_law) + 1)]
    sums = {"accepted": [law.accepted], "drafted": [law.drafted], "tokens": [law.tokens], "calls": [law.calls]}
    return {"kept": list(law.kept), "reached": list(law.reached), "call law": calls, **sums}


def run_statement(text: str, gap: Gap, subject: Subject) -> Statement:
    """A claim whose margin follows from the law of a run."""

    def margin(case: Case, about: Subject) -> Any:
        law = law_of(case, about)[0]
        return NEVER if law is None else gap(law, about.thing)

    return statement(text, decoder_domain(subject), margin, subject, counts)


def counts_gap(law: Law, decoder: Any) -> Any:
    """The least of the margins of ACCOUNTS."""
    equal = (law.total - 1, sum(law.call_law.values()) - 1, law.accepted - sum(law.kept), law.tokens - law.length)
    first = law.reached[:1]
    chain = zip(law.reached[1:], law.kept, strict=False)
    rooms = [
        law.accepted + law.calls - law.tokens,
        law.tokens - law.accepted,
        law.drafted - sum(law.reached),
        *(law.calls - some for some in first),
        *(judged - kept for judged, kept in zip(law.reached, law.kept, strict=True)),
        *(before - judged for judged, before in chain),
    ]
    return min([*(-abs(some) for some in equal), *rooms])


ACCOUNTS = (
    "masses and call law sum to 1; accepted = sum of kept <= tokens <= accepted + calls; "
    "kept_(i+1) <= reached_(i+1) <= kept_i <= reached_i <= calls; sum of reached <= drafted"
)


def accounting_part(subject: Subject) -> tuple[Statement, ...]:
    """Identities and inequalities of the counts of a run."""
    return (run_statement(ACCOUNTS, counts_gap, subject),)


def slots_of(decoder: Any, law: Law) -> int:
    """Drafts that a call can hold: what the decoder declares, or what was seen."""
    inner = getattr(decoder, "decoder", decoder)
    declared = [getattr(inner, name, None) for name in ("lookahead", "window")]
    return next((some for some in declared if isinstance(some, int)), len(law.reached))


def calls_gap(law: Law, decoder: Any) -> Any:
    """ceil(N / (slots + 1)) <= calls <= N, for every count of calls that can happen."""
    least = -(-law.length // (slots_of(decoder, law) + 1))
    happen = [calls for calls, mass in law.call_law.items() if mass > 0]
    return min(min(happen) - least, law.length - max(happen)) + 0 * law.calls


def calls_part(subject: Subject) -> tuple[Statement, ...]:
    """Bounds of the number of target calls."""
    return (run_statement("ceil(N / (slots + 1)) <= target calls <= N in every run", calls_gap, subject),)
