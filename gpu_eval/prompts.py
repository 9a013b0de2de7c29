"""What images are asked for: class labels or texts, from the files that benchmarks come in.

prompts = choose(read_prompts("captions_val2017.json"), 5000, seed=0)

The content of a file decides how it is read, its name does not:

| content | read as |
|---|---|
| begins as JSON does, `{"` or `["` | COCO captions: "annotations" of "image_id", "id", "caption"; one for each image |
| first line holds a tab | a table with a column "Prompt", as PartiPrompts.tsv |
| nothing but numbers and ranges of them | class labels: 0-9, or 207,88, on any number of lines |
| anything else | a prompt a line; blank lines are skipped |
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from specsim.errors import SpecsimError, require_whole, shown
from specsim.files import require_regular

LABELS = re.compile(r"\s*\d+(\s*-\s*\d+)?(\s*,\s*\d+(\s*-\s*\d+)?)*\s*")
LIKE_A_FILE = re.compile(r".+\.(json|tsv|txt|csv)|\S*[/\\]\S*", re.IGNORECASE)
"""What ends like a file, and one word with a slash, is more likely a mistyped path than a prompt."""
JSON = re.compile(r"\s*(\{\s*[\"}]|\[\s*[\"{\[])")
"""How JSON begins; a prompt may begin with a bracket too, but not with one before a quotation mark."""
MOST_LABELS = 1_000_000
"""A range beyond this is a typing error."""
COLUMN = "Prompt"


@dataclass(frozen=True)
class Prompt:
    """A text or a class label, never both; source: where it comes from, in words."""

    text: str | None
    label: int | None
    source: str


def prompts_for(spec: str | None, label: int | None, images: int, seed: int) -> tuple[Prompt, ...]:
    """What a run of so many images asks for: all prompts of a spec in turn, or so many of them chosen by the seed.

    spec: see `read_prompts`; label: one class for every image.  Neither: none.
    """
    if spec is None:
        return () if label is None else (Prompt(None, label, "--label"),)
    if label is not None:
        raise SpecsimError(f"--label {label} beside --prompts {shown(spec)}: give one of them")
    found = read_prompts(spec)
    return tuple(choose(found, images, seed) if 1 <= images < len(found) else found)


def read_prompts(path: str | Path) -> list[Prompt]:
    """The prompts of a file; of a spec of class labels ("0-9", "207,88"); or one text.

    In this order: what names a file is read. Errors name the file and the line.
    """
    try:
        found = bool(str(path).strip()) and Path(path).exists()
    except (OSError, ValueError):  # a text may be too long for a name, or hold a null character
        found = False
    if found:
        return written(from_text(file_text(Path(path)), str(path)))
    text = str(path).strip()
    if LABELS.fullmatch(text):
        return from_labels(text, "labels")
    if not text or LIKE_A_FILE.fullmatch(text):
        raise SpecsimError(f"prompts: {shown(str(path))} is no file, and looks like a path: check it")
    return written([Prompt(text, None, "text")])


def written(prompts: list[Prompt]) -> list[Prompt]:
    """Prompts that can be written down again: a half of a character cannot."""
    for number, prompt in enumerate(prompts, 1):
        try:
            (prompt.text or "").encode()
        except UnicodeEncodeError:
            text = ascii(prompt.text)[:80]
            raise SpecsimError(f"prompt {number} from {prompt.source} is no whole text: {text}") from None
    return prompts


def choose(prompts: Sequence[Prompt], count: int, seed: int) -> list[Prompt]:
    """`count` of them without replacement, in random order.

    The choice depends on (seed, the list) alone, and a smaller count gives the first ones of a larger: prompts are
    ordered by one uniform number each, from numpy's PCG64 stream of the seed.
    """
    require_whole("prompts", "seed", seed, 0, 2**63 - 1)
    if type(count) is not int or not 1 <= count <= len(prompts):
        raise SpecsimError(f"prompts: count = {shown(count)} must be from 1 to {len(prompts)}, as many as there are")
    order = np.argsort(np.random.default_rng(seed).random(len(prompts)), kind="stable")
    return [prompts[i] for i in order[:count]]


def file_text(path: Path) -> str:
    """A file as text, without a byte order mark; lines end in a line feed."""
    require_regular(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecsimError(f"{path} is not UTF-8 text: byte {error.start}; save it as UTF-8") from error
    except OSError as error:
        raise SpecsimError(f"cannot read {path}: {error.strerror}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def from_text(text: str, name: str) -> list[Prompt]:
    """The content of a file of this name -> prompts; error when there are none."""
    if JSON.match(text):
        prompts = from_coco(text, name)
    elif "\t" in text.lstrip("\n").partition("\n")[0]:
        prompts = from_table(text, name)
    else:
        prompts = from_lines(text, name)
    if not prompts:
        raise SpecsimError(f"{name} holds no prompt: give a file with at least one")
    return prompts


def from_coco(text: str, name: str) -> list[Prompt]:
    """COCO captions in the order of image ids: of each image the caption of the lowest annotation id that is not blank.

    An annotation given twice does no harm: of equal ids the first counts.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise SpecsimError(f"{name} is not JSON: {at}") from error
    notes = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(notes, list):
        raise SpecsimError(f'{name} has no list "annotations": COCO captions have one, e.g. captions_val2017.json')
    best: dict[int, tuple[int, str]] = {}
    for number, note in enumerate(notes):
        image, key, caption = annotation(note, f"{name}: annotation {number}")
        if caption and (image not in best or key < best[image][0]):
            best[image] = (key, caption)
    return [Prompt(best[image][1], None, f"{name}, image {image}") for image in sorted(best)]


