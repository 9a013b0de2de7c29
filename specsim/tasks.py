"""Putting a decoder, its models and a rule together, with every mismatch named before the first token."""

from __future__ import annotations

from typing import Any

import numpy as np

from specsim.arrays import Array, is_exact, namespace, to_numpy
from specsim.decoding import Decoder, Task
from specsim.errors import SpecsimError
from specsim.rules import Strict
from specsim.rules.codebooks import bind_codebook
from specsim.tables import Table
from specsim.verification import carries_state, judges_blocks, verifier

SUM_SLACK = 1e-4
"""How far a law of floats may sum from 1: float32 rounding over 65,536 tokens stays below 1e-5, wrong laws do not."""
NUMBERS = ("object", "float32", "float64")
"""Number types of laws: Fractions, and floats that keep a tail beside 1."""


def make_task(decoder: Decoder, target: Any, draft: Any, rule: Any, length: int | None, eos: int | None) -> Task:
    """Check that the parts go together -> the task.

    target, draft: models with `vocab`, `length`, `uniform` [V] and optionally `codebook`; rule None means Strict().
    """
    require_decoder(decoder)
    require_numbers("target", target.uniform)
    check_table("target", target)
    length = target.length if length is None else length
    if not 1 <= length <= target.length:
        raise SpecsimError(f"length {length}: the target model has laws for 1 to {target.length} tokens")
    if eos is not None and not 0 <= eos < target.vocab:
        raise SpecsimError(f"eos {eos}: must be a token id from 0 to {target.vocab - 1}")
    if decoder.needs_draft:
        check_draft(decoder, target, draft, length)
    if rule is not None and not decoder.takes_rule:
        raise SpecsimError(f"{decoder!r} takes no rule: {rule!r} would have nothing to decide")
    require_form(rule)
    require_fit(decoder, rule)
    bound = bind_codebook(Strict() if rule is None else rule, getattr(target, "codebook", None))
    drafting = widened(draft, length) if decoder.needs_draft else None
    return Task(widened(target, length), verifier(bound), length, target.uniform, drafting, eos)


def widened(model: Any, length: int) -> Any:
    """A model whose rows hold `length` tokens: it is asked with its own length, as windows reach beyond a shorter end.

    What stands in the added places is never looked at for a position that counts.
    """
    return Widened(model, model.length) if length < model.length else model


class Widened:
    """A model that fills rows up to its own length, `full`; what else it can do, it can do of such rows."""

    def __init__(self, model: Any, full: int) -> None:
        self.model, self.full = model, full
        if hasattr(model, "tree"):
            self.tree = lambda tokens, *asked: model.tree(self.filled(tokens), *asked)
        if hasattr(model, "since"):
            self.since = lambda length: Widened(model.since(length), full)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def __call__(self, tokens: Array, start: Array, count: int) -> Array:
        return self.model(self.filled(tokens), start, count)

    def filled(self, tokens: Array) -> Array:
        """tokens [B, T] -> [B, full]."""
        xp, beyond = namespace(tokens), 0 * tokens[:, :1]
        return xp.concat([tokens, xp.broadcast_to(beyond, (len(tokens), self.full - tokens.shape[1]))], axis=1)


def require_decoder(decoder: Any) -> Any:
    """The decoder, if it is one."""
    if isinstance(decoder, type) or not (hasattr(decoder, "start") and hasattr(decoder, "step")):
        raise SpecsimError(f"{decoder!r} is no decoder; give one such as Chain(lookahead=4)")
    return decoder


def require_form(rule: Any) -> None:
    """A rule is None or an object that can be called, or has `at`, `judge` or `block`; a class is not yet a rule."""
    judges = callable(rule) or hasattr(rule, "at") or carries_state(rule) or judges_blocks(rule)
    if rule is not None and (isinstance(rule, type) or not judges):
        raise SpecsimError(f"{rule!r} is no rule; give one such as Lenient(omega=1.3)")


def require_fit(decoder: Decoder, rule: Any) -> None:
    """A rule that is joint over the block needs a chain, redrawn without regard to what it kept."""
    if getattr(decoder, "single_tokens", False) and (carries_state(rule) or judges_blocks(rule)):
        raise SpecsimError(f"{rule!r} judges chains of drafts, not trees: give a rule of single tokens")
    coupled = getattr(decoder, "continuation", "independent") != "independent"
    if coupled and getattr(rule, "independent_only", False):
        raise SpecsimError(f"{rule!r} is biased where a window is redrawn by a coupling; use Jacobi's 'independent'")


def require_numbers(name: str, law: Array) -> None:
    """Half precision is refused: it has lost the tail of a law, and the law verified must be the law drawn from."""
    kind = str(law.dtype).rsplit(".", 1)[-1]
    if kind not in NUMBERS:
        raise SpecsimError(f"{name} laws are {kind}; give float32, float64 or Fractions (take softmax in float32)")


def check_table(name: str, model: Any) -> None:
    """A table built by hand must hold laws; other models are looked at while they are sampled."""
    if not isinstance(model, Table):
        return
    require_numbers(name, model.laws)
    if not is_exact(model.laws):
        laws = to_numpy(model.laws)
        bad = ~(np.isfinite(laws).all(axis=-1) & (laws >= 0).all(axis=-1) & (abs(laws.sum(axis=-1) - 1) <= SUM_SLACK))
        if bad.any():
            row = int(np.argmax(bad))
            raise SpecsimError(f"{name} table: laws[{row}] = {laws[row].tolist()} is not a law (entries >= 0, sum 1)")


def check_draft(decoder: Decoder, target: Any, draft: Any, length: int) -> None:
    """A draft model must speak the target's vocabulary, for as long, in the same numbers."""
    if draft is None:
        raise SpecsimError(f"{decoder!r} needs a draft model, and none was given")
    require_numbers("draft", draft.uniform)
    check_table("draft", draft)
    if draft.vocab != target.vocab:
        raise SpecsimError(f"draft vocab {draft.vocab} differs from target vocab {target.vocab}")
    if draft.length < length:
        raise SpecsimError(f"the draft model has laws for {draft.length} tokens, {length} are asked")
    if draft.uniform.dtype != target.uniform.dtype:
        raise SpecsimError(f"draft laws are {draft.uniform.dtype}, target laws are {target.uniform.dtype}; convert one")
