"""T12: speculative Jacobi decoding is lossless with every coupling, and which hypotheses that needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.symbolic import by_source
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t01_mutants import SharperDrafts, Tampered, altered, residual_of_slot_before, same
from proofs_checks.theorems.t01_proofs import one_token
from proofs_checks.theorems.t12_mutants import REDRAWS, OneNoise, ReusedNoise, Squared
from specsim import Jacobi, Law, Strict, exact
from specsim.arrays import normalise, total_variation
from specsim.couplings import Redraw, maximal
from specsim.decoders.jacobi import TAILS
from specsim.noise_regions import WHOLE, Regions
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import ModelField, OneOf, Shape
from specsim.testing.statements import Statement

Run = Callable[[Case], Law]
RUN_COST = 18
"""A whole run takes 5 to 30 ms."""
MOST_SEQUENCES = 27
"""V**N up to 27: V = 2 N = 4, V = 3 N = 3."""


def redraw_off(case: Case, redraw: Redraw) -> Fraction:
    """-TV(law of a token drawn from q and then redrawn towards p, p)."""
    vocab = case.vocab
    old, new = (np.broadcast_to(law, (1, vocab, vocab)) for law in (case.draft, case.target))
    weights, _ = redraw(None, old, new, np.arange(vocab)[None], np.zeros((1, vocab), dtype=int), ())
    after = (case.draft[:, None] * normalise(weights, new)[0]).sum(axis=0)
    return -total_variation(after, case.target)


def same_noise_off(case: Case, rule: Any) -> Fraction:
    """-TV(out, p) of one token: the draft wins a race under q, its correction one under the residual, in one noise."""
    regions, law = Regions(case.vocab), np.array([Fraction(0)] * case.vocab)
    accept, residual = rule(case.draft, case.target, np.array(0))
    for token, known, share in regions.split(WHOLE, tuple(case.draft)):
        law[token] += share * accept[token]
        for other, _, part in regions.split(known, tuple(residual)):
            law[other] += share * (1 - accept[token]) * part
    return -total_variation(law, case.target)


def run_off(case: Case, run: Run) -> Fraction:
    """-TV(law of the run, law of plain decoding)."""
    return -run(case).tv(case.target)


def running(tamper: Callable[[Any], Any] = same, rule: Any = None) -> Run:
    """The law of a case's decoder; of a tampered one, or with another rule than Strict()."""
    return lambda case: exact(tamper(case.decoder), case.target, rule=rule)


def small(case: Case) -> bool:
    """Few enough sequences."""
    return bool(case.vocab**case.length <= MOST_SEQUENCES)


def windows(continuation: str, sizes: tuple[int, ...] = (1, 2, 3), tails: tuple[str, ...] = tuple(TAILS)) -> OneOf:
    """Decoders of one continuation."""
    return OneOf(tuple(Jacobi(size, continuation, tail) for size in sizes for tail in tails))


def over(
    decoders: OneOf, vocabs: tuple[int, ...] = (1, 2, 3), lengths: tuple[int, ...] = (2, 3, 4), cost: int = RUN_COST
) -> Domain:
    """Models and windows."""
    return Domain({"target": ModelField(), "decoder": decoders}, vocabs, lengths, small, cost)


def tampered(choose: Callable[[Any], Any]) -> Run:
    """Runs whose steps get another `choose`."""
    return running(lambda decoder: Tampered(decoder, choose=choose))


def stale(decoder: Jacobi) -> Jacobi:
    """The stored law of a token that did not change is left as it was."""
    return replace(decoder, continuation="maximal_stale")


SLOT_BEFORE = running(lambda decoder: Tampered(decoder, verify=altered(residual_of_slot_before)))
KEEPS = "a token drawn from q and redrawn towards p by the maximal coupling has law p"
REDRAWN = Statement(f"{KEEPS}, by the source of the coupling", Domain(PAIR, (1, 2, 3)), redraw_off, maximal)
LOSSLESS = "with strict verification, both tails and every window size, is lossless: TV = 0"
MC, GS = windows("maximal"), windows("gumbel")
SHARED = over(windows("gumbel", (3,)), (2,), (3,), cost=30)
TWO = over(windows("gumbel", (2, 3)), (2,))

