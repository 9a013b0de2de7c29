"""The best that any verifier can do for a pair of models: convex programs over the masses of its paths, certified.

masses.py        variables, rows, laws by prefix
rounds.py        what can be done with a round of drafts; verifiers.py: with a block, and over a run
spans.py         the costs that verifiers can have; memory.py: the size of a program before it is built
divergences.py   what is minimised, and the plane that certifies it; rationals.py: sums rounded to one side
limits.py        limit(kind, target, draft, lookahead, divergence).at(cost)
"""
