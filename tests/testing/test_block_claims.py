"""Claims of rules that judge blocks: one draft does not say all."""

from typing import Any

import pytest

from specsim import BlockVerification, Ledger, SpecsimError
from specsim.testing.claims import CLAIMS, judge
from specsim.testing.statements import Profile
from specsim.testing.subjects import subject_of
from tests.checking.test_whole_blocks import Changed, Forgetful, nine_tenths, shortest_prefix, wrong_in_slot_two

FEW = Profile("few", listed=30, drawn=10, solver_seconds=5)


@pytest.mark.parametrize("rule", [Forgetful(w=1.0), Changed(shortest_prefix), Changed(wrong_in_slot_two)], ids=repr)
def test_a_mistake_in_later_slots_is_found_in_runs(rule: Any) -> None:
    found = judge(CLAIMS["lossless"], subject_of(rule), FEW)
    assert not found.holds and found.part == 2 and found.finding is not None
    assert found.finding.counterexample is not None and found.finding.counterexample.vocab == 2


def test_shipped_rules_keep_their_claims() -> None:
    for rule, names in ((BlockVerification(), ("valid", "lossless")), (Ledger(4.0, 0.5), ("valid", "support"))):
        for name in names:
            found = judge(CLAIMS[name], subject_of(rule), FEW)
            assert found.holds and found.part == 2  # one draft, and blocks or runs


def test_what_is_no_block_has_no_margin() -> None:
    with pytest.raises(SpecsimError, match="stop sums to 9/10"):
        judge(CLAIMS["valid"], subject_of(Changed(nine_tenths)), FEW)
