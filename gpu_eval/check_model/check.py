"""Every guarantee in turn; what comes first explains what comes after, so read the first failure first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpu_eval.check_model.forced import forced
from gpu_eval.check_model.guidance import guidance
from gpu_eval.check_model.image_ids import image_ids
from gpu_eval.check_model.loading import UserError, users_code
from gpu_eval.check_model.logits import logits
from gpu_eval.check_model.looks import FAILS, INCONCLUSIVE, Item, Look
from gpu_eval.check_model.numbers import number_range
from gpu_eval.check_model.prefix import prefix
from gpu_eval.check_model.purity import purity
from gpu_eval.check_model.race import race
from gpu_eval.check_model.rollback import rollback
from gpu_eval.check_model.rows import rows
from gpu_eval.check_model.subject import Subject
from gpu_eval.check_model.validity import validity
from specsim.errors import SpecsimError

ITEMS: dict[str, Callable[[Subject], Iterator[Look]]] = {
    "logits": logits,
    "image ids": image_ids,
    "number range": number_range,
    "purity": purity,
    "laws": validity,
    "prefix": prefix,
    "forced tokens": forced,
    "rows": rows,
    "rollback": rollback,
    "guidance": guidance,
    "race": race,
}

BASES = ("logits", "image ids", "number range", "purity", "laws")
"""What the other items take for granted."""


@dataclass(frozen=True)
class Report:
    """What was found."""

    subject: Subject
    items: tuple[Item, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the items that fail, in order."""
        return tuple(item.name for item in self.items if item.verdict == FAILS)


def check(subject: Subject, path: str = "", progress: Callable[[int, int], None] = lambda done, of: None) -> Report:
    """Look at every item.  path: the user's file, for errors in it; progress(items done, all)."""
    report = Report(subject, ())
    for name in ITEMS:
        blocked = tuple(failed for failed in report.failed if stops(failed, name))
        item = look_at(name, report, path) if not blocked else not_looked_at(name, blocked)
        report = Report(subject, (*report.items, item))
        progress(len(report.items), len(ITEMS))
    return report


def stops(failed: str, name: str) -> bool:
    """Whether nothing can be learned of an item once another has failed."""
    return failed == "logits" or (failed in BASES and name not in BASES)


def not_looked_at(name: str, failed: tuple[str, ...]) -> Item:
    """An item that waits."""
    return Item(name, (Look("not looked at", INCONCLUSIVE, "nothing", note=f"mend {' and '.join(failed)} first"),))


def look_at(name: str, report: Report, path: str) -> Item:
    """One item.  What specsim itself refuses (NaN, laws that are none) is a failure.

    The user's own errors end the check, but after a failure they may follow from it.
    """
    looks: list[Look] = []
    try:
        with users_code(path, f"while looking at: {name}"):
            for look in ITEMS[name](report.subject):
                looks.append(look)
    except SpecsimError as error:
        own = isinstance(error, UserError)
        if own and not report.failed:
            raise
        looks.append(Look("refused", INCONCLUSIVE if own else FAILS, "one call", note=str(error)))
    return Item(name, tuple(looks))
