"""The cost model: prices, what a run spends, and the formula most papers use instead.

One target call on one token costs 1, every further token in the same call `per_token` more, a draft call `draft_call`.
Plain decoding of N tokens costs N, so the speed-up is E[tokens] / E[cost].
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from specsim.decoders import Chain, Race, RelaxedBonus
from specsim.decoding import Decoder
from specsim.errors import require

MOST_PRICE = 1e6
"""Highest price: nothing pays long before."""


class Prices(NamedTuple):
    """In units of one target call on one token."""

    draft_call: float
    per_token: float


def prices(draft_call: float, per_token: float) -> Prices:
    """Checked prices; 0 is allowed."""
    for field, value in (("draft-cost", draft_call), ("call-cost-per-token", per_token)):
        allowed = math.isfinite(value) and 0 <= value <= MOST_PRICE
        require(allowed, "cost", field, value, f"a number from 0 to {MOST_PRICE:g}")
    return Prices(draft_call, per_token)


class Spending(NamedTuple):
    """What a run spends, expected or averaged: target calls, tokens of those calls beyond the first, draft calls."""

    calls: Any
    further: Any
    draft_calls: Any
    tokens: Any

    def cost(self, price: Prices) -> Any:
        """E[calls] + k E[further tokens in calls] + c E[draft calls]."""
        return self.calls + price.per_token * self.further + price.draft_call * self.draft_calls

    def speed_up(self, price: Prices) -> float:
        """Plain decoding's cost over this cost; below 1 it is slower."""
        return float(self.tokens / self.cost(price))


class Counted(Protocol):
    """A `Law`, or averages over samples."""

    @property
    def calls(self) -> Any: ...

    @property
    def drafted(self) -> Any: ...

    @property
    def tokens(self) -> Any: ...


def spending(decoder: Decoder, run: Counted) -> Spending:
    """What a decoder's run spends.

    A call runs over the prefix's last token and the drafts, so `drafted` tokens are the ones beyond the first.  A
    relaxed bonus is drafted too but no call runs over it: one fewer a call.  Window decoders draft for free.
    """
    inner = innermost(decoder)
    further = run.drafted - run.calls if isinstance(inner, RelaxedBonus) else run.drafted
    return Spending(run.calls, further, run.drafted if decoder.needs_draft else 0, run.tokens)


def innermost(decoder: Any) -> Any:
    """The decoder that races, or the decoder itself."""
    return decoder.decoder if isinstance(decoder, Race) else decoder


def tokens_per_round(acceptance: float, lookahead: int) -> float:
    """1 + a + .. + a^L = (1 - a^(L+1)) / (1 - a); L + 1 at a = 1."""
    return math.fsum(acceptance**i for i in range(lookahead + 1))


def naive_speed_up(acceptance: float, lookahead: int, price: Prices) -> float:
    """(1 - a^(L+1)) / ((1 - a)(1 + (c + k) L)): every slot accepts alike, and no sequence ends.

    Leviathan et al. 2023 (arXiv 2211.17192), theorem 3.8, where k = 0.
    """
    return tokens_per_round(acceptance, lookahead) / (1 + (price.draft_call + price.per_token) * lookahead)


def has_formula(decoder: Decoder) -> bool:
    """Whether the naive formula is about this decoder: a chain that adds a bonus token."""
    return isinstance(innermost(decoder), Chain)
