"""T22: expected target calls of a whole run: a recursion over prefixes, and what it says in closed form."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proofs_checks.smt import Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t22_margins import (
    LATER_ON,
    LOOKING_AHEAD,
    NOT_BELOW,
    RUN,
    SAME,
    WINDOWS,
    always_bonus,
    between,
    by_one_block,
    by_tokens_per_call,
    ceiling,
    chained,
    counted,
    forgetful,
    longer,
    merging,
    never_resumed,
    no_bonus,
    one_more,
    plain,
    recursion,
    surely,
    tails,
    window_calls,
    windows,
)
from specsim import (
    Autoregressive,
    Lenient,
    Strict,
    Typical,
)
from specsim.testing.domains import MODELS, Domain
from specsim.testing.fields import LawField, ModelField, OneOf
from specsim.testing.statements import Statement, holds

T22 = Theorem(
    "T22",
    "expected target calls of a whole run obey a recursion over prefixes",
    "folklore (a Markov chain over prefixes); closed forms and limits are shown here",
    parts=(
        Part(
            Statement(
                "chain, any token-wise rule: E[calls] = C(), C(y) = 1 + sum_z P(y -> z) C(z), C = 0 at N tokens; "
                "z is y, the kept of min(L, N - n - 1) drafts and one token more",
                RUN,
                counted,
                recursion,
            )
        ),
        Part(
            Statement("chain, any rule: ceil(N/(L+1)) <= calls <= N in every run", RUN, between, ceiling),
        ),
        Part(
            Statement(
                "chain whose draft model is the target, b >= min(1, p/q): ceil(N/(L+1)) calls in every run",
                SAME,
                surely,
                ceiling,
            )
        ),
        Part(
            Statement(
                "plain decoding: N calls",
                Domain({"target": ModelField()}, (1, 2, 3), (1, 2, 3), cost=8),
                plain,
                Autoregressive(),
            )
        ),
        Part(
            Statement("strict chain: E[calls] does not rise with L", LOOKING_AHEAD, longer, Strict()),
            proof=Proof("every V, on every path of tokens and refusals", merging, step=True),
        ),
        Part(
            Statement(
                "b >= min(1, p/q), optimal residual: E[calls] does not rise from L = 1 to 2; Lenient(4) and "
                "Ensemble(w) with w = .5, .8 where V = 2, the first token is 0, the second has any p and q, after a "
                "second 0 both models say 0 and after a second 1 p says 0 and q says 1",
                LATER_ON,
                one_more,
                chained,
            ),
            stated=FAILS,
            claimed="folklore; a relaxed rule writes other contexts where it drafts than where a bonus is due",
        ),
        Part(
            Statement(
                "Jacobi, strict, the same law p at every position: E[calls] = J(N, 0) whatever the coupling; "
                "alpha = 1 - TV(p, uniform), with one-hot tails 1/V",
                WINDOWS,
                windows,
                window_calls,
            )
        ),
        Part(
            Statement(
                "Jacobi, strict, the same law at every position: uniform tails need no more calls than one-hot ones",
                WINDOWS,
                tails,
                "uniform",
            )
        ),
        Part(
            Statement(
                "chain, strict, equal context-free laws: E[calls] = N/(E[accepted] + 1) of one block of L drafts",
                Domain(
                    {"target": LawField(), "draft": LawField(), "lookahead": OneOf((1, 2))},
                    (1, 2, 3),
                    (1, 2, 3),
                    cost=10,
                ),
                by_one_block,
                by_tokens_per_call,
            ),
            stated=FAILS,
            claimed="folklore; the last rounds are cut off and overshoot",
        ),
    ),
    mutants=(
        Mutant("no bonus token", no_bonus, 1),
        Mutant("no call after a correction", never_resumed, 1),
        Mutant("ceil(N/L)", lambda length, lookahead: ceiling(length, lookahead - 1), 2),
        Mutant("N/(L+1) rounded down", lambda length, lookahead: Fraction(length // (lookahead + 1)), 3),
        Mutant("redrawn drafts no surer than new ones", forgetful, 7),
        Mutant("one token too many for a window kept whole", always_bonus, 7),
        Mutant("one-hot tails", "onehot", 8),
    ),
    weakened=(
        Weakened(
            Statement(
                "any draft model, b >= min(1, p/q): ceil(N/(L+1)) calls",
                replace(RUN, fields={**MODELS, "lookahead": OneOf((1, 2)), "rule": OneOf(NOT_BELOW)}),
                surely,
                ceiling,
            )
        ),
        Weakened(
            Statement(
                "draft = target, any rule: ceil(N/(L+1)) calls",
                replace(SAME, fields={**SAME.fields, "rule": OneOf((Lenient(0.5), Typical()))}),
                surely,
                ceiling,
            )
        ),
        Weakened(
            Statement(
                "strict chain: E[calls] falls with L",
                LOOKING_AHEAD,
                lambda case, rule: holds(longer(case, rule) > 0),
                Strict(),
            )
        ),
    ),
)
