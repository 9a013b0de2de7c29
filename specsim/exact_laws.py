"""`exact`: the law of a decoder's output, enumerated, after an estimate of what that takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specsim.decoding import Decoder, Task
from specsim.enumeration import enumerate_law
from specsim.errors import TooLarge
from specsim.laws import Law
from specsim.tables import Table
from specsim.tasks import make_task

BUDGET = 4 * 2**30
"""Bytes an enumeration may take by default: a fork beyond it is refused before it is made."""
SURELY_SMALL = 3000
"""Sequences up to which an enumeration is run without an estimate; the budget holds all the same."""
PROBE_BYTES, PROBE_MOST = 2**22, 2**28
"""An estimate tries longer and longer sequences until one fork takes the first, and never lets one take the second."""
ESTIMATE_SLACK = 4
"""How far an estimate must lie above the budget to refuse at once: extrapolation errs by less than this factor."""


def exact(
    decoder: Decoder,
    target: Table,
    draft: Table | None = None,
    rule: Any = None,
    length: int | None = None,
    eos: int | None = None,
    budget: int = BUDGET,
    progress: Callable[[int, int], None] | None = None,
) -> Law:
    """The law of `length` tokens decoded by `decoder`, enumerated: float64 or Fractions as the tables are.

    rule: a token-wise rule (default Strict()); draft: needed by decoders with a draft model.  budget: bytes.
    progress(calls, rows) is called after each step.  SpecsimError for what does not fit or does not go together.
    """
    task = make_task(decoder, target, draft, rule, length, eos)
    size = Size(decoder, task, target, draft, budget)
    if target.vocab**task.length > SURELY_SMALL:
        size.refuse_too_large()
    law, _ = enumerate_law(decoder, task, target, budget, size.advice, progress)
    return law


@dataclass(frozen=True)
class Size:
    """Estimates what an enumeration takes, from short sequences enumerated in float64.

    Each token more costs about the same factor more, the factor of the last two lengths tried (it falls with the
    length, so the estimate is on the high side).
    """

    decoder: Decoder
    task: Task
    target: Table
    draft: Table | None
    budget: int

    def refuse_too_large(self) -> None:
        """Refuse before any work what the estimate puts far above the budget."""
        logs = self.log_bytes()
        if logs[self.task.length] > math.log(self.budget * ESTIMATE_SLACK):
            raise TooLarge(
                f"exact law: {self.decoder!r} at vocab {self.target.vocab} and length {self.task.length} needs about "
                f"10^{logs[self.task.length] / math.log(10):.1f} bytes, above the budget of "
                f"{self.budget / 2**30:.3g} GiB; {self.advice()}"
            )

    def advice(self) -> str:
        """The longest sequence that would fit, in words."""
        fits = [n for n, need in enumerate(self.log_bytes()[: self.task.length]) if n and need <= math.log(self.budget)]
        return f"length {max(fits)} would fit" if fits else "no length would fit: shrink the window or the lookahead"

    def log_bytes(self) -> list[float]:
        """log of the bytes needed for every length up to the task's (index 0 is no length: 0)."""
        logs = [0.0]
        while len(logs) <= self.task.length and logs[-1] < math.log(PROBE_BYTES):
            try:
                logs.append(math.log(self.probe(len(logs))))
            except TooLarge:
                return logs + [math.inf] * (self.task.length + 1 - len(logs))
        growth = max(0.0, logs[-1] - logs[-2])
        return logs + [logs[-1] + growth * (n + 1) for n in range(self.task.length + 1 - len(logs))]

    def probe(self, length: int) -> int:
        """Bytes that a short sequence takes; TooLarge when even that is much."""
        target, draft = self.target.floats(), None if self.draft is None else self.draft.floats()
        task = self.task._replace(target=target, draft=draft, fresh=target.uniform, length=length)
        return enumerate_law(self.decoder, task, target, PROBE_MOST)[1]
