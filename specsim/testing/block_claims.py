"""What a rule that judges blocks can claim beyond one draft."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from specsim.checking.forms import whole
from specsim.checking.windows import block_of, in_floats, window
from specsim.laws import target_mass
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import OneOf
from specsim.testing.run_claims import COST, NEVER, law_of, masses, rule_runs
from specsim.testing.statements import Statement
from specsim.testing.subjects import Subject, vocabs_of
from specsim.testing.token_claims import statement


def never_emitted(case: Case, subject: Subject) -> Any:
    """Minus the mass on sequences of target probability 0."""
    law, target = law_of(case, subject)
    return NEVER if law is None else -law.mass[target_mass(target, case.length) == 0].sum()


def block_laws(subject: Subject) -> tuple[Statement, ...]:
    """Blocks of a rule that judges them: how many drafts are kept, and what is put after them, have laws."""
    if not whole(subject.thing):
        return ()
    fields = {"drafts": OneOf((1, 2, 3))}
    text = "stop and residual are laws in blocks of mixed lengths, random laws with zeros"
    return (statement(text, Domain(fields, vocabs_of(subject, (2, 3)), cost=COST), inside_laws, subject, None),)


def inside_laws(case: Case, subject: Subject) -> Any:
    """0, or the fault as an error: a block that is none has no margin."""
    some = window(case.vocab, case.drafts)
    block_of(subject.rule(case.vocab), some if subject.exact else in_floats(some))
    return Fraction(0) if subject.exact else 0.0


def supported_run(subject: Subject) -> tuple[Statement, ...]:
    """Whole runs of a rule that judges blocks, of which one draft does not say all."""
    if not whole(subject.thing):
        return ()
    domain, names = rule_runs(subject)
    text = f"no sequence that the target never emits comes out of whole runs of {names}"
    return (statement(text, domain, never_emitted, subject, masses),)
