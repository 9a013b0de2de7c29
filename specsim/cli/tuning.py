"""Commands that choose parameters: tune."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from specsim.cli.options import AsJson, app, option, rule_of
from specsim.cli.studies import DraftFile, TargetFile
from specsim.terminal import emit, progress_bar


@app.command()
def tune(
    rule: Annotated[
        str, option("--rule", "Acceptance rule: 'Annealed', 'BlockVerification(Lenient())', 'my.py:Mine'.")
    ],
    at_accepted: Annotated[float, option("--at-accepted", "Expected accepted drafts of a block.")],
    divergence: Annotated[str, option("--divergence", "tv, kl, kl_reverse, chi2, local or ratio, of a block.")] = "tv",
    laws: Annotated[Path | None, option("--laws", "Laws along sequences, from: specsim run --save-sequences.")] = None,
    target: TargetFile = None,
    draft: DraftFile = None,
    lookahead: Annotated[int, option("--lookahead", "Drafts of a block.")] = 4,
    out: Annotated[Path | None, option("--out", "Write the JSON to this file too.")] = None,
    as_json: AsJson = False,
) -> None:
    """The best parameters of a rule at so many accepted drafts: on laws that models met, or exactly on tables."""
    from specsim.tune.command import tune_files
    from specsim.tune.show import view

    with progress_bar("shapes") as update:
        content = tune_files(rule_of(rule), at_accepted, divergence, laws, target, draft, lookahead, out, update)
    emit(content, view(content), as_json)
