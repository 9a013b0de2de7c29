"""The law of a whole run of Chain(L), and its divergences from the target, from laws along given sequences alone.

Enumeration takes V**N sequences; this takes the laws of both models along a sample of them, at any V and N.

    conditional_laws(rule, target, draft, tokens, lookahead) -> out(v | x_<n) [B, N, V]
    along(rule, target, draft, tokens, lookahead) -> Paths       one number a sequence and figure, [B]
    MEASURES[name].values(paths) -> [B], MEASURES[name].sample   "target" or "output": where the sequences are from
    mean(values) -> Estimate(value, error), difference(first, second) for rules on the same sequences
    estimates(paths along target samples, paths along output samples) -> {name: Estimate}
    relaxed_run(paths), max_ratio(paths, ..)

target, draft: laws [B, N, V] along tokens [B, N]; numpy, torch, or numpy arrays of Fractions.
"""

from specsim.divergences.estimates import Estimate, difference, mean, quotient
from specsim.divergences.measures import MEASURES, OUTPUT, TARGET, Measure, estimates, max_ratio, relaxed_run
from specsim.divergences.paths import Paths, along, conditional_laws, join
from specsim.divergences.whole import whole_law

__all__ = [
    "MEASURES",
    "OUTPUT",
    "TARGET",
    "Estimate",
    "Measure",
    "Paths",
    "along",
    "conditional_laws",
    "difference",
    "estimates",
    "join",
    "max_ratio",
    "mean",
    "quotient",
    "relaxed_run",
    "whole_law",
]
