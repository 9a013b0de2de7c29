"""Bringing every scheme to the same tokens per call, by pilot images of a seed of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from gpu_eval.fashion import Fashion
from gpu_eval.yardstick.decoding import decode_rows
from gpu_eval.yardstick.settings import DECODER, Scheme, Setting, tuned
from specsim.errors import SpecsimError
from specsim.files import read_json, write_text
from specsim.strength import strength_of, with_strength

PILOT_SEED = 2**33
"""No reported image has tuned a rule: their seeds are small."""
DIGITS = 4
"""Of a tuned strength: far finer than pilot images can tell."""
Curve = list[tuple[float, float]]
"""(strength, tokens per call)."""


def curve_of(fashion: Fashion, scheme: Scheme, images: int) -> Curve:
    """Tokens per call of the pilot images at every strength of the scheme's grid; all meet the same random numbers."""
    return [(value, tokens_per_call(fashion, with_strength(scheme.rule, value), images)) for value in scheme.grid]


def tokens_per_call(fashion: Fashion, rule: Any, images: int) -> float:
    """Of the pilot images."""
    done = decode_rows(fashion, DECODER, rule, list(range(images)), PILOT_SEED)
    return float(done.tokens.size / done.calls.sum())


def strength_at(curve: Curve, level: float) -> float | None:
    """Where the curve passes the level; None where it does not reach it.

    Monotone cubic interpolation of log strength by tokens per call; points where the cost turns back are left out.
    """
    rising = climbing(curve)
    costs = [cost for _, cost in rising]
    if len(rising) < 2 or not costs[0] <= level <= costs[-1]:
        return None
    return float(np.exp(PchipInterpolator(costs, np.log([value for value, _ in rising]))(level)))


def climbing(curve: Curve) -> Curve:
    """The points of the curve whose cost exceeds that of every point before them."""
    best, kept = -np.inf, []
    for value, cost in curve:
        if cost > best:
            best = cost
            kept.append((value, cost))
    return kept


def settings_of(scheme: Scheme, curve: Curve, levels: Sequence[float]) -> list[Setting]:
    """The scheme at every level it reaches."""
    found = []
    for level in levels:
        strength = strength_at(curve, level)
        if strength is not None:
            whole = strength_of(scheme.rule).whole
            value = round(strength) if whole else float(f"{strength:.{DIGITS}g}")
            found.append(tuned(scheme, level, with_strength(scheme.rule, value)))
    return found


def all_settings(
    fashion: Callable[[], Fashion],
    schemes: Sequence[Scheme],
    levels: Sequence[float],
    images: int,
    folder: Path,
) -> list[Setting]:
    """Every scheme at every level it reaches; curves found before are read from the folder."""
    return [
        setting
        for scheme in schemes
        for setting in settings_of(scheme, kept_curve(fashion, scheme, images, folder), levels)
    ]


def kept_curve(fashion: Callable[[], Fashion], scheme: Scheme, images: int, folder: Path) -> Curve:
    """The curve from its file, made first if need be."""
    file = folder / "pilot" / f"{scheme.name.replace(' ', '_')}.json"
    wanted = {"rule": repr(scheme.rule), "grid": list(scheme.grid), "images": images, "decoder": repr(DECODER)}
    if not file.exists():
        curve = curve_of(fashion(), scheme, images)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(wanted | {"curve": curve}, indent=1) + "\n")
        return curve
    content = read_json(file)
    if {name: content.get(name) for name in wanted} != wanted:
        raise SpecsimError(f"{file} is the pilot of another scheme or size: delete it, or choose another --images")
    return [(value, cost) for value, cost in content["curve"]]
