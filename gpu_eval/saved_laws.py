"""The laws a real model met while it was decoded, as a file that `specsim check --laws` reads."""

from __future__ import annotations

import io

import numpy as np

from specsim.decoding import Round
from specsim.sampling import to_numpy
from specsim.verification import Drafted

LIMIT = 64 * 2**20
"""Bytes of laws kept; beyond it a uniform random sample of the judged slots is kept, and said."""
FIELDS = ("draft", "target", "token", "slot", "block", "row")


class LawKeeper:
    """Collects the judged slots of every block; a uniform sample of them when there are too many.

    Every slot gets a random key and the slots with the lowest keys stay, so at any time what is kept is a uniform
    sample of all slots met so far.
    """

    def __init__(self, seed: int, limit: int = LIMIT) -> None:
        self.rng, self.limit = np.random.default_rng([seed, 2]), limit
        self.met, self.block, self.first_row = 0, 0, 0
        self.kept: list[dict[str, np.ndarray]] = []

    def next_batch(self, first_row: int) -> tuple[int, list[dict[str, np.ndarray]]]:
        """The rows that follow are images first_row, first_row + 1, ..; returns a mark for `back_to`."""
        self.first_row, self.block = first_row, 0
        return self.met, list(self.kept)

    def back_to(self, mark: tuple[int, list[dict[str, np.ndarray]]]) -> None:
        """Know what was known at the mark: the batch after it was not decoded to its end."""
        self.met, self.kept = mark

    def __call__(self, drafted: Drafted, counts: Round) -> None:
        """Keep the slots of this round that were judged; what is no law is told of the image that met it, not kept."""
        reached = to_numpy(counts.reached)
        row, slot = np.nonzero(np.arange(drafted.tokens.shape[1]) < reached[:, None])
        met = [np.isfinite(to_numpy(laws)[row, slot]).all(axis=-1) for laws in (drafted.draft, drafted.target)]
        row, slot = row[met[0] & met[1]], slot[met[0] & met[1]]
        laws = {"draft": to_numpy(drafted.draft)[row, slot], "target": to_numpy(drafted.target)[row, slot]}
        names = {"token": to_numpy(drafted.tokens)[row, slot], "slot": slot, "row": row + self.first_row}
        entry = {**laws, **names, "block": np.full(len(row), self.block), "key": self.rng.random(len(row))}
        self.kept.append(entry)
        self.met, self.block = self.met + len(row), self.block + 1
        if sum(e["draft"].nbytes + e["target"].nbytes for e in self.kept) > 2 * self.limit:
            self.kept = [self.thinned()]

    def thinned(self) -> dict[str, np.ndarray]:
        """Everything kept so far as one set of arrays, cut to the limit."""
        whole = {name: np.concatenate([e[name] for e in self.kept]) for name in (*FIELDS, "key")}
        most = max(1, self.limit // max(1, whole["draft"][:1].nbytes + whole["target"][:1].nbytes))
        if len(whole["key"]) <= most:
            return whole
        lowest = np.sort(np.argpartition(whole["key"], most)[:most])
        return {name: values[lowest] for name, values in whole.items()}

    def file(self, codebook: np.ndarray | None) -> tuple[bytes, int]:
        """The file, with the vectors [V, d] of the tokens if there are any, and how many slots are in it."""
        whole = self.thinned()
        buffer = io.BytesIO()
        arrays = {name: whole[name] for name in FIELDS}
        if codebook is not None:
            arrays["codebook"] = codebook
        np.savez(buffer, met=np.array(self.met), **arrays)  # type: ignore[arg-type]
        return buffer.getvalue(), len(whole["key"])
