"""How relaxed a rule is, as one number: the field that is turned to bring different rules to the same cost."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from specsim.errors import SpecsimError, asked, is_number


class Strength(NamedTuple):
    """The `field` of a rule that sets how much it relaxes, and its values at the ends.

    weakest: relaxes least; strongest: relaxes most (it may be the smaller number).  Both are whole numbers for a field
    that takes only those.  A rule says it as a class attribute: `strength = Strength("omega", 1.0, 1e9)`.
    """

    field: str
    weakest: float
    strongest: float

    @property
    def whole(self) -> bool:
        """Whether only whole numbers make sense."""
        return isinstance(self.weakest, int) and isinstance(self.strongest, int)


def strength_of(rule: Any) -> Strength:
    """A rule's strength; SpecsimError for a rule that names none, or none that can be turned."""
    strength = getattr(rule, "strength", None)
    if not isinstance(strength, Strength) or isinstance(rule, type):
        raise SpecsimError(
            f"{rule!r} has no strength to turn; give it a class attribute such as "
            'strength: ClassVar[Strength] = Strength("omega", 1.0, 1e9)'
        )
    ends = strength[1:]
    if not (isinstance(strength.field, str) and all(is_number(end) and math.isfinite(end) for end in ends)):
        raise SpecsimError(f"{rule!r}: {strength!r} must name a field and two finite numbers, weakest and strongest")
    if not can_set(rule, strength.field):
        raise SpecsimError(
            f"{rule!r}: its strength {strength.field!r} cannot be set; make the rule a frozen dataclass with that "
            "field, or give it with_strength(value)"
        )
    return strength


def can_set(rule: Any, name: str) -> bool:
    """A rule around another one says itself how; of any other it is a field."""
    return hasattr(rule, "with_strength") or (is_dataclass(rule) and name in {field.name for field in fields(rule)})


def with_strength(rule: Any, value: float) -> Any:
    """The rule with its strength set to `value`."""
    field = strength_of(rule).field
    turn = rule.with_strength if hasattr(rule, "with_strength") else lambda to: replace(rule, **{field: to})
    return asked(f"{rule!r} at strength {field} = {value!r}", turn, value)