def annotation(note: Any, where: str) -> tuple[int, int, str]:
    """(image id, annotation id, caption on one line) of one annotation."""
    for key, kind in (("image_id", int), ("id", int), ("caption", str)):
        if not isinstance(note, dict) or type(note.get(key)) is not kind:
            raise SpecsimError(f'{where} is {shown(note)}: it needs "{key}", {"a text" if kind is str else "a number"}')
    return note["image_id"], note["id"], " ".join(note["caption"].split())


def from_table(text: str, name: str) -> list[Prompt]:
    """The column "Prompt" of a table with tabs; rows whose prompt is blank are skipped.

    Quotation marks are part of a prompt: PartiPrompts.tsv holds them bare.
    """
    lines = list(enumerate(text.split("\n"), 1))
    head = next(number for number, line in lines if line)
    columns = [cell.strip() for cell in lines[head - 1][1].split("\t")]
    if COLUMN not in columns:
        raise SpecsimError(f'{name}, line {head}: the columns are {shown(columns)}; one must be named "{COLUMN}"')
    at, prompts = columns.index(COLUMN), []
    for number, line in lines[head:]:
        cells = line.split("\t")
        if line.strip() and len(cells) <= at:
            raise SpecsimError(f'{name}, line {number} has {len(cells)} columns: "{COLUMN}" is column {at + 1}')
        if line.strip() and cells[at].strip():
            prompts.append(Prompt(cells[at].strip(), None, f"{name}, line {number}"))
    return prompts


def from_lines(text: str, name: str) -> list[Prompt]:
    """A prompt a line; class labels where no line is anything else."""
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if all(LABELS.fullmatch(line) for _, line in lines):
        return [prompt for number, line in lines for prompt in from_labels(line, f"{name}, line {number}")]
    return [Prompt(line, None, f"{name}, line {number}") for number, line in lines]


def from_labels(text: str, source: str) -> list[Prompt]:
    """ "0-9" -> ten labels, "207,88" -> these two, in this order."""
    labels: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        low, high = class_of(first, source), class_of(last or first, source)
        if not low <= high < low + MOST_LABELS:
            raise SpecsimError(f"{source}: {part.strip()} must run upwards, over at most {MOST_LABELS} labels")
        labels += range(low, high + 1)
        if len(labels) > MOST_LABELS:
            raise SpecsimError(f"{source}: more than {MOST_LABELS} labels")
    return [Prompt(None, label, source) for label in labels]


def class_of(digits: str, source: str) -> int:
    """A class label of at most nine digits."""
    digits = digits.strip()
    if len(digits) > 9:
        raise SpecsimError(f"{source}: {shown(digits)} is too large for a class label")
    return int(digits)
