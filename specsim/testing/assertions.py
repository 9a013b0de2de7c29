"""Assertions for any test suite: a claim holds, or the smallest counterexample is the message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specsim.errors import SpecsimError, shown
from specsim.testing import counterexamples as written
from specsim.testing.claims import Judged, chosen, judge_all
from specsim.testing.counterexamples import Counterexample, Replayed
from specsim.testing.showing import as_text
from specsim.testing.showing import view as show
from specsim.testing.statements import CI, PROFILES, Profile
from specsim.testing.subjects import Subject, from_spec, rooted, subject_of


def assert_claim(subject: Any, *claims: str, profile: Profile | str = CI) -> None:
    """A rule or decoder keeps its claims on every case that is looked at.

    subject: a rule (a plain function too), a decoder, or a spec as text: "Lenient(omega=1.3)", "my_rules.py:MyRule()".
    claims: names of `specsim.testing.CLAIMS`, such as "lossless", "on-line", "monotone".  profile: how hard to look,
    CI, THOROUGH or their names.  AssertionError with the smallest counterexample in Fractions, and how to see it
    again; SpecsimError for what is no rule or no claim of it.
    """
    about = subject_for(subject)
    if not claims:
        raise SpecsimError("assert_claim needs a claim, such as 'lossless'")
    for judged in judge_all(chosen(claims, about), about, profile_of(profile)):
        if not judged.holds and not judged.skipped:
            raise AssertionError(message(judged))


def assert_valid_rule(rule: Any, profile: Profile | str = CI) -> None:
    """The rule's acceptances are probabilities, and its residuals laws wherever a rejection can be."""
    assert_claim(rule, "valid", profile=profile)


def assert_lossless(subject: Any, profile: Profile | str = CI) -> None:
    """What comes out has exactly the target's law: one token at every slot and whole runs of a rule, runs of a decoder.

    A decoder is judged with the strict rule, if it takes one.
    """
    assert_claim(subject, "lossless", profile=profile)


def assert_on_line(rule: Any, profile: Profile | str = CI) -> None:
    """P(reject) + TV(out, p) = TV(p, q): no bias is paid for that acceptance does not earn."""
    assert_claim(rule, "on-line", profile=profile)


def assert_supported(rule: Any, profile: Profile | str = CI) -> None:
    """No token of target probability 0 is ever emitted."""
    assert_claim(rule, "support", profile=profile)


def assert_case(counterexample: Any, subject: Any = None, root: str | Path | None = None) -> None:
    """A counterexample that `specsim check` wrote is none any more.

    counterexample: the content of its JSON file; subject: a rule or decoder in place of the one it names; root: the
    directory in which the file of the named one is looked for (default: the current one).
    """
    found = written.read(counterexample)
    base = None if root is None else Path(root)
    about = written.subject_in(found, base) if subject is None else subject_for(subject, base)
    if not found.claim:
        raise SpecsimError(f"{shown(found.statement)} is a part of a theorem: put it to `specsim replay`")
    again = written.replay_claim(found, about)
    if not again.holds:
        raise AssertionError(told(f"{found.claim} still fails for {about.name}", again, found))


def subject_for(subject: Any, root: Path | None = None) -> Subject:
    """The subject of an assertion."""
    return from_spec(rooted(subject, root)) if isinstance(subject, str) else subject_of(subject)


def profile_of(profile: Profile | str) -> Profile:
    """A profile from its name."""
    if isinstance(profile, Profile):
        return profile
    if profile not in PROFILES:
        raise SpecsimError(f"unknown profile {shown(profile)}; known: {', '.join(PROFILES)}")
    return PROFILES[profile]


def message(judged: Judged) -> str:
    """What an assertion has to say: the claim, the case token by token, and how to see it again."""
    assert judged.statement is not None and judged.finding is not None
    case = judged.finding.counterexample
    assert case is not None
    found = written.counterexample(judged)
    again = Replayed(judged.statement, case, judged.subject.name, judged.finding.worst)
    size = "the smallest counterexample" if found.minimal else "the smallest counterexample found"
    return told(f"{judged.claim.name} fails for {judged.subject.name}; {size}", again, found)


def told(title: str, again: Replayed, found: Counterexample) -> str:
    """A counterexample as text."""
    view = as_text(show(again.statement, again.case, again.margin, title))
    call = f"specsim.testing.assert_case({found.as_json()!r}{'' if found.subject else ', subject=...'})"
    return f"{view}\nto see it again: {call}"
