"""`specsim tune`: what it prints and writes, and every mistake as one line."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specsim import RULES, cli
from specsim.specs import parse
from specsim.table_files import table_json
from specsim.tables import Table, random_table
from specsim.tune.search import GRID
from tests.test_tune_search import sampled

CODES = [[0.0, 1.0], [2.0, 1.0], [2.0, 5.0]]


def call(capsys: Any, monkeypatch: Any, *words: Any) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["specsim", "tune", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray]:
    """A good file's arrays."""
    some = sampled(60, 5)
    laws = {"target": some.target.astype(np.float32), "draft": some.draft.astype(np.float32)}
    return {"tokens": some.tokens, "codebook": np.array(CODES), **laws}


@pytest.fixture
def laws(arrays: dict[str, np.ndarray], tmp_path: Path) -> Path:
    """A good file."""
    np.savez(tmp_path / "laws.npz", **arrays)  # type: ignore[arg-type]
    return tmp_path / "laws.npz"


def tables(folder: Path, vocab: int = 3) -> tuple[Path, Path]:
    """A pair of table files."""
    files = folder / "t.json", folder / "d.json"
    for file, seed, size in zip(files, (1, 2), (3, vocab), strict=True):
        model = random_table(size, 3, seed)
        file.write_text(json.dumps(table_json(Table(model.laws, 3, CODES[:size]))))
    return files


def test_a_rule_is_tuned_on_laws(capsys: Any, monkeypatch: Any, laws: Path) -> None:
    words = ("--rule", "Annealed", "--laws", laws, "--at-accepted", 2.2, "--lookahead", 3, "--divergence", "kl")
    status, out, _ = call(capsys, monkeypatch, *words, "--json", "--out", laws.with_name("found.json"))
    content = json.loads(out)
    assert status == 0 and content == json.loads(laws.with_name("found.json").read_text())
    best = parse(content["best"]["rule"], RULES, "rule")
    assert best.nu == content["best"]["shape"]["nu"] and abs(content["best"]["accepted"] - 2.2) < 1e-5
    assert content["published"]["shape"] == {"nu": 0.7} and len(content["table"]) == GRID[1]
    assert content["best"]["divergence"] <= content["published"]["divergence"]
    assert content["laws"] == {
        "name": str(laws), "kind": "sample", "sequences": 60, "length": 4, "tuned_on": 30, "judged_on": 30,
    }  # fmt: skip
    status, seen, _ = call(capsys, monkeypatch, *words)
    assert status == 0 and content["best"]["rule"] in seen.replace("\n", "") and "nu=0.7" in seen


def test_a_rule_is_tuned_exactly_on_tables(capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    target, draft = tables(tmp_path)
    words = ("--rule", "BlockVerification(Lenient())", "--target", target, "--draft", draft, "--at-accepted", 2.5)
    status, out, _ = call(capsys, monkeypatch, *words, "--lookahead", 3, "--json")
    content = json.loads(out)
    assert status == 0 and content["laws"]["kind"] == "all" and content["best"]["shape"] == {}
    assert "held_out" not in content["best"] and content["best"] == content["published"]
    status, seen, _ = call(capsys, monkeypatch, *words, "--lookahead", 3)
    assert status == 0 and "no shape" in seen and "its strength alone was tuned" in seen


def test_a_rule_that_reads_a_codebook_is_bound_to_the_files(capsys: Any, monkeypatch: Any, laws: Path) -> None:
    """Three tokens borrow in steps: bound, the rule is said to jump."""
    words = ("--rule", "LanternPlus(k=1)", "--laws", laws, "--at-accepted", 1.9, "--lookahead", 3)
    status, _, err = call(capsys, monkeypatch, *words)
    assert (
        status == 2 and "cannot accept 1.9 drafts: its figure jumps between" in err and "LanternPlus(k=1, lam=" in err
    )


def test_what_leaves_the_support_is_said(capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    target = Table(random_table(3, 3, 4, zeros=True).laws, 3)
    for name, model in (("t.json", target), ("d.json", random_table(3, 3, 54))):
        (tmp_path / name).write_text(json.dumps(table_json(model)))
    words = ("--target", tmp_path / "t.json", "--draft", tmp_path / "d.json", "--lookahead", 3, "--at-accepted", 1.9)
    status, seen, _ = call(capsys, monkeypatch, "--rule", "Ensemble", *words)
    assert status == 0 and "leave the target's support, and nothing is seen behind" in seen
    status, _, err = call(capsys, monkeypatch, "--rule", "Ensemble", *words, "--divergence", "kl")
    assert status == 2 and "infinite divergence at 1.9 accepted drafts" in err


OWN = """
class Mine:
    def block(self, drafted):
        from specsim import BlockVerification
        return BlockVerification().block(drafted)
    strength = __import__("specsim.strength").strength.Strength("w", 0.0, 1.0)
    def with_strength(self, value):
        return Mine()
    def __repr__(self):
        return "Mine()"
"""
GOOD = ("--rule", "Annealed", "--at-accepted", "2.2", "--lookahead", "3")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("--rule", "Annealed", "--at-accepted", 0.2), "reaches 1.77528 to"),
        (("--rule", "Annealed", "--at-accepted", 3.5), "at-accepted = 3.5 must be from 0 to 3"),
        (("--rule", "Annealed", "--at-accepted", "nan"), "at-accepted = nan must be from 0 to 3"),
        (("--rule", "Annealed", "--at-accepted", 2, "--divergence", "js"), "divergence 'js' must be one of tv, kl,"),
        (("--rule", "Strict", "--at-accepted", 2), "Strict() has no strength to turn"),
        (("--rule", "Nobody", "--at-accepted", 2), "unknown rule: 'Nobody'"),
        (
            ("--rule", "Annealed", "--at-accepted", 2, "--target", "t.json"),
            "--laws and table models exclude each other",
        ),
        (("--rule", "Annealed", "--at-accepted", 2, "--out", "/no/such/file"), "cannot write /no/such/file"),
        (("--rule", "own.py:Mine", "--at-accepted", 2), "Mine() judges whole blocks and has no `flow`"),
    ],
)
def test_bad_usage(words: Any, wanted: str, capsys: Any, monkeypatch: Any, laws: Path) -> None:
    monkeypatch.chdir(laws.parent)
    Path("own.py").write_text(OWN)
    status, out, err = call(capsys, monkeypatch, "--laws", laws, "--lookahead", 3, *words)
    assert (status, out) == (2, "") and wanted in err and err.count("\n") == 1


