"""What we claim of our rules, held by every test run."""

import numpy as np
from hypothesis import given, settings
from my_rules import Headroom

import specsim
from specsim import Chain
from specsim.testing import assert_lossless, assert_on_line, models, pairs


def test_any_headroom_is_on_the_line() -> None:
    """A failing claim shows its smallest counterexample in Fractions."""
    assert_on_line(Headroom(gamma=2))


def test_no_headroom_is_lossless() -> None:
    assert_lossless(Headroom(gamma=0))


@given(pairs())
@settings(deadline=None)
def test_what_the_target_likes_better_is_always_kept(pair: tuple[np.ndarray, np.ndarray]) -> None:
    """A property of our own, on laws in Fractions that specsim draws."""
    target, draft = pair
    accept = Headroom(gamma=1)(draft, target, np.array(0)).accept
    assert all(accept[(target >= draft) & (draft > 0)] == 1)


@given(models(vocab=2, length=3), models(vocab=2, length=3))
@settings(deadline=None, max_examples=20)
def test_no_sequence_comes_out_far_too_often(target: specsim.Table, draft: specsim.Table) -> None:
    """A token comes out at most 1 + gamma times as often as it should, so three tokens (1 + gamma)**3 times."""
    law = specsim.exact(Chain(lookahead=2), target, draft, rule=Headroom(gamma=1))
    assert law.max_ratio(target) <= 2**3
