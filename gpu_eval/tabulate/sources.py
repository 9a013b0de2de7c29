"""Where tables come from: a row for each real model or data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial

from gpu_eval.digits import tabulate_digits
from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.tabulate.image_model import tabulate_images
from gpu_eval.tabulate.plan import Progress, TablePlan, Tabulated
from gpu_eval.tabulate.rounding import enough
from specsim.errors import SpecsimError, require

MOST_NUMBERS = 300_000
"""Numbers of one table, laws times vocab: its file has about three megabytes."""
MOST_DENOMINATOR = 10**9
"""Beyond it the rounding of float64 sums would begin to show in the digits written down."""


@dataclass(frozen=True)
class Source:
    """One row: sizes of a picture, what stands in where the plan says nothing, and the function that tabulates.

    vocab: most tokens of a table.  positions: tokens of a picture.  most_laws: beyond it the work is refused.
    decodes: whether tokens are drawn and laws rounded; otherwise seed, processing and denominator mean nothing.
    """

    about: str
    vocab: int
    positions: int
    start: int
    label: int | None
    classes: int
    most_laws: int
    decodes: bool
    build: Callable[[TablePlan, Progress], Tabulated]


SOURCES: dict[str, Source] = {
    "fashion": Source(
        about="the shipped image transformer and its draft, 512 codes in groups",
        vocab=512,
        positions=49,
        start=24,  # the middle of the picture: its first row is background
        label=5,  # sandals: of all classes the one whose groups are least predictable there, .7 nats a token
        classes=10,
        most_laws=20_000,  # about two minutes on one core
        decodes=True,
        build=partial(tabulate_images, load_fashion),
    ),
    "digits": Source(
        about="8 x 8 handwritten digits of scikit-learn, grey levels in groups",
        vocab=17,
        positions=64,
        start=26,  # row 3, column 2: both ends of a row are nearly always white
        label=None,
        classes=10,
        most_laws=100_000,
        decodes=False,
        build=tabulate_digits,
    ),
}


def tabulate(plan: TablePlan, progress: Progress = None) -> Tabulated:
    """Target and draft tables of a plan.  SpecsimError for what the source does not have or would take too long."""
    plan = checked(plan)
    done = SOURCES[plan.model].build(plan, progress)
    return replace(done, about=setting(plan) | done.about)


def checked(plan: TablePlan) -> TablePlan:
    """The plan with nothing left open, after everything that can be refused was."""
    require(plan.model in SOURCES, "tabulate", "model", plan.model, f"one of {', '.join(SOURCES)}")
    source = SOURCES[plan.model]
    refuse_sizes(plan, source)
    refuse_settings(plan, source)
    start = source.start if plan.start is None else plan.start
    last = source.positions - plan.length
    fits = f"from 0 to {last}: a picture has {source.positions} tokens, the table takes {plan.length}"
    require(0 <= start <= last, "tabulate", "start", start, fits)
    label = source.label if plan.label is None else plan.label
    denominator = enough(plan.vocab) if source.decodes and plan.denominator is None else plan.denominator
    return replace(plan, start=start, label=label, denominator=denominator)


def refuse_sizes(plan: TablePlan, source: Source) -> None:
    """Sizes that a source does not have, or that would take too long."""
    require(2 <= plan.vocab <= source.vocab, "tabulate", "vocab", plan.vocab, f"from 2 to {source.vocab}")
    require(1 <= plan.length <= source.positions, "tabulate", "length", plan.length, f"from 1 to {source.positions}")
    if plan.laws > source.most_laws or plan.laws * plan.vocab > MOST_NUMBERS:
        raise SpecsimError(
            f"tabulate: vocab {plan.vocab} and length {plan.length} need {plan.laws:.4g} laws; at most "
            f"{source.most_laws:,} laws and {MOST_NUMBERS:,} numbers are tabulated: take fewer tokens"
        )


def refuse_settings(plan: TablePlan, source: Source) -> None:
    """A class that is none, a denominator too small for its laws, and settings the source would ignore."""
    known = plan.label is None or 0 <= plan.label < source.classes
    require(known, "tabulate", "label", plan.label, f"a class from 0 to {source.classes - 1}")
    for name in () if source.decodes else ("seed", "denominator", "processing"):
        value, usual = getattr(plan, name), getattr(TablePlan, name)
        require(
            value == usual, "tabulate", name, value, f"left out: {plan.model} is counted, neither drawn nor rounded"
        )
    fits = plan.denominator is None or plan.vocab <= plan.denominator <= MOST_DENOMINATOR
    wanted = f"from the vocab, {plan.vocab}, to {MOST_DENOMINATOR}"
    require(fits, "tabulate", "denominator", plan.denominator, wanted)


def setting(plan: TablePlan) -> dict[str, object]:
    """What a checked plan says, and the command line that repeats it."""
    names = ["model", "vocab", "length", "start", "label", "seed", "denominator"]
    said = {name: getattr(plan, name) for name in names if SOURCES[plan.model].decodes or name != "seed"}
    said = {name: value for name, value in said.items() if value is not None}
    usual = asdict(Processing())
    options = said | {name: value for name, value in asdict(plan.processing).items() if value != usual[name]}
    words = [f"--{name.replace('_', '-')} {value}" for name, value in options.items()]
    return {"command": " ".join(["specsim tabulate", *words, "--out FILE"]), **said}
