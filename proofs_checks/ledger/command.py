"""The work behind `specsim prove`: run theorems, write the ledger as JSON, Markdown and HTML."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proofs_checks.claims import CLAIMS, ClaimResult, settle
from proofs_checks.ledger import pages
from proofs_checks.ledger.drawing import bars
from proofs_checks.ledger.running import chosen, require_profile, run, solvers
from proofs_checks.ledger.wording import parts_of, problems
from proofs_checks.results import TheoremResult, as_json
from proofs_checks.theorems import THEOREMS
from specsim.errors import require_whole
from specsim.files import ready_directory, write_together

SCHEMA = "specsim.ledger/1"
EXAMPLE_SCHEMA = "specsim.counterexample/1"
PAGES = ("ledger.json", "ledger.md", "ledger.html")
MOST_JOBS = 64


@dataclasses.dataclass(frozen=True)
class Ledger:
    """What `specsim prove` found.  claims: of the papers, when every theorem was run; content: for JSON."""

    results: list[TheoremResult]
    claims: list[ClaimResult]
    content: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Everything came out as the theorems state."""
        return not problems(self.results)


def make_ledger(
    theorems: list[str] | None,
    profile: str,
    jobs: int,
    out: str | Path | None = None,
    progress: Callable[[TheoremResult, int, int], None] | None = None,
) -> Ledger:
    """Run theorems (all by default); with `out`, write the pages there."""
    names, profile = chosen(theorems), require_profile(profile)
    require_whole("prove", "jobs", jobs, 1, MOST_JOBS)
    directory = None if out is None else ready_directory(out, PAGES)
    start = time.perf_counter()
    results = run(names, profile, jobs, progress)
    claims = settled(results)
    seconds = time.perf_counter() - start
    content = {
        "schema": SCHEMA,
        "profile": profile,
        "solvers": solvers(),
        "jobs": jobs,
        "seconds": round(seconds, 1),
        "problems": problems(results),
        "theorems": [as_json(result) for result in results],
        "claims": [claim._asdict() for claim in claims],
    }
    if directory is not None:
        write_together(directory, files(results, claims, content))
    return Ledger(results, claims, content)


def settled(results: list[TheoremResult]) -> list[ClaimResult]:
    """The papers' claims; they need the results of every theorem."""
    if {result.id for result in results} != set(THEOREMS):
        return []
    return settle(CLAIMS, {part.id: part.result for part in parts_of(results)})


def files(results: list[TheoremResult], claims: list[ClaimResult], content: dict[str, Any]) -> dict[str, bytes]:
    """Names and contents of the pages: the ledger, a picture and a replayable file for each counterexample."""
    found = {part.id: part.counterexample for part in parts_of(results) if part.counterexample is not None}
    pictures = {name: svg for name, some in found.items() if (svg := bars(some))}
    heading = f"specsim prove --profile {content['profile']}: {content['seconds']} s with {content['jobs']} processes"
    texts = {
        "ledger.json": json.dumps(content, indent=1),
        "ledger.md": pages.markdown(results, claims, pictures, heading),
        "ledger.html": pages.html(results, claims, pictures, heading),
        **{f"{name}.svg": svg for name, svg in pictures.items()},
        **{f"{name}.json": json.dumps(replayable(dataclasses.asdict(some)), indent=1) for name, some in found.items()},
    }
    return {name: (text if text.endswith("\n") else f"{text}\n").encode() for name, text in texts.items()}


def replayable(some: dict[str, Any]) -> dict[str, Any]:
    """A counterexample for `specsim replay`."""
    kept = ("statement", "subject", "case", "margin", "minimal")
    return {"schema": EXAMPLE_SCHEMA, **{name: some[name] for name in kept}}
