"""What claims are about: a rule or a decoder, how a command line names it, and in which numbers it is judged."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from specsim.arrays import Array
from specsim.checking.codebooks import bound, unbound
from specsim.decoders import CONSTANTS, DECODERS
from specsim.errors import SpecsimError, shown
from specsim.rules import RULES
from specsim.rules.codebooks import codes_of
from specsim.specs import parse
from specsim.strength import with_strength
from specsim.tasks import require_form
from specsim.verification import Rule

OWN_FILE = re.compile(r"(?!\w+\()(?P<path>.+?\.py)(?P<call>:.*)?", re.DOTALL)
"""A spec of a rule or decoder of somebody's own, as `specsim.specs` reads it."""
KINDS = ("rule", "decoder")


@dataclass(frozen=True, eq=False)
class Subject:
    """thing: the rule or decoder; text: its spec, None where a command line cannot name it; floats: "" while it is
    judged in Fractions, else why it is judged in float64.  Two subjects are never equal: what was computed for one is
    of no use to another."""

    thing: Any
    text: str | None = None
    floats: str = ""

    @property
    def kind(self) -> str:
        """rule or decoder."""
        return "decoder" if is_decoder(self.thing) else "rule"

    @property
    def exact(self) -> bool:
        """Whether it is judged in Fractions."""
        return not self.floats

    @property
    def numbers(self) -> str:
        """The same in words."""
        return f"float64: {self.floats}" if self.floats else "exact"

    @property
    def name(self) -> str:
        """How to speak of it."""
        return self.text or getattr(self.thing, "__name__", None) or shown(self.thing)

    def in_floats(self, why: str) -> Subject:
        """The same, to be judged in float64."""
        return replace(self, floats=why)

    def law(self, values: Array) -> Array:
        """A law in the numbers of the subject."""
        return values if self.exact else values.astype(np.float64)

    def rule(self, vocab: int) -> Rule:
        """The rule for `vocab` tokens: one that waits for a codebook gets codes on a line."""
        return bound(self.thing, vocab, None) if unbound(self.thing) else self.thing


@lru_cache(maxsize=64)
def at_strength(subject: Subject, value: float) -> Subject:
    """The same rule at another strength."""
    return replace(subject, thing=with_strength(subject.thing, value), text=None)


def is_decoder(thing: Any) -> bool:
    """It can start and step."""
    return not isinstance(thing, type) and hasattr(thing, "start") and hasattr(thing, "step")


def from_spec(text: str) -> Subject:
    """The rule or decoder that a spec names."""
    thing = parse(text, {**RULES, **DECODERS}, "rule or decoder", CONSTANTS)
    return subject_of(thing, text)


def subject_of(thing: Any, text: str | None = None) -> Subject:
    """A subject from an object; a function of three arrays is a rule too."""
    if not is_decoder(thing):
        require_form(thing)
    elif lacking := [name for name in ("needs_draft", "takes_rule") if not hasattr(thing, name)]:
        raise SpecsimError(f"{shown(thing)} is no decoder yet: it does not say {' and '.join(lacking)} (True or False)")
    if thing is None:
        raise SpecsimError("None is neither a rule nor a decoder; give one such as Lenient(omega=1.3)")
    return Subject(thing, spec_of(thing) if text is None else text)


def spec_of(thing: Any) -> str | None:
    """The repr of a shipped rule or decoder, which is a spec; None for anything that only the program knows."""
    try:
        text = repr(thing)
        return text if parse(text, {**RULES, **DECODERS}, "rule or decoder", CONSTANTS) == thing else None
    except Exception:  # a repr or an == of somebody's own
        return None


def rooted(text: str, root: Path | None) -> str:
    """A spec whose file is looked for below `root`."""
    own = OWN_FILE.fullmatch(text.strip())
    return text if own is None or root is None else f"{root / own['path']}{own['call'] or ''}"


def vocabs_of(subject: Subject, usual: tuple[int, ...]) -> tuple[int, ...]:
    """Vocabularies a subject can be put to: a rule that is bound to a codebook has one."""
    codes = codes_of(subject.thing) if subject.kind == "rule" else None
    if codes and codes > MOST_CODES:
        raise SpecsimError(
            f"{subject.name} is bound to {codes} codes, and claims are judged at up to {MOST_CODES} tokens; unbind it"
        )
    return (codes,) if codes else usual


MOST_CODES = 16
"""Largest vocabulary of a case."""
