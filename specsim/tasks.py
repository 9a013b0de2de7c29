"""Putting a decoder, its models and a rule together, with every mismatch named before the first token."""

from __future__ import annotations

from typing import Any

from specsim.decoding import Decoder, Task
from specsim.errors import SpecsimError
from specsim.rules import Strict
from specsim.rules.lantern import bind_codebook
from specsim.verification import verifier


def make_task(decoder: Decoder, target: Any, draft: Any, rule: Any, length: int | None, eos: int | None) -> Task:
    """Check that the parts go together -> the task.

    target, draft: models with `vocab`, `length`, `uniform` [V] and optionally `codebook`; rule None means Strict().
    """
    length = target.length if length is None else length
    if not 1 <= length <= target.length:
        raise SpecsimError(f"length {length}: the target model has laws for 1 to {target.length} tokens")
    if eos is not None and not 0 <= eos < target.vocab:
        raise SpecsimError(f"eos {eos}: must be a token id from 0 to {target.vocab - 1}")
    if decoder.needs_draft:
        check_draft(decoder, target, draft, length)
    if rule is not None and not decoder.takes_rule:
        raise SpecsimError(f"{decoder!r} takes no rule: {rule!r} would have nothing to decide")
    bound = bind_codebook(Strict() if rule is None else rule, getattr(target, "codebook", None))
    return Task(target, verifier(bound), length, target.uniform, draft, eos)


def check_draft(decoder: Decoder, target: Any, draft: Any, length: int) -> None:
    """A draft model must speak the target's vocabulary, for as long, in the same numbers."""
    if draft is None:
        raise SpecsimError(f"{decoder!r} needs a draft model, and none was given")
    if draft.vocab != target.vocab:
        raise SpecsimError(f"draft vocab {draft.vocab} differs from target vocab {target.vocab}")
    if draft.length < length:
        raise SpecsimError(f"the draft model has laws for {draft.length} tokens, {length} are asked")
    if draft.uniform.dtype != target.uniform.dtype:
        raise SpecsimError(f"draft laws are {draft.uniform.dtype}, target laws are {target.uniform.dtype}; convert one")
