"""A rule around another one: how relaxed it is and which codebook it reads are the inner rule's business."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from specsim.rules.codebooks import bind_codebook, codes_of
from specsim.strength import Shape, Strength, shape_value, with_shape, with_strength

Wrapper = TypeVar("Wrapper", bound=type)


def strength(self: Any) -> Strength | None:
    """The inner rule's; None if it has none."""
    return getattr(self.rule, "strength", None)


def at_strength(self: Any, value: float) -> Any:
    """The wrapper of the inner rule at another strength."""
    return replace(self, rule=with_strength(self.rule, value))


def shape(self: Any) -> tuple[Shape, ...]:
    """The inner rule's."""
    return getattr(self.rule, "shape", ())


def inner_shape(self: Any, field: str) -> float:
    """The inner rule's value of a shape."""
    return shape_value(self.rule, field)


def at_shape(self: Any, field: str, value: float) -> Any:
    """The wrapper of the inner rule at another shape."""
    return replace(self, rule=with_shape(self.rule, field, value))


def reach(self: Any) -> int:
    """Numbers looked up for each token, as the inner rule says."""
    return max(getattr(self.rule, "reach", 0), getattr(self.rule, "width", 0))


def codes(self: Any) -> int | None:
    """Codes the inner rule is bound to; 0: it waits for a codebook; None: it needs none."""
    return codes_of(self.rule)


def bind(self: Any, codebook: Any) -> Any:
    """The wrapper of the bound rule."""
    return replace(self, rule=bind_codebook(self.rule, codebook))


def around_a_rule(wrapper: Wrapper) -> Wrapper:
    """Class decorator: a dataclass with a field `rule` answers for it."""
    properties: dict[str, Any] = {"strength": strength, "shape": shape, "reach": reach, "codes": codes}
    for name, answer in properties.items():
        setattr(wrapper, name, property(answer))
    methods: dict[str, Any] = {"with_strength": at_strength, "with_shape": at_shape, "shape_value": inner_shape}
    methods["bind"] = bind
    for name, method in methods.items():
        setattr(wrapper, name, method)
    return wrapper