@pytest.mark.parametrize("lookahead", [0, 4, 10**9])
def test_blocks_must_fit(lookahead: int, capsys: Any, monkeypatch: Any, laws: Path) -> None:
    status, _, err = call(capsys, monkeypatch, *GOOD[:4], "--laws", laws, "--lookahead", lookahead)
    assert status == 2 and f"lookahead = {lookahead}" in err and err.count("\n") == 1


def changed(arrays: dict[str, np.ndarray], **others: Any) -> dict[str, Any]:
    return {name: value for name, value in (arrays | others).items() if value is not None}


def spoiled(law: np.ndarray) -> np.ndarray:
    """One law that does not sum to 1."""
    law = law.copy()
    law[3, 2, 0] += 0.2
    return law


BAD: dict[str, tuple[Any, str]] = {
    "no array": (
        lambda a: changed(a, tokens=None),
        "no array tokens; it must hold tokens, target, draft; make it with",
    ),
    "no law": (lambda a: changed(a, draft=spoiled(a["draft"])), "draft[3][2] sums to 1.2, not to 1"),
    "negative": (lambda a: changed(a, target=-a["target"]), "target[0][0] is negative at"),
    "another shape": (
        lambda a: changed(a, draft=a["draft"][:, :, :2]),
        "draft float32 [60, 4, 2]; must be tokens [B, N]",
    ),
    "another length": (
        lambda a: changed(a, tokens=a["tokens"][:, :2]),
        "tokens int64 [60, 2], target float32 [60, 4, 3]",
    ),
    "no integers": (lambda a: changed(a, tokens=a["tokens"] * 1.0), "tokens float64 [60, 4]"),
    "half precision": (lambda a: changed(a, target=a["target"].astype(np.float16)), "target laws are float16"),
    "a code too few": (lambda a: changed(a, codebook=a["codebook"][:2]), "codebook has shape (2, 2)"),
    "no token": (lambda a: changed(a, tokens=a["tokens"] + 1), "= 3, must be from 0 to 2"),
    "not its own": (
        lambda a: changed(a, target=np.eye(3, dtype=np.float32)[(a["tokens"] + 1) % 3]),
        "has target probability 0; the sequences must be the target's own",
    ),
    "too few": (lambda a: {k: v[:3] if k != "codebook" else v for k, v in a.items()}, "3 sequences; give 4 or more"),
    "one token": (
        lambda a: {k: v[:, :1] if k != "codebook" else v for k, v in a.items()},
        "sequences have 1 token; at least 2 are needed",
    ),
    "no number": (lambda a: changed(a, target=a["target"] * np.nan), "target[0][0] holds a value that is not a number"),
    "empty": (lambda a: {k: v[:0] if k != "codebook" else v for k, v in a.items()}, "must be tokens [B, N]"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str, arrays: Any, capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    make, wanted = BAD[name]
    np.savez(tmp_path / "bad.npz", **make(arrays))
    status, out, err = call(capsys, monkeypatch, *GOOD, "--laws", tmp_path / "bad.npz")
    assert (status, out) == (2, "") and wanted in err and str(tmp_path / "bad.npz") in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "wanted"), [(None, "No such file"), (b"", "cannot read laws from"), (b"{}", "laws from")]
)
def test_no_such_file(content: Any, wanted: str, capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "f.npz").write_bytes(content)
    status, _, err = call(capsys, monkeypatch, *GOOD, "--laws", tmp_path / "f.npz")
    assert status == 2 and wanted in err and "specsim run --decoder" in err and err.count("\n") == 1


def test_tables_must_fit(capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    target, draft = tables(tmp_path, vocab=2)
    words = ("--rule", "Lenient", "--at-accepted", 2, "--target", target)
    for more, wanted in (
        (("--draft", draft, "--lookahead", 3), "the target has 3 tokens, the draft 2"),
        (("--draft", target, "--lookahead", 4), "lookahead = 4: the target table has laws for 1 to 3"),
        ((), "needs a draft"),
    ):
        status, _, err = call(capsys, monkeypatch, *words, *more)
        assert status == 2 and wanted in err and err.count("\n") == 1
