"""Wrong strict verification, as it is met in decoders, for T01."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from specsim import Block, Strict, Verdict
from specsim.arrays import Array, at, hits, indicator, normalise, number, positive_part
from specsim.decoding import Task
from specsim.verification import Drafted, Verify, capped_ratio, standard_residual


@dataclass(frozen=True)
class Wrong:
    """The strict rule with another acceptance or residual: functions of (draft, target, strict verdict)."""

    accept: Callable[[Array, Array, Verdict], Array] = lambda draft, target, strict: strict.accept
    residual: Callable[[Array, Array, Verdict], Array] = lambda draft, target, strict: strict.residual

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept, residual [..., V]."""
        strict = Strict()(draft, target, position)
        return Verdict(self.accept(draft, target, strict), self.residual(draft, target, strict))


@dataclass(frozen=True)
class OnlyDraftedToken:
    """The draft law is subtracted at the refused token only."""

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token, position [...] -> accept [...], residual [..., V]."""
        drafted = np.where(hits(token, target.shape[-1]), draft, number(0, draft))
        accept = at(Strict()(draft, target, position).accept, token)
        return Verdict(accept, normalise(positive_part(target - drafted), target))


def same_uniform(draft: Array, target: Array, strict: Verdict) -> Array:
    """u draws the draft and decides on it: of token x's interval [F(x-1), F(x)) the part below b(x) is kept."""
    before = np.cumsum(draft, axis=-1) - draft
    part = np.minimum(positive_part(strict.accept - before), draft)
    return np.where(draft > 0, capped_ratio(part, draft), strict.accept)


def half_kept(draft: Array, target: Array, strict: Verdict) -> Array:
    """min(1, p / 2q)."""
    return capped_ratio(target / 2, draft)


def coinless(draft: Array, target: Array, strict: Verdict) -> Array:
    """A threshold in place of the coin."""
    return indicator(strict.accept > number(0.5, target), target)


RULES = {
    "residual from the target": Wrong(residual=lambda draft, target, strict: target),
    "norm[q - p]+, the wrong side": Wrong(residual=lambda draft, target, strict: standard_residual(target, draft)),
    "q subtracted at the refused token only": OnlyDraftedToken(),
    "one uniform draws and decides": Wrong(accept=same_uniform),
    "kept iff b > 1/2, no coin": Wrong(accept=coinless),
    "min(1, q/p) in place of min(1, p/q)": Wrong(accept=lambda draft, target, strict: capped_ratio(draft, target)),
    "min(1, p/2q) with norm[p - q]+": Wrong(accept=half_kept),
}


def same(part: Any) -> Any:
    """Nothing is tampered with."""
    return part


@dataclass(frozen=True)
class Tampered:
    """A decoder whose steps get `choose(choose)` and `verify(verify)` in place of `choose` and `verify`."""

    decoder: Any
    choose: Callable[[Any], Any] = same
    verify: Callable[[Verify], Verify] = same

    @property
    def needs_draft(self) -> bool:
        """As the decoder inside."""
        return bool(self.decoder.needs_draft)

    @property
    def takes_rule(self) -> bool:
        """As the decoder inside."""
        return bool(self.decoder.takes_rule)

    def start(self, task: Task, rows: Any, choose: Any) -> Any:
        """The inner decoder's start."""
        return self.decoder.start(task, rows, choose)

    def step(self, state: Any, choose: Any, task: Task) -> tuple[Any, Any]:
        """The inner decoder's step."""
        return self.decoder.step(state, self.choose(choose), task._replace(verify=self.verify(task.verify)))


class Choosing:
    """`choose`, passed on; `before`: nothing was verified yet in this step."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.before = inner, True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """The draw of how many are kept."""
        self.before = False
        return self.inner(law, live)


class SharperDrafts(Choosing):
    """Drafts are drawn at half the temperature of the law that verifies them."""

    def token(self, law: Array, position: Array, live: Any) -> tuple[Array, Any]:
        """The drafts of a chain come before the verdict, the redraws of a window after it."""
        redrawn = getattr(live, "redrawn", np.array(self.before))
        return self.inner.token(np.where(redrawn[..., None], law * law, law), position, live)


def altered(alter: Callable[[Block, Drafted], Block]) -> Callable[[Verify], Verify]:
    """Verification whose block is altered."""

    def tamper(verify: Verify) -> Verify:
        def wrong(choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
            block, live = verify(choose, drafted, live)
            return alter(block, drafted), live

        return wrong

    return tamper


def residual_of_slot_before(block: Block, drafted: Drafted) -> Block:
    """Off by one: the token after i kept drafts is drawn from the residual of slot i - 1."""
    return block._replace(residual=np.concatenate([block.residual[:, :1], block.residual[:, :-1]], axis=1))


def bonus_from_draft(block: Block, drafted: Drafted) -> Block:
    """The bonus is drawn from the last law of the draft."""
    drawn = np.concatenate([drafted.draft[:, :1], drafted.draft[:, :-1]], axis=1)
    return block._replace(residual=np.where(drafted.real[..., None], block.residual, drawn))
