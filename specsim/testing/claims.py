"""Claims that a rule or decoder may make, each a row, and the search that judges them.

Adding a claim is adding a row: what it says of a rule, of a decoder, or of both, as statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hypothesis.errors import Flaky

from specsim.checking.validity import NotExact
from specsim.errors import SpecsimError, shown
from specsim.testing import token_claims as one
from specsim.testing.block_claims import block_laws, supported_run
from specsim.testing.run_claims import (
    accounting_part,
    calls_part,
    lossless_decoder,
    lossless_run,
    race_parts,
)
from specsim.testing.statements import CI, Finding, Profile, Statement, examine
from specsim.testing.subjects import Subject

Parts = Callable[[Subject], tuple[Statement, ...]]


@dataclass(frozen=True)
class Claim:
    """name: as on the command line; theorem: ids of those it rests on, "" for a plain definition; text: in words.

    rule, decoder: the statements that make the claim up for either kind, in the order in which they are judged; None
    where it says nothing of that kind.
    """

    name: str
    theorem: str
    text: str
    rule: Parts | None = None
    decoder: Parts | None = None

    def parts(self, subject: Subject) -> tuple[Statement, ...]:
        """The statements for a subject; SpecsimError where there are none."""
        build = self.decoder if subject.kind == "decoder" else self.rule
        if build is None:
            raise SpecsimError(f"{self.name} is no claim of a {subject.kind}; known: {known(subject.kind)}")
        return build(subject)


CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for claim in (
        Claim(
            "valid",
            "",
            "the rule's verdicts are probabilities and laws",
            rule=lambda subject: (*one.valid_part(subject), *block_laws(subject)),
        ),
        Claim(
            "lossless",
            "T01, T12",
            "what comes out has the target's law: one token at every slot, and whole runs",
            rule=lambda subject: (one.lossless_token(subject), lossless_run(subject)),
            decoder=lossless_decoder,
        ),
        Claim(
            "on-line",
            "T03, T20",
            "no bias is wasted: on the Pareto line",
            rule=one.one_part("P(reject) + TV(out, p) = TV(p, q)", one.off_line),
        ),
        Claim(
            "support",
            "T21",
            "no token of target probability 0 is emitted",
            rule=lambda subject: (
                *one.one_part("out(v) = 0 wherever p(v) = 0", one.off_support)(subject),
                *supported_run(subject),
            ),
        ),
        Claim(
            "optimal-residual",
            "T02",
            "its replacement is the best one for its own acceptance",
            rule=one.one_part("TV(out, p) = N(b) = sum [q b - p]+", one.wasted),
        ),
        Claim(
            "at-least-strict",
            "T04",
            "no token is kept less often than by the strict rule",
            rule=one.one_part("q b >= min(p, q) at every token", one.below_strict),
        ),
        Claim(
            "never-above-strict",
            "T08",
            "dominated: no token is kept more often than by the strict rule",
            rule=one.one_part("q b <= min(p, q) at every token", one.above_strict),
        ),
        Claim("monotone", "", "relaxing its strength never keeps a token less often", rule=one.monotone_part),
        Claim("bounded-ratio", "T19", "no token comes out more than omega times as often", rule=one.ratio_part),
        Claim(
            "race-equal",
            "T14",
            "plain decoding with the same noise, token for token",
            decoder=race_parts,
        ),
        Claim("accounting", "T23", "tokens, calls and accepted drafts add up", decoder=accounting_part),
        Claim("bounded-calls", "T22", "no more calls than tokens, no fewer than full windows need", decoder=calls_part),
    )
}
"""Every claim by its name."""


@dataclass(frozen=True)
class Judged:
    """What a search found about a claim.  part: number (from 1) of the statement that failed, else of the last one;
    finding: of that one; tried: cases of all parts; subject: in the numbers that were used; skipped: why it was not
    judged, or ""."""

    claim: Claim
    subject: Subject
    part: int = 0
    statement: Statement | None = None
    finding: Finding | None = None
    tried: int = 0
    skipped: str = ""

    @property
    def holds(self) -> bool:
        """No counterexample was found, and one was looked for."""
        return self.finding is not None and self.finding.counterexample is None


def known(kind: str) -> str:
    """Names of the claims of a kind of subject."""
    return ", ".join(name for name, claim in CLAIMS.items() if getattr(claim, kind) is not None)


def chosen(names: Iterable[str], subject: Subject) -> list[Claim]:
    """The claims of these names, in the order of CLAIMS; SpecsimError for a name that says nothing of the subject."""
    wanted = [name.strip() for name in names]
    for name in wanted:
        if name not in CLAIMS or getattr(CLAIMS[name], subject.kind) is None:
            raise SpecsimError(f"unknown claim {shown(name)} of a {subject.kind}; known: {known(subject.kind)}")
    found = [claim for name, claim in CLAIMS.items() if name in wanted]
    for claim in found:
        claim.parts(subject)  # what a rule lacks for a claim is said before any work
    return found


def judge_all(
    claims: Iterable[Claim],
    subject: Subject,
    profile: Profile = CI,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Judged]:
    """Every claim; after a rule was found to be none, nothing else can be said of it."""
    judged: list[Judged] = []
    for claim in claims:
        invalid = any(some.claim.name == "valid" and not some.holds for some in judged)
        skipped = Judged(claim, subject, skipped="not judged: the verdicts are not valid")
        judged.append(skipped if invalid else judge(claim, subject, profile))
        progress(len(judged))
    return judged


def judge(claim: Claim, subject: Subject, profile: Profile = CI) -> Judged:
    """Look for a case on which a claim fails, in Fractions if the subject can be computed in them."""
    try:
        return judged_in(claim, subject, profile)
    except NotExact as reason:
        return judged_in(claim, subject.in_floats(str(reason)), profile)
    except Flaky as error:
        raise unstable(subject) from error


def judged_in(claim: Claim, subject: Subject, profile: Profile) -> Judged:
    """The parts one after the other, to the first that fails."""
    tried, last = 0, Judged(claim, subject)
    for number, statement in enumerate(claim.parts(subject), 1):
        finding = examine(statement, profile)
        tried += finding.tried
        last = Judged(claim, subject, number, statement, finding, tried)
        if not last.holds:
            return confirmed(last)
    return last


def confirmed(found: Judged) -> Judged:
    """A counterexample is looked at again, nothing remembered: a verdict may not change from call to call."""
    assert found.statement is not None and found.finding is not None and found.finding.counterexample is not None
    again = again_about(found.claim, found.subject)[found.part - 1]
    if not again.fails(found.finding.counterexample):
        raise unstable(found.subject)
    return found


def again_about(claim: Claim, subject: Subject) -> tuple[Statement, ...]:
    """The statements about a subject that is new to every cache."""
    return claim.parts(Subject(subject.thing, subject.text, subject.floats))


def unstable(subject: Subject) -> SpecsimError:
    """What is said of a subject that answers the same question in two ways."""
    return SpecsimError(f"{subject.name}: its answer to the same case changes from call to call; it must be a function")
