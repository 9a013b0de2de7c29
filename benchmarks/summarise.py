"""Keep what matters of a pytest-benchmark file:  python benchmarks/summarise.py RAW.json results/benchmarks.json

Made with:  pytest benchmarks --benchmark-json RAW.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def summary(raw: dict[str, Any]) -> dict[str, Any]:
    """Seconds and extra figures of every benchmark, with the hardware and the commit; no host name."""
    machine, commit = raw["machine_info"], raw["commit_info"]
    rows = {
        bench["name"]: {
            "median_seconds": round(bench["stats"]["median"], 5),
            "rounds": bench["stats"]["rounds"],
            **{name: round(value, 4) for name, value in bench["extra_info"].items()},
        }
        for bench in raw["benchmarks"]
    }
    return {
        "command": "pytest benchmarks --benchmark-json RAW.json && python benchmarks/summarise.py RAW.json OUT.json",
        "hardware": f"{machine['cpu'].get('brand_raw', machine['processor'])}, {os.cpu_count()} CPU cores",
        "python": machine["python_version"],
        "commit": commit["id"] + ("+" if commit["dirty"] else ""),
        "benchmarks": rows,
    }


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(json.dumps(summary(json.loads(source.read_text())), indent=1) + "\n")
