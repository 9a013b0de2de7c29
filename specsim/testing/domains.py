"""A domain: everything a statement speaks of, and the hypotheses under which it speaks.

A case is one point of it.  Cases can be drawn (Hypothesis), listed from the smallest on, written down and read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

from specsim.errors import SpecsimError
from specsim.testing.fields import Field, LawField, ModelField, OneOf, Shape, rows

HIGHEST = {1: 4, 2: 4, 3: 3, 4: 2}
"""Vocabulary -> highest denominator of the laws that are listed one by one."""
HIGHEST_OF_MODELS = {1: 3, 2: 3, 3: 2}
"""The same for whole models, which have many laws."""
MOST = 64
"""Largest vocabulary and length of a case that is read from a file."""


@dataclass(frozen=True)
class Case:
    """One point of a domain.  `case.name` is the loaded value of a field, `case.raw` holds them as written down."""

    fields: Mapping[str, Field] = field(repr=False, compare=False)
    shape: Shape
    raw: tuple[tuple[str, Any], ...]

    def __getattr__(self, name: str) -> Any:
        fields, raw = self.__dict__.get("fields", {}), dict(self.__dict__.get("raw", ()))
        if name not in fields or name not in raw:
            raise AttributeError(name)
        return fields[name].load(raw[name])

    @property
    def vocab(self) -> int:
        """Number of tokens."""
        return self.shape.vocab

    @property
    def length(self) -> int:
        """Number of positions."""
        return self.shape.length

    @property
    def size(self) -> tuple[int, int, int]:
        """What "smallest" means: vocabulary, then length, then the largest denominator."""
        return (*self.shape, max(self.denominators, default=1))

    @property
    def denominators(self) -> list[int]:
        """Of every number in it; what is only chosen from a few options has no size."""
        sized = [value for name, value in self.raw if not isinstance(self.fields[name], OneOf)]
        return [number.denominator for value in sized for number in fractions(value)]

    def as_json(self) -> dict[str, Any]:
        """The case as text."""
        texts = {name: self.fields[name].text(value) for name, value in self.raw}
        return {"vocab": self.vocab, "length": self.length, "values": texts}


def fractions(raw: Any) -> Iterator[Fraction]:
    """Every Fraction inside nested tuples."""
    if isinstance(raw, Fraction):
        yield raw
    elif isinstance(raw, tuple):
        for part in raw:
            yield from fractions(part)


def anything(case: Case) -> bool:
    """No hypothesis."""
    return True


@dataclass(frozen=True)
class Domain:
    """fields by name; vocabs and lengths that are tried; where: the hypotheses; cost: how much dearer one case is than
    a case of one token, which takes about a millisecond; highest: vocabulary -> largest denominator listed; known:
    raw values of cases that are tried whatever the search finds, such as those that other rules failed on."""

    fields: Mapping[str, Field]
    vocabs: tuple[int, ...] = (1, 2, 3, 4)
    lengths: tuple[int, ...] = (1,)
    where: Callable[[Case], bool] = anything
    cost: int = 1
    highest: Mapping[int, int] | None = None
    known: Callable[[], Iterable[Mapping[str, Any]]] = tuple

    def shapes(self) -> list[Shape]:
        """Smallest first."""
        return [Shape(*pair) for pair in product(self.vocabs, self.lengths)]

    def case(self, shape: Shape, values: Mapping[str, Any]) -> Case:
        """A case from raw values."""
        return Case(self.fields, shape, tuple((name, values[name]) for name in self.fields))

    def strategy(self) -> st.SearchStrategy[Case]:
        """Cases drawn at random that satisfy the hypotheses; laws of a single token are all listed anyway."""

        def of(shape: Shape) -> st.SearchStrategy[Case]:
            values = {name: some.strategy(shape) for name, some in self.fields.items()}
            return st.fixed_dictionaries(values).map(lambda drawn: self.case(shape, drawn))

        shapes = [shape for shape in self.shapes() if shape.vocab > 1] or self.shapes()
        return st.sampled_from(shapes).flatmap(of).filter(self.where)

    def highest_denominator(self, vocab: int) -> int:
        """Up to which denominator cases are listed at first."""
        modelled = any(isinstance(some, ModelField) for some in self.fields.values())
        known = self.highest or (HIGHEST_OF_MODELS if modelled else HIGHEST)
        return known.get(vocab, 1)

    def sizes(self) -> Iterator[tuple[Shape, int]]:
        """(shape, largest denominator), in the order of what is smaller."""
        for shape in self.shapes():
            for denominator in range(1, self.highest_denominator(shape.vocab) + 1):
                yield shape, denominator

    def cases(self, shape: Shape, denominator: int) -> Iterator[Case]:
        """Every case of a shape whose largest denominator is the given one, hypotheses not yet asked."""
        for values in combinations(list(self.fields.values()), shape, denominator):
            case = Case(self.fields, shape, tuple(zip(self.fields, values, strict=True)))
            if max(case.denominators, default=1) == denominator:
                yield case

    def known_cases(self) -> Iterator[Case]:
        """The known cases that satisfy the hypotheses."""
        for values in self.known():
            case = self.case(shape_of(values), values)
            if self.where(case):
                yield case

    def covers(self, case: Case) -> bool:
        """Whether a search could meet the case: it has a shape that is tried, or is a known one."""
        return case.shape in self.shapes() or any(case == some for some in self.known_cases())

    def read(self, content: Any) -> Case:
        """A case from what `as_json` wrote; SpecsimError for anything else."""
        if not isinstance(content, dict) or not isinstance(content.get("values"), dict):
            raise SpecsimError("a case needs vocab, length and values")
        shape = Shape(*(whole(content, name) for name in ("vocab", "length")))
        values, missing = content["values"], set(self.fields) ^ set(content["values"])
        if missing:
            raise SpecsimError(
                f"the values of this case are {', '.join(self.fields)}; mind {', '.join(sorted(missing))}"
            )
        case = self.case(shape, {name: some.read(values[name], shape) for name, some in self.fields.items()})
        if not self.where(case):
            raise SpecsimError("the case does not satisfy the hypotheses of its statement")
        return case


def combinations(fields: list[Field], shape: Shape, denominator: int) -> Iterator[tuple]:
    """itertools.product of the fields' values, but lazy: models are too many to be listed."""
    if not fields:
        yield ()
        return
    for head in fields[0].values(shape, denominator):
        for tail in combinations(fields[1:], shape, denominator):
            yield (head, *tail)


def whole(content: Mapping[str, Any], name: str) -> int:
    """A positive whole number of a JSON object."""
    value = content.get(name)
    if type(value) is not int or not 1 <= value <= MOST:
        raise SpecsimError(f"{name} = {value!r} must be a whole number from 1 to {MOST}")
    return value


def shape_of(values: Mapping[str, Any]) -> Shape:
    """The shape of raw values: V from a law or the first law of a model, N from the number of a model's laws."""
    some = next(value for value in values.values() if isinstance(value, tuple))
    if isinstance(some[0], Fraction):
        return Shape(len(some), 1)
    vocab, length = len(some[0]), 0
    while rows(Shape(vocab, length)) < len(some):
        length += 1
    return Shape(vocab, length)


PAIR: dict[str, Field] = {"target": LawField(), "draft": LawField()}
"""Two laws of one token."""
MODELS: dict[str, Field] = {"target": ModelField(), "draft": ModelField()}
"""Two models of whole sequences."""
