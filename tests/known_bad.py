"""Known-bad variants: plausible mistakes of real decoders, which the exact checks must reject.

Each is a small part to put into the core: a rule, or a decoder whose `choose` is tampered with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace

from specsim.arrays import Array, arange, at, hits, indicator, normalise, number, point, positive_part
from specsim.rules import Strict
from specsim.verification import Verdict, capped_ratio, standard_residual


@dataclass(frozen=True)
class VanillaLenient:
    """The residual of the strict rule beside omega < 1: too much is refused, and norm[p - q]+ replaces it."""

    omega: float = 0.5

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        accept = capped_ratio(number(self.omega, target) * target, draft)
        return Verdict(accept, standard_residual(draft, target))


@dataclass(frozen=True)
class ResampleTarget:
    """A refused token is replaced from the target's law instead of the residual."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        return Verdict(Strict()(draft, target, position).accept, target)


@dataclass(frozen=True)
class OnlyDraftedToken:
    """The draft law is subtracted at the refused token only, so the replacement is norm[p without it]."""

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        xp = array_namespace(target)
        accept = at(Strict()(draft, target, position).accept, token)
        drafted = xp.where(hits(token, target.shape[-1]), draft, number(0, draft))
        return Verdict(accept, normalise(positive_part(target - drafted), target))


@dataclass(frozen=True)
class SharedUniform:
    """The uniform that drew the draft also decides whether it is kept.

    Token x owns [F(x-1), F(x)) of the draft's uniform u, and "u < b(x)" then keeps the part of it below b(x).
    """

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        xp = array_namespace(target)
        verdict = Strict()(draft, target, position)
        before = xp.cumulative_sum(draft, axis=-1) - draft
        part = xp.minimum(positive_part(verdict.accept - before), draft)
        return Verdict(xp.where(draft > 0, capped_ratio(part, draft), verdict.accept), verdict.residual)


@dataclass(frozen=True)
class Threshold:
    """A token is kept iff b > 1/2: a threshold in place of a coin."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        verdict = Strict()(draft, target, position)
        return Verdict(indicator(verdict.accept > number(0.5, target), target), verdict.residual)


@dataclass(frozen=True)
class Tampered:
    """A decoder whose steps get `tamper(choose)` in place of `choose`."""

    decoder: Any
    tamper: Callable[[Any], Any]

    @property
    def needs_draft(self) -> bool:
        return self.decoder.needs_draft

    @property
    def takes_rule(self) -> bool:
        return self.decoder.takes_rule

    def start(self, task: Any, rows: Any, choose: Any) -> Any:
        return self.decoder.start(task, rows, self.tamper(choose))

    def step(self, state: Any, choose: Any, task: Any) -> tuple:
        return self.decoder.step(state, self.tamper(choose), task)


class Altered:
    """`choose` with another `token`, and perhaps one that forgets no noise; everything else is passed on."""

    def __init__(self, inner: Any, token: Callable[..., tuple], forgets: bool = True) -> None:
        self.inner, self.alter, self.forgets = inner, token, forgets

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        return self.inner(law, live)

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        return self.alter(self.inner, law, position, live)

    def forget(self, position: Array) -> None:
        if self.forgets:
            self.inner.forget(position)


def sharper_drafts(lookahead: int) -> Callable[[Any], Altered]:
    """The drafts of a chain are drawn at half the temperature of the law that is stored for them."""

    def tamper(choose: Any) -> Altered:
        left = [lookahead]

        def token(inner: Any, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
            left[0] -= 1
            return inner.token(law * law if left[0] >= 0 else law, position, live)

        return Altered(choose, token)

    return tamper


def reused_noise(choose: Any) -> Altered:
    """A Jacobi window is corrected by a race with the noise that may have drawn the refused draft.

    The core forgets the noise of the next position, which an honest window never asks again; this one does.
    """
    return Altered(choose, race_the_correction, forgets=False)


def race_the_correction(inner: Any, law: Array, position: Array, live: Any) -> tuple[Array, tuple]:
    """In the draw after a verdict, slot `stop` races under the residual; a first window is left alone."""
    if not hasattr(live, "stop"):
        return inner.token(law, position, live)
    xp = array_namespace(law)
    at_stop = arange(law.shape[1], live.stop) == live.stop[:, None]
    asked = xp.where(at_stop, position, live.tokens.shape[1])
    won, (law, position, at_stop, *rest) = inner.race(law, asked, (law, position, at_stop, *live))
    law = xp.where(at_stop[..., None], point(won, law), law)
    return inner.token(law, position, type(live)(*rest))
