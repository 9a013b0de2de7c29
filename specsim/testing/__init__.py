"""Testing a rule or decoder of one's own: assertions, strategies and statements for any test suite.

    from specsim.testing import assert_claim, assert_lossless, pairs

    def test_my_rule():
        assert_claim(MyRule(), "on-line", "support")

A failing assertion shows the smallest counterexample in Fractions.  `specsim check MY.py:MyRule --claims on-line` looks
for the same and writes it down as a test.  Needs Hypothesis (pip install 'specsim[test]'); specsim itself never imports
this package.
"""

from specsim.testing.assertions import (
    assert_case,
    assert_claim,
    assert_lossless,
    assert_on_line,
    assert_supported,
    assert_valid_rule,
)
from specsim.testing.claims import CLAIMS, Claim
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import (
    LawField,
    ModelField,
    NumberField,
    OneOf,
    ProbabilityField,
    Shape,
)
from specsim.testing.statements import CI, THOROUGH, Finding, Profile, Statement, examine
from specsim.testing.strategies import laws, models, pairs

__all__ = [
    "CI",
    "CLAIMS",
    "THOROUGH",
    "Case",
    "Claim",
    "Domain",
    "Finding",
    "LawField",
    "ModelField",
    "NumberField",
    "OneOf",
    "ProbabilityField",
    "Profile",
    "Shape",
    "Statement",
    "assert_case",
    "assert_claim",
    "assert_lossless",
    "assert_on_line",
    "assert_supported",
    "assert_valid_rule",
    "examine",
    "laws",
    "models",
    "pairs",
]
