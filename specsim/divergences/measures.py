"""The divergences by name: what each is, which sequences it is averaged over, and what its estimate is worth.

out: law of N tokens decoded by Chain(L) with the rule; target: law of plain decoding; ratio = out(x)/target(x).  Each
is the mean of one number a sequence, and its estimate from independent sequences is unbiased, except where said.
Given a prefix, everything about the next token is summed and not sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from specsim.arrays import positive_part
from specsim.divergences.estimates import Estimate, mean, quotient
from specsim.divergences.paths import Paths

TARGET, OUTPUT = "target", "output"
"""Samples: plain decoding of the target, and runs of the decoder itself."""


@dataclass(frozen=True)
class Measure:
    """sample: TARGET or OUTPUT, the sequences it is averaged over; values: one number for each of them, [B]."""

    sample: str
    values: Callable[[Paths], np.ndarray]


def tv(paths: Paths) -> np.ndarray:
    """TV(out, target) = sum [target - out]+ = E_target [1 - ratio]+.

    Each value is in [0, 1], so the error is at most 1 / (2 sqrt B) however heavy the tail of the ratio.  Nothing has to
    be known off the target's support.
    """
    return positive_part(1 - paths.ratio)


def tv_two_sided(paths: Paths) -> np.ndarray:
    """TV(out, target) = 1/2 E_target |ratio - 1| + 1/2 out(target = 0).

    out(target = 0) = E_target sum_n ratio(x_<n) out(target(. | x_<n) = 0 | x_<n): the first token off the support.  The
    same number as `tv`, with the variance of the ratio; with 1 - ratio for the second term it is `tv` value by value.
    """
    return (abs(paths.ratio - 1) + paths.off_support) / 2


def off_support(paths: Paths) -> np.ndarray:
    """out(target = 0) = E_target sum_n ratio(x_<n) out(target(. | x_<n) = 0 | x_<n)."""
    return paths.off_support


def kl(paths: Paths) -> np.ndarray:
    """KL(out || target) = E_out sum_n KL(out(. | x_<n) || target(. | x_<n)), nats: the chain rule.

    The inner divergences are exact, so only the prefixes vary: far less than log ratio(x), of the same mean, would.
    """
    return paths.token_kl


def kl_reverse(paths: Paths) -> np.ndarray:
    """KL(target || out) = E_target sum_n KL(target(. | x_<n) || out(. | x_<n)), nats; as `kl`.

    The target's samples serve every rule, so rules are compared in pairs (`difference`).
    """
    return paths.token_kl_reverse


def token_tv(paths: Paths) -> np.ndarray:
    """E_out sum_n TV(out(. | x_<n), target(. | x_<n)): what the run does to its next token, along its own prefixes.

    TV(out, target) <= token_tv <= local.
    """
    return paths.token_tv


def local(paths: Paths) -> np.ndarray:
    """E_out sum_n sum_i alive_i TV(kept_i + corrected_i, target): the sum of local errors over the rounds of the run.

    alive_i is the chance that position n is slot i of its round, given the prefix.  The bound that relaxed rules are
    derived from: errors of rounds that offset each other are counted all the same.  None do, and local is token_tv, for
    token-wise rules with b >= min(1, p/q) and an optimal residual: every slot puts too much where draft > target alone.
    """
    return paths.local


def token_chi2(paths: Paths) -> np.ndarray:
    """E_out sum_n chi2(out(. | x_<n) || target(. | x_<n)), chi2(a || b) = sum (a - b)^2 / b; inf off the support.

    Not the chi-square of the run, which grows like the product over the positions: a sum, with light tails.
    """
    return paths.token_chi2


def chi2(paths: Paths) -> np.ndarray:
    """chi2(out || target) = E_target (ratio - 1)^2; inf where the run can leave the target's support.

    Unbiased, but heavy tailed: for long runs rare sequences carry it, a sample misses them, and both the estimate and
    its error are then too small.
    """
    return np.where(paths.off_support > 0, np.inf, (paths.ratio - 1) ** 2)


def log_ratio(paths: Paths) -> np.ndarray:
    """E_out sum_n max_v log out(v | x_<n) / target(v | x_<n), nats: what a cap on the ratio would have to allow.

    At least `kl`; inf off the support.
    """
    return paths.token_log_ratio


def relaxed(paths: Paths) -> np.ndarray:
    """E_out of the number of relaxed tokens.

    A kept token is relaxed with probability [b - min(1, p/q)]+ / b, by the amount the rule keeps it more often than the
    strict rule would there.  For rules that judge whole blocks b is the share of the mass that goes on, averaged over
    the drafts still to come; lossless block verification keeps more than the strict rule, so it has relaxed tokens.
    """
    return paths.relaxed


def relaxed_runs(paths: Paths) -> np.ndarray:
    """E_out of the number of maximal runs of consecutive relaxed tokens.  A round's last token is corrected or a bonus,
    so no run goes on into the next round."""
    return paths.relaxed_runs


def calls(paths: Paths) -> np.ndarray:
    """Expected calls of the target: E_out sum_n P(a round begins at n | x_<n).  Less varied than counted calls."""
    return paths.calls


def accepted(paths: Paths) -> np.ndarray:
    """Expected drafts kept: E_out sum_n sum_i alive_i sum_v kept_i(v)."""
    return paths.accepted


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "tv": Measure(TARGET, tv),
        "tv_two_sided": Measure(TARGET, tv_two_sided),
        "off_support": Measure(TARGET, off_support),
        "kl": Measure(OUTPUT, kl),
        "kl_reverse": Measure(TARGET, kl_reverse),
        "token_tv": Measure(OUTPUT, token_tv),
        "local": Measure(OUTPUT, local),
        "chi2": Measure(TARGET, chi2),
        "token_chi2": Measure(OUTPUT, token_chi2),
        "log_ratio": Measure(OUTPUT, log_ratio),
        "relaxed": Measure(OUTPUT, relaxed),
        "relaxed_runs": Measure(OUTPUT, relaxed_runs),
        "calls": Measure(OUTPUT, calls),
        "accepted": Measure(OUTPUT, accepted),
    }
)
"""Everything that is a mean over sequences."""


def relaxed_run(output: Paths) -> Estimate:
    """Mean length of runs of relaxed tokens, E[relaxed] / E[relaxed_runs]; a quotient, biased by O(1/B)."""
    return quotient(output.relaxed, output.relaxed_runs)


def max_ratio(*paths: Paths) -> float:
    """The largest out(x)/target(x) seen: a lower bound of the maximum, which no sample estimates."""
    return float(max(np.max(np.where(some.off_support > 0, np.inf, some.ratio)) for some in paths))


def estimates(target: Paths, output: Paths) -> dict[str, Estimate]:
    """Every measure, from paths of both samples, and `relaxed_run`."""
    found = {n: mean(m.values(target if m.sample == TARGET else output)) for n, m in MEASURES.items()}
    return found | {"relaxed_run": relaxed_run(output)}
