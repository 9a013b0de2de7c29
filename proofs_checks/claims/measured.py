"""Evidence from results/: what was measured on the shipped model, with its interval, and exact figures on tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proofs_checks.claims.claim import AGAINST, FOR, OPEN, Context, Weighed

LOWER_IS_BETTER = {
    **{"frechet_real": True, "frechet_pool": True, "tv": True, "kl": True, "expected_calls": True},
    **{"local_errors": True, "tokens_per_call": False, "label_accuracy": False, "log_likelihood": False},
}
Found = tuple[str, str]
"""(stance, line)"""


def looked_up(context: Context, file: str, look: Callable[[dict[str, Any]], Found]) -> Weighed:
    """What `look` says of a file of results; open where there is none."""
    path = context.results / file
    if not path.is_file():
        return Weighed(OPEN, f"results/{file} is not here")
    stance, line = look(json.loads(path.read_text()))
    return Weighed(stance, f"{line} (results/{file})")


def named(system: dict[str, Any]) -> str:
    """As the verdicts of a comparison write a system, a blank before it: " Lenient(" is at the start of a name."""
    return f" {system['rule']} with {system['decoder']}"


def the_one(rows: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """The system with these words in its name."""
    found = [row for row in rows if words in named(row)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} systems are called {words!r}:{','.join(map(named, rows))}")
    return found[0]


@dataclass(frozen=True)
class Separated:
    """One system is better than another in a sampled figure, and the interval of the difference leaves out 0."""

    file: str
    figure: str
    first: str
    second: str

    def weigh(self, context: Context) -> Weighed:
        """Open while the interval holds 0."""
        return looked_up(context, self.file, self.look)

    def look(self, content: dict[str, Any]) -> Found:
        """The pair, turned round where it is written the other way."""
        for pair in content["verdict"]["pairs"]:
            for a, b, sign in ((pair["first"], pair["second"], 1), (pair["second"], pair["first"], -1)):
                if pair["figure"] == self.figure and self.first in f" {a}" and self.second in f" {b}":
                    ends = [sign * end for end in pair["interval"][::sign]]
                    return self.say(f"{a} less that of {b}", sign * pair["value"], ends)
        raise ValueError(f"{self.file} compares no {self.first!r} with {self.second!r} in {self.figure}")

    def say(self, pair: str, value: float, interval: list[float]) -> Found:
        """The difference first - second, of the systems as the file names them."""
        better = interval[1] < 0 if LOWER_IS_BETTER[self.figure] else interval[0] > 0
        worse = interval[0] > 0 if LOWER_IS_BETTER[self.figure] else interval[1] < 0
        line = f"{self.figure} of {pair}: {value:.3f}, interval {[round(end, 3) for end in interval]}"
        return FOR if better else AGAINST if worse else OPEN, line


@dataclass(frozen=True)
class Below:
    """One system has the better exact figure of a table model at the same calls."""

    file: str
    figure: str
    first: str
    second: str

    def weigh(self, context: Context) -> Weighed:
        """Exact figures decide; equal ones leave it open."""
        return looked_up(context, self.file, self.look)

    def look(self, content: dict[str, Any]) -> Found:
        """Both figures."""
        rows = [the_one(content["systems"], words) for words in (self.first, self.second)]
        one, other = (row[self.figure] for row in rows)
        gain = other - one if LOWER_IS_BETTER[self.figure] else one - other
        pair = " and".join(map(named, rows))
        line = f"exact {self.figure} of{pair}: {one:.4f}, {other:.4f}"
        return FOR if gain > 0 else AGAINST if gain < 0 else OPEN, line


@dataclass(frozen=True)
class NoBias:
    """All systems of a table have TV exactly 0."""

    file: str

    def weigh(self, context: Context) -> Weighed:
        """In Fractions."""
        return looked_up(context, self.file, self.look)

    def look(self, content: dict[str, Any]) -> Found:
        """Which of them do not."""
        biased = [named(row) for row in content["systems"] if row["tv_exact"] != "0"]
        line = f"TV exactly 0 in {len(content['systems']) - len(biased)} of {len(content['systems'])} runs"
        return (AGAINST, f"{line}; not in {', '.join(biased)}") if biased else (FOR, line)


@dataclass(frozen=True)
class EverySeed:
    """In every seed of the table of systems the whole interval of one is on the better side of the other's."""

    figure: str
    first: str
    second: str
    file: str = "quality.json"

    def weigh(self, context: Context) -> Weighed:
        """Open where intervals overlap in some seed."""
        return looked_up(context, self.file, self.look)

    def look(self, content: dict[str, Any]) -> Found:
        """Means over seeds, and the order seed by seed."""
        names = (self.first, self.second)
        rows = [[row[self.figure] for row in content["rows"] if row["system"] == name] for name in names]
        gaps = [(a["interval"], b["interval"]) for a, b in zip(*rows, strict=True)]
        above, below = all(a[0] > b[1] for a, b in gaps), all(a[1] < b[0] for a, b in gaps)
        better, worse = (below, above) if LOWER_IS_BETTER[self.figure] else (above, below)
        means = [sum(row["value"] for row in some) / len(some) for some in rows]
        shown = ", ".join(f"{mean:.3f}" for mean in means)
        line = f"{self.figure} of {' and '.join(names)}, mean of {len(gaps)} seeds: {shown}"
        return FOR if better else AGAINST if worse else OPEN, line


@dataclass(frozen=True)
class PerCall:
    """Seconds of a call of one decoder of the benchmarks are no more than so many times another's."""

    first: str
    second: str
    most: float
    file: str = "benchmarks.json"

    def weigh(self, context: Context) -> Weighed:
        """Medians of a few rounds: no interval, so it is only ever told beside."""
        return looked_up(context, self.file, self.look)

    def look(self, content: dict[str, Any]) -> Found:
        """Seconds over calls."""
        rows = [content["benchmarks"][f"test_decode[{name}]"] for name in (self.first, self.second)]
        one, other = (row["median_seconds"] / row["calls_per_image"] for row in rows)
        line = f"a call of {self.first} takes {one / other:.3f} times one of {self.second} on a CPU, the model included"
        return FOR if one <= self.most * other else AGAINST, line