T12 = Theorem(
    "T12",
    "Speculative Jacobi decoding is lossless with every coupling of its windows, if each stored law is the true one",
    "SJD (arXiv 2410.01699) for independent redraws; SCD for the maximal and the Gumbel coupling",
    parts=(
        Part(Statement(KEEPS, Domain(PAIR), redraw_off, maximal), proof=Proof(EVERY, one_token)),
        Part(REDRAWN, proof=by_source(REDRAWN, Shape(1, 1), Shape(2, 1))),
        Part(Statement(f"SJD (independent redraws) {LOSSLESS}", over(windows("independent")), run_off, running())),
        Part(Statement(f"SCD-MC (maximal coupling) {LOSSLESS}", over(MC), run_off, running())),
        Part(Statement(f"SCD-GS (Gumbel coupling, V <= 3) {LOSSLESS}", over(GS), run_off, running())),
        Part(
            Statement(
                "SCD-MC is lossless, uniform tail, when a redrawn token that did not change keeps its old stored law",
                over(windows("maximal_stale", (1, 2, 3), ("uniform",)), lengths=(1, 2, 3, 4), cost=9),
                run_off,
                running(),
            ),
            stated=FAILS,
            claimed="the released SCD code",
        ),
        Part(
            Statement(
                "SCD-MC is lossless, one-hot tail, when a redrawn token that did not change keeps its old stored law "
                "(W = 3, V <= 2, N <= 3)",
                over(windows("maximal_stale", (3,), ("onehot",)), (1, 2), (1, 2, 3), cost=4),
                run_off,
                running(),
            ),
            stated=FAILS,
            claimed="the released SCD code, whose tail is one-hot",
        ),
        Part(
            Statement(
                "with the one-hot tail and W <= 2 (so also N <= 2) the old stored law does no harm: TV = 0",
                over(windows("maximal_stale", (1, 2), ("onehot",))),
                run_off,
                running(),
            )
        ),
        Part(
            Statement(
                "a token is lossless when its correction is raced with the noise that drew the refused draft, V <= 3",
                Domain(PAIR, (1, 2, 3)),
                same_noise_off,
                Strict(),
            ),
            stated=FAILS,
            claimed="folklore; seen at V = 2 only",
        ),
        Part(
            Statement(
                "at V = 2 noise used for a draft and its correction does no harm: TV = 0",
                TWO,
                run_off,
                tampered(ReusedNoise),
            )
        ),
    ),
    mutants=(
        *(Mutant(name, redraw, 1) for name, redraw in REDRAWS.items()),
        Mutant("the residual of the slot before", SLOT_BEFORE, 3),
        Mutant("the stored law is stale", running(stale), 4),
        Mutant("the residual of the slot before, SCD-GS", SLOT_BEFORE, 5),
    ),
    weakened=(
        Weakened(
            Statement(
                "SCD-MC is lossless, whatever law is stored for a redrawn token: (a) dropped",
                over(MC),
                run_off,
                running(stale),
            )
        ),
        Weakened(
            Statement(
                "SCD-GS is lossless with one noise for all positions: (b) dropped",
                SHARED,
                run_off,
                tampered(OneNoise),
            )
        ),
        Weakened(
            Statement(
                "SJD is lossless with redraws from the law at half the temperature of the stored one: (c) dropped",
                over(windows("independent"), (2,), (1, 2), cost=6),
                run_off,
                tampered(SharperDrafts),
            )
        ),
        Weakened(
            Statement(
                "SJD is lossless with respect to p when the verifier reads p at half the temperature: (c) dropped",
                over(windows("independent"), (2,), (1, 2)),
                run_off,
                running(rule=Squared()),
            )
        ),
    ),
)
