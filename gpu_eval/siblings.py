"""Relaxed rules on sibling drafts of the shipped image model: python -m gpu_eval.siblings --contexts 20 --out FILE.

One level of a tree: W drafts of the same token, drawn without replacement and judged in turn.  The law of the token
that becomes final first is summed over all drafts (`gpu_eval.sibling_levels`) in contexts that plain decoding meets.
python -m gpu_eval.siblings --show FILE prints the Markdown tables of a file.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gpu_eval.along import laws_along, whole
from gpu_eval.cache import Cached
from gpu_eval.eagle import Eagle
from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.figures import METHOD
from gpu_eval.processing import Processing
from gpu_eval.provenance import provenance
from gpu_eval.run import Plan, decode
from gpu_eval.sibling_levels import Comb, figures, level
from gpu_eval.sibling_table import PAIRS, READING, SCHEMA, differences, markdown, read_siblings, summary
from specsim import Autoregressive, bind_codebook
from specsim.errors import require
from specsim.files import ready_file, write_text
from specsim.rules import Annealed, ContentAware, LanternDynamic, Lenient, Strict
from specsim.sampling import to_numpy
from specsim.terminal import exit_status, jsonable, progress_bar

RULES = (
    *(Strict(), Lenient(2), Annealed(2)),
    *(rule for pair in PAIRS for rule in reversed(pair)),
    *(LanternDynamic(10, 0.4), ContentAware(0.5, 0.35)),
)
EXACT_WIDTH = 2
"""Siblings up to which all drafts are summed; of three the two elder ones are drawn, V^3 laws of V being too many."""
SAMPLES, DRAWS = 4, 200
"""Independent samples of the two elder siblings, and how many pairs they hold together, about."""
GOLDEN = (5**0.5 - 1) / 2
"""Its multiples without their whole parts are spread evenly, however many there are, and in step with no classes."""
FEWEST, MOST = 2, 1000
"""Contexts: no interval is known of one, and the laws of so many images fill half a GB."""
PROCESSING = Processing()
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Study:
    """contexts: one of each image; third: in how many of them three siblings are looked at too."""

    contexts: int = 20
    third: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        name = "siblings"
        require(FEWEST <= self.contexts <= MOST, name, "contexts", self.contexts, f"from {FEWEST} to {MOST}")
        fit = self.third == 0 or FEWEST <= self.third <= self.contexts
        require(fit, name, "third", self.third, f"0, or from {FEWEST} to the contexts, {self.contexts}")
        require(0 <= self.seed < 2**63, name, "seed", self.seed, "from 0 to 2**63 - 1")

    def settings(self) -> dict[str, Any]:
        """Everything the figures follow from."""
        sizes = {"samples": SAMPLES, "draws": DRAWS, "vocab": 512, "siblings": "distinct"}
        return {"model": "fashion", **asdict(self), **sizes, **asdict(PROCESSING)}


def places(count: int, length: int) -> np.ndarray:
    """Position of each context [n]: spread over the image but for its last token, of which no draft is made."""
    return np.floor(np.arange(count) * GOLDEN % 1 * (length - 1)).astype(np.int64)


def laws_met(fashion: Fashion, study: Study) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Contexts that plain decoding meets, classes in turn: the target's laws [n, V], and each draft's."""
    plain = Plan("fashion", Autoregressive(), None, study.contexts, study.seed, min(50, study.contexts))
    images = decode(plain, fashion)
    tokens, labels = torch.from_numpy(images.tokens), torch.from_numpy(images.labels)
    position = torch.from_numpy(places(study.contexts, fashion.length))
    rows, along = torch.arange(study.contexts), laws_along(fashion, PROCESSING, tokens, labels)
    target, draft = (laws[rows, position] for laws in along)
    head, model = fashion.with_head().head, fashion.target(labels, PROCESSING)
    assert head is not None and isinstance(model, Cached)  # that is what was asked for
    eagle = Eagle(head, model)
    first = whole(eagle(tokens, position, 1)[:, 0])
    return to_numpy(target), {"small model": to_numpy(draft), "head": to_numpy(first)}


def measured(rule: Any, draft: np.ndarray, target: np.ndarray, widths: int, seed: tuple[int, int]) -> dict[int, Any]:
    """Figures of one context by the number of siblings; every rule's elder siblings are drawn from the same noise."""
    found, refused = {}, 0.0
    for width in range(1, widths + 1):
        drawn = width > EXACT_WIDTH and refused > 0
        comb = Comb(refused * SAMPLES / DRAWS, np.random.default_rng(seed), SAMPLES) if drawn else None
        one = level(rule, draft, target, width, comb)
        found[width], refused = figures(one, target), float(one.refused.mean())
    return found


def looked(study: Study, progress: Progress) -> Iterator[tuple[str, Any, int, dict[str, float]]]:
    """(draft, rule, siblings, figures), context after context."""
    fashion = load_fashion()
    target, drafts = laws_met(fashion, study)
    bound = {rule: bind_codebook(rule, fashion.codebook) for rule in RULES}
    jobs = [(name, i, rule) for i in range(study.contexts) for name in drafts for rule in RULES]
    for done, (name, i, rule) in enumerate(jobs):
        progress(done, len(jobs))
        widths = EXACT_WIDTH + (i < study.third)
        for width, some in measured(bound[rule], drafts[name][i], target[i], widths, (study.seed, i)).items():
            yield name, rule, width, some


def study_of(study: Study, out: Path, command: str, progress: Progress) -> dict[str, Any]:
    """Compute all figures and write the file."""
    ready_file(out)
    values: dict[tuple[str, str, int], list[dict[str, float]]] = {}
    for name, rule, width, some in looked(study, progress):
        values.setdefault((name, repr(rule), width), []).append(some)
    head = {"schema": SCHEMA, "command": command, "settings": study.settings(), "reading": READING, "interval": METHOD}
    found = {"rows": summary(values), "differences": differences(values)}
    content = jsonable(head | provenance(torch.device("cpu")) | found)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return content


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m gpu_eval.siblings", description=__doc__.split("\n")[0])
    parser.add_argument("--contexts", type=int, default=20, help="one of each image (default 20)")
    parser.add_argument("--third", type=int, help="in how many three siblings are looked at (default all)")
    parser.add_argument("--seed", type=int, default=0, help="everything random follows from it (default 0)")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, help="JSON file")
    target.add_argument("--show", type=Path, help="print the Markdown tables of this file and stop")
    parser.add_argument("--json", action="store_true", help="print the file's content instead of Markdown")
    chosen = parser.parse_args(arguments)
    words = sys.argv[1:] if arguments is None else arguments
    return exit_status(lambda: run(chosen, shlex.join(["python", "-m", "gpu_eval.siblings", *words])))


def run(chosen: argparse.Namespace, command: str) -> None:
    """Compute or read, and print."""
    if chosen.show is not None:
        content = read_siblings(chosen.show)
    else:
        third = chosen.contexts if chosen.third is None else chosen.third
        study = Study(chosen.contexts, third, chosen.seed)
        with progress_bar("laws") as update:
            content = study_of(study, chosen.out, command, update)
    print(json.dumps(content, indent=1) if chosen.json else markdown(content))


if __name__ == "__main__":
    sys.exit(main())
