"""Any rule's acceptance with the best replacement there is for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specsim.arrays import Array, arange, namespace
from specsim.errors import require
from specsim.rules.lantern import Lantern
from specsim.rules.wrapping import around_a_rule
from specsim.verification import Verdict, optimal_residual


def acceptance(rule: Any, draft: Array, target: Array, position: Array) -> Array:
    """b of every token, [..., V], from a rule of any form: its `acceptance`, its whole-law verdict, or its `at`."""
    if hasattr(rule, "acceptance"):
        return rule.acceptance(draft, target, position)
    if not hasattr(rule, "at"):
        return rule(draft, target, position).accept
    xp, vocab = namespace(draft), draft.shape[-1]
    token = xp.broadcast_to(arange(vocab, draft), draft.shape)
    laws = (xp.broadcast_to(law[..., None, :], (*draft.shape, vocab)) for law in (draft, target))
    return rule.at(*laws, token, xp.broadcast_to(position[..., None], draft.shape)).accept


@around_a_rule
@dataclass(frozen=True)
class Optimal:
    """b of `rule`, G = G* = norm[p - q b]+.  Biased, on the line where the rule's b is never below min(1, p/q).

    The least TV(out, p) that this b allows; lossless wherever b <= min(1, p/q).  "LANTERN with G*" of COOL-SD's
    ablation is Optimal(Lantern(k=10, delta=0.4)).  Of a rule with an `at` it needs the whole-vocabulary acceptance.
    Source: COOL-SD (arXiv 2601.09212), equation 5; the acceptance is that of the rule's own source.  [li2026coolsd]
    """

    rule: Any = Lantern()

    def __post_init__(self) -> None:
        usable = callable(self.rule) or hasattr(self.rule, "at")
        fit = usable and not isinstance(self.rule, type)
        require(fit, "Optimal", "rule", self.rule, "an acceptance rule such as Lantern(k=10)")

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept = acceptance(self.rule, draft, target, position)
        return Verdict(accept, optimal_residual(draft, target, accept))
