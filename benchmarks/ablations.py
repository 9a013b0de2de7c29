"""The results of benchmarks/ablations.sh as Markdown: python benchmarks/ablations.py results/ablations."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

EXACT = {"TV": "tv", "KL": "kl", "local errors": "local_errors", "calls": "expected_calls"}
SAMPLED = {
    "Frechet to real": ("frechet_real", 1),
    "Frechet to plain": ("frechet_pool", 1),
    "accuracy": ("label_accuracy", 3),
    "log-likelihood": ("log_likelihood", 3),
}


def system(row: dict[str, Any], content: dict[str, Any]) -> str:
    """A system by what tells it from the others of its table."""
    decoders = {other["decoder"] for other in content["systems"] if other["rule"] is not None}
    if row["rule"] is None:
        return "plain decoding (floor)"
    name = row["rule"] if len(decoders) == 1 else row["decoder"]
    return f"`{name}`" + (f" ({row['how']})" if row["how"].startswith("jump") else "")


def exact_line(row: dict[str, Any]) -> list[str]:
    """Figures from an exact law; a TV of exactly 0 is a bare 0."""
    cells = [f"{row[key]:.4f}" for key in EXACT.values()]
    return ["0", "0", "0", cells[-1]] if row.get("tv_exact") == "0" else cells


def sampled_line(row: dict[str, Any]) -> list[str]:
    """Figures from images: tokens per call with half of its interval, the others with their spread between seeds."""
    tokens = row["tokens_per_call"]
    cells = [f"{tokens['value']:.3f} ± {(tokens['interval'][1] - tokens['interval'][0]) / 2:.3f}"]
    for key, digits in SAMPLED.values():
        figure = row["across_seeds"][key]
        cells.append(f"{figure['mean']:.{digits}f} ± {figure['spread']:.{digits}f}")
    return cells


def section(name: str, content: dict[str, Any]) -> list[str]:
    """One comparison."""
    sampled = "seeds" in content
    heads = ["system", *(["tokens/call", *SAMPLED] if sampled else EXACT)]
    lines = [f"### {name}", "", "| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in content["systems"]:
        cells = sampled_line(row) if sampled else exact_line(row)
        lines.append("| " + " | ".join([system(row, content), *cells]) + " |")
    lost = content["out_of_reach"]
    absent = [f"out of reach: `{one['rule']}`, {one['least']:.4g} to {one['greatest']:.4g}" for one in lost]
    return [*lines, "", *(f"- {text}" for text in [*absent, *content["notes"]])]


def main(folder: Path) -> None:
    """Every file, exact ones first."""
    for path in sorted(folder.glob("*.json"), key=lambda path: (not path.stem.startswith("exact"), path.stem)):
        print("\n".join(section(path.stem, json.loads(path.read_text()))) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
