"""How relaxed a rule is, as one number: the field that is turned to bring different rules to the same cost."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, NamedTuple

from specsim.errors import SpecsimError


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
    """A rule's strength; SpecsimError for a rule that names none."""
    strength = getattr(rule, "strength", None)
    if not isinstance(strength, Strength) or not can_set(rule, strength.field):
        raise SpecsimError(
            f"{rule!r} has no strength to turn; give it a class attribute such as "
            'strength: ClassVar[Strength] = Strength("omega", 1.0, 1e9)'
        )
    return strength


def can_set(rule: Any, name: str) -> bool:
    """A rule around another one says itself how; of any other it is a field."""
    return hasattr(rule, "with_strength") or name in {field.name for field in fields(rule)}


def with_strength(rule: Any, value: float) -> Any:
    """The rule with its strength set to `value`."""
    field = strength_of(rule).field
    return rule.with_strength(value) if hasattr(rule, "with_strength") else replace(rule, **{field: value})
