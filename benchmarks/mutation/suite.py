"""What is mutated, and the fast suite of tests that judges it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MODULES = (
    *("arrays", "verification", "decoding", "couplings", "enumeration", "exact_laws", "laws", "noise_regions"),
    *("tables", "tasks"),
)
PACKAGES = ("rules", "decoders", "interpreters")


@dataclass(frozen=True)
class Subject:
    """A checkout with the core to mutate and the tests to run, best killers first.

    root: the checkout.  copied: what of it the tests need.  core, tests: paths below root.  thinned: of a test with
    very many parameters, every n-th case is run.  heavy: what the tests import, to be imported once before any fork.
    """

    root: Path
    copied: tuple[str, ...]
    core: tuple[str, ...]
    tests: tuple[str, ...]
    thinned: dict[str, int] = field(default_factory=dict)
    heavy: tuple[str, ...] = ("pytest",)


def specsim(root: Path) -> Subject:
    """The core of specsim: rules, couplings, decoders and the exact engine."""
    core = [f"specsim/{name}.py" for name in MODULES]
    core += [
        f"specsim/{package}/{path.name}" for package in PACKAGES for path in (root / "specsim" / package).glob("*.py")
    ]
    return Subject(root, COPIED, tuple(sorted(core)), TESTS, THINNED, HEAVY)


HEAVY = (
    "numpy",
    "scipy.stats",
    "array_api_compat",
    "array_api_strict",
    "torch",
    "matplotlib",
    "rich.progress",
    "pytest",
)
COPIED = ("specsim", "tests", "docs/references.bib", "pyproject.toml")
TESTS = (
    "tests/test_known_bad.py",
    "tests/test_rules.py",
    "tests/test_edges.py",
    "tests/test_rule_fields.py",
    "tests/test_bad_input.py",
    "tests/test_codebooks.py",
    "tests/test_core_limits.py",
    "tests/test_core_gaps.py",
    "tests/test_interpreters.py",
    "tests/test_exact_laws.py",
    "tests/test_one_token.py",
    "tests/test_edge_runs.py",
    "tests/test_strengths.py",
    "tests/test_sampler_law.py",
)
THINNED = {
    "test_strict_runs": 11,
    "test_relaxed_runs": 7,
    "test_the_line": 3,
    "test_backends_agree_token_for_token": 11,
    "test_every_rule": 9,
    "test_errors": 5,
    "test_a_codebook_may_be_a_tensor": 3,
    "test_total_acceptance_grows_with_strength": 5,
}
"""Odd steps that share no factor with the number of rules or tables, so every one of them is met."""
