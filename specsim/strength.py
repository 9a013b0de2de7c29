"""How relaxed a rule is, as one number: the field that is turned to bring different rules to the same cost.

Beside it the shapes: fields that say where a rule relaxes, to be chosen best at that cost.
"""

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


class Shape(NamedTuple):
    """A further `field` of a rule: not how much it relaxes but where, and the values worth trying.

    Both are whole numbers for a field that takes only those.  A rule says them as a class attribute beside its
    strength: `shape = (Shape("nu", -1.0, 4.0),)`.  An entry of a tuple field is written "omegas[1]".
    """

    field: str
    low: float
    high: float

    @property
    def whole(self) -> bool:
        """Whether only whole numbers make sense."""
        return isinstance(self.low, int) and isinstance(self.high, int)


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


def shapes_of(rule: Any) -> tuple[Shape, ...]:
    """A rule's shapes, none where it declares none; SpecsimError for any that cannot be turned."""
    shapes = getattr(rule, "shape", ())
    if not isinstance(shapes, tuple) or not all(isinstance(shape, Shape) for shape in shapes):
        raise SpecsimError(f'{rule!r}: its shape must be a tuple such as (Shape("nu", -1.0, 4.0),)')
    for shape in shapes:
        ends = shape[1:]
        if not (all(is_number(end) and math.isfinite(end) for end in ends) and shape.low < shape.high):
            raise SpecsimError(f"{rule!r}: {shape!r} must name a field and two finite numbers, the lower one first")
        shape_value(rule, shape.field)
    return shapes


def shape_value(rule: Any, field: str) -> float:
    """The value of a shape: of the rule's field, or of an entry of it; a rule around another one says it itself."""
    if hasattr(rule, "shape_value"):
        return rule.shape_value(field)
    name, place = parted(field)
    try:
        value = getattr(rule, name)
        return value if place is None else value[place]
    except (AttributeError, IndexError, TypeError):
        raise SpecsimError(f"{rule!r}: its shape {field!r} is no field of it") from None


def with_shape(rule: Any, field: str, value: float) -> Any:
    """The rule with one shape set to `value`."""
    name, place = parted(field)

    def turn(to: float) -> Any:
        if hasattr(rule, "with_shape"):
            return rule.with_shape(field, to)
        if place is None:
            return replace(rule, **{name: to})
        entries = getattr(rule, name)
        return replace(rule, **{name: (*entries[:place], to, *entries[place + 1 :])})

    return asked(f"{rule!r} at shape {field} = {value!r}", turn, value)


def parted(field: str) -> tuple[str, int | None]:
    """'omegas[1]' -> ("omegas", 1); a plain field has no place."""
    name, bracket, rest = field.partition("[")
    place = rest.removesuffix("]")
    return (name, int(place)) if bracket and place.isascii() and place.isdigit() else (field, None)
