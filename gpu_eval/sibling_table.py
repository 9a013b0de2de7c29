"""Figures of `gpu_eval.siblings` over contexts: means, paired differences of two residuals, and both in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpu_eval.figures import mean_interval, ratio_interval
from specsim.errors import SpecsimError
from specsim.files import read_json
from specsim.rules import Lantern, LanternPlus, Optimal

SCHEMA = "specsim.siblings/1"
RELEASED = (LanternPlus(10, 5.0), LanternPlus(5, 10.0), Lantern(10, 0.4))
PAIRS = tuple((Optimal(rule), rule) for rule in RELEASED)
"""The same acceptance of a first sibling with the optimal residual G*, and with the released one."""
MEANS = {"tv": "TV", "kl": "KL(out, p)", "kl_reverse": "KL(p, out)", "accepted": "kept"}
"""Figures of a context that are averaged over contexts, and their columns."""
EQUAL = 1e-9
"""Differences below are rounding: they add up some 10^5 numbers in float64."""
READING = (
    "One level of a tree: so many drafts of the same token, drawn without replacement and judged in turn. TV and KL, "
    "in nats, compare the law `out` of the token that becomes final first with the target's law p in the same context. "
    "Kept: the chance that one of the drafts is kept; 1st, 2nd, 3rd: that this draft is kept, given that it is judged, "
    "over all contexts together. With one and two siblings everything is summed and nothing left out. Of three, the "
    "two elder ones are drawn: what is kept has a standard error, TV and KL are slightly high, and the TV lies between "
    "`tv_least` and the figure but for noise. Differences are the optimal residual G* less the released one in the "
    "same context; less, equal, more: in how many contexts. A figure is left out where it is infinite in some context. "
    "Intervals are over contexts, whose classes and positions are chosen in turn, so they are on the wide side."
)
Values = Mapping[tuple[str, str, int], Sequence[dict[str, float]]]
"""(draft, rule, siblings) -> figures of each context."""


def column(found: Sequence[dict[str, float]], name: str) -> np.ndarray:
    """One figure of all contexts."""
    return np.array([some[name] for some in found])


def over_contexts(top: np.ndarray, bottom: np.ndarray | None = None) -> dict[str, Any]:
    """Mean, or sum(top) / sum(bottom) where bottom is not 0, with its interval; none where it is not finite."""
    some = np.isfinite(top) if bottom is None else bottom > EQUAL
    if not some.any() or (bottom is None and not some.all()):
        return {"value": None, "interval": None}
    return mean_interval(top) if bottom is None else ratio_interval(top[some], bottom[some])


def summary(values: Values) -> list[dict[str, Any]]:
    """A row for each draft, rule and number of siblings."""
    return [row({"draft": d, "rule": r, "siblings": w, "contexts": len(f)}, w, f) for (d, r, w), f in values.items()]


def row(names: dict[str, Any], width: int, found: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Means over contexts; accepted_k: of each sibling, given that it is judged."""
    means = {name: over_contexts(column(found, name)) for name in MEANS}
    each = {
        f"accepted_{k}": over_contexts(*(column(found, f"{name}_{k}") for name in ("kept", "judged")))
        for k in range(1, width + 1)
    }
    return {**names, **means, **each, **drawn(found)}


def drawn(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """Where a part was drawn: the mean of `tv_least`, and of the standard error that `kept` has in one context."""
    if not any("error" in some for some in found):
        return {}
    least, errors = [some.get("tv_least", some["tv"]) for some in found], [some.get("error", 0.0) for some in found]
    return {"tv_least": float(np.mean(least)), "error": float(np.mean(errors))}


def differences(values: Values) -> list[dict[str, Any]]:
    """Of each pair: G* less released in the same contexts."""
    found = []
    for draft, rule, width in values:
        best = next((repr(best) for best, released in PAIRS if repr(released) == rule), None)
        if best is not None:
            both = values[draft, best, width], values[draft, rule, width]
            names = {"draft": draft, "rule": rule, "siblings": width, "contexts": len(both[0])}
            found.append(names | difference(*both, width))
    return found


def difference(best: Sequence[dict[str, float]], released: Sequence[dict[str, float]], width: int) -> dict[str, Any]:
    """Of each mean, and of the second sibling's acceptance: the first one's is the same, so it is judged as often."""
    moved = {name: column(best, name) - column(released, name) for name in MEANS}
    signs = {name: counted(some) for name, some in moved.items()}
    means = {name: over_contexts(some) | signs[name] for name, some in moved.items()}
    if width < 2:
        return means
    second = column(best, "kept_2") - column(released, "kept_2")
    return means | {"accepted_2": over_contexts(second, column(released, "judged_2"))}


def counted(moved: np.ndarray) -> dict[str, int]:
    """In how many contexts a difference is below, at and above 0."""
    less, more = int((moved < -EQUAL).sum()), int((moved > EQUAL).sum())
    return {"less": less, "equal": len(moved) - less - more, "more": more}


def read_siblings(path: Path) -> dict[str, Any]:
    """The content of a file; SpecsimError of one line for anything else."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise SpecsimError(f"{path} is no file of sibling drafts ({SCHEMA}): choose another file")
    try:
        markdown(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SpecsimError(f"{path} is incomplete ({type(error).__name__}: {error}): compute it anew") from error
    return content


def markdown(content: dict[str, Any]) -> str:
    """Both tables, and below them how to read them."""
    ranks = {f"accepted_{k}": name for k, name in enumerate(("1st", "2nd", "3rd"), 1)}
    rows = table(content["rows"], MEANS | ranks, plain)
    moved = table(content["differences"], MEANS | {"accepted_2": "2nd"}, signed)
    between = "G* less released; in brackets in how many contexts less, equal, more:"
    return "\n".join([*rows, "", between, "", *moved, "", content["reading"]])


def table(rows: Sequence[dict[str, Any]], columns: Mapping[str, str], cell: Any) -> list[str]:
    """Markdown lines."""
    names = ("draft", "siblings", "rule")
    lines = ["| " + " | ".join([*names, *columns.values()]) + " |", "|" + "---|" * 3 + "---:|" * len(columns)]
    for one in rows:
        cells = [str(one[name]).replace("|", "\\|") for name in names]
        lines.append("| " + " | ".join([*cells, *(cell(one.get(name)) for name in columns)]) + " |")
    return lines


def plain(figure: dict[str, Any] | None) -> str:
    """A mean with its interval."""
    return shown(figure, "")


def signed(figure: dict[str, Any] | None) -> str:
    """A difference with its interval, and its signs where they were counted."""
    signs = "" if figure is None or "less" not in figure else " ({less}, {equal}, {more})".format(**figure)
    return shown(figure, "+") + signs


def shown(figure: dict[str, Any] | None, sign: str) -> str:
    """value [low, high]; empty where there is none."""
    if figure is None or figure["value"] is None:
        return ""
    value, *ends = (f"{number:{sign}.4f}" for number in (figure["value"], *(figure["interval"] or ())))
    return f"{value} [{', '.join(ends)}]" if ends else value
