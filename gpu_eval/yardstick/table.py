"""A yardstick file as Markdown: verdict, correlations, schemes, power, settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_eval.yardstick.analysis import TOGETHER
from gpu_eval.yardstick.distances import CANDIDATES
from gpu_eval.yardstick.measures import MEASURES, PRIMARY
from specsim.errors import SpecsimError
from specsim.files import read_json

SCHEMA = "specsim.yardstick/1"
SHORT = {
    "frechet_real": "FD real",
    "doubt": "doubt",
    "independent": "NLL indep.",
    "kernel_real": "KID real",
    "kernel_plain": "KID plain",
    "frechet_plain": "FD plain",
    "error": "error",
    "surprise": "NLL target",
}
SHOWN = ("tv", "kl", "kl_reverse", "token_tv", "local", "token_chi2", "log_ratio", "relaxed_run")


def read_results(path: Path) -> dict[str, Any]:
    """The content of a yardstick file; SpecsimError of one line for anything else."""
    content = read_json(path)
    parts = ("settings", "power", "correlations", "verdicts", "reliability")
    if not isinstance(content, dict) or content.get("schema") != SCHEMA or not all(part in content for part in parts):
        raise SpecsimError(f"{path} is no yardstick file ({SCHEMA}): choose another file")
    return content


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, all columns but the first right-aligned."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def markdown(content: dict[str, Any]) -> str:
    """The whole file for people."""
    parts = [
        *(verdict["text"] for what, verdict in content["verdicts"].items() if what == TOGETHER),
        content["trust"],
        "Within-level rank correlation (Spearman), corrected for the noise in quality. Bold: primary measures, whose "
        "mean is the column quality, with its interval. Last line: each measure with itself on as many new images.",
        correlation_table(content),
        "As found, without correction (mean over the primary measures), and how far the best is ahead.",
        other_table(content),
        without_text(content),
        "Every scheme against uniform lenience at the same cost, mean over levels (above 0: worse):",
        scheme_table(content),
        "Power:",
        power_table(content),
        "Settings, quality (± bootstrap standard error):",
        quality_table(content),
        "Settings, divergences:",
        divergence_table(content),
    ]
    return "\n\n".join(parts)


def correlation_table(content: dict[str, Any]) -> str:
    """Divergences by their correlation with the primary measures together."""
    found = content["correlations"]
    order = sorted(found[TOGETHER], key=lambda name: -found[TOGETHER][name]["spearman"]["value"])
    head = ["divergence", "quality", *(f"**{SHORT[m]}**" if m in PRIMARY else SHORT[m] for m in MEASURES)]
    rows = [
        [CANDIDATES[name], ranged(found[TOGETHER][name]["spearman"])]
        + [f"{found[what][name]['spearman']['value']:.2f}" for what in MEASURES]
        for name in order
    ]
    repeats = [f"{content['reliability'][what]:.2f}" for what in MEASURES]
    return table(head, [*rows, ["*reliability*", "", *repeats]])


def other_table(content: dict[str, Any]) -> str:
    """Uncorrected figures of the primary measures together."""
    found, lead = content["correlations"][TOGETHER], content["leads"][TOGETHER]
    order = sorted(found, key=lambda name: -found[name]["spearman"]["value"])
    rows = []
    for name in order:
        ahead = ranged(lead[name]) if name in lead else "-"
        plain = [f"{found[name][key]:.2f}" for key in ("raw", "kendall", "overall")]
        rows.append([CANDIDATES[name], *plain, ahead])
    head = ["divergence", "Spearman within", "Kendall within", "Spearman over all settings"]
    return table([*head, "lead of the best (corrected)"], rows)


def scheme_table(content: dict[str, Any]) -> str:
    """Schemes by their first primary measure; bold: the interval leaves out 0."""
    found = content["schemes"]
    order = sorted(found, key=lambda scheme: found[scheme][PRIMARY[0]]["value"])
    rows = [[scheme, *(against(found[scheme][name]) for name in MEASURES)] for scheme in order]
    return table(["scheme", *SHORT.values()], rows)


def against(figure: dict[str, float]) -> str:
    """value [low, high], bold where it differs from 0."""
    text = " ".join(f"{figure[key]:.3g}" for key in ("low", "high"))
    text = f"{figure['value']:.3g} [{text.replace(' ', ', ')}]"
    return f"**{text}**" if figure["low"] > 0 or figure["high"] < 0 else text


def without_text(content: dict[str, Any]) -> str:
    """What becomes of the order when a scheme is left out."""
    best = {scheme: CANDIDATES[some["best"]] for scheme, some in content["without"].items()}
    winners = {name: [scheme for scheme in best if best[scheme] == name] for name in dict.fromkeys(best.values())}
    said = "; ".join(f"{name} leads without {', '.join(schemes)}" for name, schemes in winners.items())
    return f"One scheme left out at a time: {said or 'too few schemes'}."


def power_table(content: dict[str, Any]) -> str:
    """What the images can show."""
    rows = []
    for name, some in content["power"].items():
        figures = [some[key] for key in ("paired", "unpaired", "visible", "effect", "spread")]
        shares = [f"{some['correlation']:.2f}", f"{some['separated']:.0%}"]
        seeds, needed = some["between_seeds"], some["images_for_effect"]
        needed = "-" if needed is None else f"{needed:,}"
        between = "-" if seeds["spread"] is None else f"{seeds['spread']:.3g} ({seeds['ratio']:.2f})"
        rows.append([MEASURES[name], *(f"{x:.3g}" for x in figures), needed, *shares, between])
    head = ["measure", "se paired", "se unpaired", "visible", "one level", "spread", "images for one level"]
    return table([*head, "gain", "pairs separated", "sd between seeds (ratio)"], rows)


def quality_table(content: dict[str, Any]) -> str:
    """Quality of every setting."""
    rows = [
        [row["name"], ranged_cost(row["tokens_per_call"]), *(spread(row["quality"][what]) for what in MEASURES)]
        for row in content["settings"]
    ]
    return table(["setting", "tokens/call", *SHORT.values()], rows)


def divergence_table(content: dict[str, Any]) -> str:
    """Divergences of every setting."""
    rows = [
        [row["name"], f"`{row['rule']}`", *(spread(row["divergences"][name]) for name in SHOWN)]
        for row in content["settings"]
        if row["divergences"]
    ]
    return table(["setting", "rule", *(CANDIDATES[name] for name in SHOWN)], rows)


def ranged(figure: dict[str, float]) -> str:
    """value [low, high]."""
    return f"{figure['value']:.2f} [{figure['low']:.2f}, {figure['high']:.2f}]"


def ranged_cost(figure: dict[str, Any]) -> str:
    """Tokens per call with half of their interval."""
    return f"{figure['value']:.3f} ± {(figure['interval'][1] - figure['interval'][0]) / 2:.3f}"


def spread(figure: dict[str, Any]) -> str:
    """value ± standard error."""
    if figure["error"] is None:
        return f"{figure['value']}"
    return f"{figure['value']:.4g} ± {figure['error']:.1g}"
