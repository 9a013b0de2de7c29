"""Laws that a real model met: the file is checked, memory is bounded, and figures are those of the rule."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specsim import (
    Additive,
    BlockVerification,
    Lantern,
    Ledger,
    Lenient,
    Optimal,
    SpecsimError,
    Strict,
    Verdict,
    bind_codebook,
    output_law,
)
from specsim.arrays import Array
from specsim.checking import met_laws
from specsim.checking.met_file import Met, read_laws
from specsim.checking.met_laws import judge
from specsim.checking.result import check, meets
from specsim.verification import capped_ratio, optimal_residual, standard_residual

COUNT, VOCAB = 40, 24


def content(count: int = COUNT, vocab: int = VOCAB, kept: int = 7) -> dict[str, np.ndarray]:
    """Arrays of a good file: float32 laws of which `kept` tokens have mass."""
    rng = np.random.default_rng(3)

    def laws() -> np.ndarray:
        weights = rng.exponential(size=(count, vocab)) * (rng.permuted(np.arange(vocab) < kept)[None, :])
        return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)

    draft, target = laws(), laws()
    rows = np.arange(count)
    return {
        "draft": draft, "target": target, "token": draft.argmax(axis=1), "slot": rows % 4, "block": rows // 4,
        "row": 0 * rows,
    }  # fmt: skip


def saved(folder: Path, arrays: dict[str, Any]) -> Path:
    path = folder / "laws.npz"
    np.savez(path, **arrays)
    return path


def quiet(done: int, of: int) -> None:
    """No progress wanted."""


def test_a_good_file_and_the_figures_of_lenience(tmp_path: Path) -> None:
    arrays = content()
    laws = judge(Lenient(2), read_laws(saved(tmp_path, arrays)), quiet)
    p, q = (arrays[key].astype(np.float64) for key in ("target", "draft"))
    p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    accept = np.minimum(q, 2 * p).sum(axis=1)
    tv = accept - np.minimum(p, q).sum(axis=1)  # on the line, what is accepted more than strictly is bias
    assert (laws.laws, laws.judged, laws.vocab, laws.skipped) == (COUNT, COUNT, VOCAB, "")
    assert np.allclose([laws.mean["acceptance"], laws.maximum["acceptance"]], [accept.mean(), accept.max()], rtol=1e-12)
    assert np.allclose([laws.mean["tv"], laws.maximum["tv"]], [tv.mean(), tv.max()], rtol=1e-12)
    assert laws.worst == np.argmax(tv)
    assert laws.on_line and not laws.lossless and laws.maximum["off"] == 0
    assert np.isclose(laws.mean["strict acceptance"], np.minimum(p, q).sum(axis=1).mean())


def test_the_check_holds_the_real_laws_against_the_expectation(tmp_path: Path) -> None:
    path = saved(tmp_path, content())
    result = check(Strict(), {}, path)
    assert result.laws is not None and result.laws.lossless and meets(result, "lossless") and meets(result, "on-line")
    assert result.laws.maximum["tv"] < 1e-14
    assert check(Additive(), {}, path).verdict == "biased"


@dataclass(frozen=True)
class WrongBeyondTwenty:
    """Right on every small pair, biased and off the line on a real vocabulary."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        right = standard_residual(draft, target)
        return Verdict(capped_ratio(target, draft), right if target.shape[-1] <= 20 else target)


def test_a_rule_that_is_wrong_on_real_laws_only(tmp_path: Path) -> None:
    result = check(WrongBeyondTwenty(), {}, saved(tmp_path, content()))
    assert result.tv.value == 0 and result.tv.smallest is None
    assert (result.verdict, result.on_line) == ("biased", False)
    assert check(WrongBeyondTwenty(), {}).verdict == "lossless"


@dataclass(frozen=True)
class LeaksBeyondTwenty:
    """Puts a trifle on every token of a real vocabulary: no bias to speak of, but mass where the target has none."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        right = standard_residual(draft, target)
        leaky = right if target.shape[-1] <= 20 else (right + 1e-13) / (right + 1e-13).sum(axis=-1, keepdims=True)
        return Verdict(capped_ratio(target, draft), leaky)


def test_mass_off_the_support_of_real_laws_has_no_slack(tmp_path: Path) -> None:
    laws = check(LeaksBeyondTwenty(), {}, saved(tmp_path, content())).laws
    assert laws is not None and laws.maximum["tv"] < met_laws.MET_SLACK and laws.on_line
    assert 0 < laws.maximum["off"] < 1e-11 and not laws.lossless


def test_token_by_token_rules_agree_with_the_core_and_say_what_they_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = read_laws(saved(tmp_path, content()))
    rule = bind_codebook(Lantern(k=3, delta=0.3), np.arange(VOCAB)[:, None])
    full = judge(rule, met, quiet)
    p, q = (laws.astype(np.float64) / laws.astype(np.float64).sum(axis=1, keepdims=True) for laws in met[1:3][::-1])
    tv = abs(output_law(rule, q, p, met.slot) - p).sum(axis=1) / 2
    assert (full.judged, full.skipped) == (COUNT, "") and np.isclose(full.mean["tv"], tv.mean(), rtol=1e-12)
    monkeypatch.setattr(met_laws, "TOKEN_WORK", 10 * VOCAB**2 * 5)
    some = judge(rule, met, quiet)
    assert some.judged == 10 and some.skipped.startswith("30 of 40 laws not judged") and "2,880 numbers" in some.skipped
    assert np.isclose(some.mean["tv"], tv[::4].mean(), rtol=1e-12)
    monkeypatch.setattr(met_laws, "ONE_LAW", VOCAB**2)
    none = judge(rule, met, quiet)
    assert (none.judged, none.mean, none.worst) == (0, {}, None) and none.lossless and none.on_line


@pytest.mark.parametrize("rule", [Strict(), Lantern(k=3), Optimal(Lantern(k=3))], ids=repr)
def test_chunks_change_nothing(rule: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    met = read_laws(saved(tmp_path, content()))
    bound = bind_codebook(rule, np.arange(VOCAB)[:, None])
    whole = judge(bound, met, quiet)
    monkeypatch.setattr(met_laws, "CHUNK", 3 * VOCAB)
    calls: list[tuple[int, int]] = []
    pieces = judge(bound, met, lambda done, of: calls.append((done, of)))
    assert len(calls) > 10 and calls[-1] == (COUNT, COUNT)
    assert pieces.worst == whole.worst
    assert all(np.isclose(pieces.mean[name], value, rtol=1e-12, atol=1e-15) for name, value in whole.mean.items())


def test_a_whole_law_rule_never_sees_an_array_of_v_squared(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Watched(Lenient):
        def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
            sizes.append(draft.size)
            return super().__call__(draft, target, position)

    judge(Watched(2), read_laws(saved(tmp_path, content(count=6, vocab=5000, kept=400))), quiet)
    assert max(sizes) == 6 * 5000


def test_slots_of_the_file_reach_the_rule(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class OnlySlotThree:
        def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
            accept = np.where((position == 3)[..., None], 1.0, capped_ratio(target, draft))
            return Verdict(accept, optimal_residual(draft, target, accept))

    laws = judge(OnlySlotThree(), read_laws(saved(tmp_path, content())), quiet)
    assert laws.maximum["acceptance"] == 1 and laws.worst is not None and laws.worst % 4 == 3


def test_an_invalid_verdict_on_a_real_law_names_the_law(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class HighOnRealLaws:
        def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
            return Verdict(capped_ratio(target, draft) + (target.shape[-1] > 20), standard_residual(draft, target))

    with pytest.raises(SpecsimError, match=r"above 1 at token \d+; law 0 of .*laws\.npz; cap it"):
        check(HighOnRealLaws(), {}, saved(tmp_path, content()))


def changed(key: str, change: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    arrays = content()
    return {**arrays, key: change(arrays[key])}


def put(value: float, row: int = 5) -> Callable[[np.ndarray], np.ndarray]:
    def change(values: np.ndarray) -> np.ndarray:
        values = values.copy()
        values[(row, 0) if values.ndim == 2 else row] = value
        return values

    return change


def never_drafted(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {**arrays, "token": arrays["draft"].argmin(axis=1)}


BAD_CONTENT = [
    (
        {k: v for k, v in content().items() if k not in ("slot", "row")},
        "no array slot, row; it must hold draft, target",
    ),
    (changed("target", put(np.nan)), r"target\[5\] holds a value that is not a number"),
    (changed("target", put(np.inf)), r"target\[5\] holds a value that is not a number"),
    (changed("draft", put(-0.25)), r"draft\[5\] is negative at -0.25"),
    (
        changed("draft", lambda a: a * np.float32(1.01)),
        r"draft\[0\] sums to 1.01, not to 1; store the laws after softmax",
    ),
    (changed("target", lambda a: a[:, :-1]), r"target has shape \(40, 23\)"),
    (changed("token", lambda a: a[:-1]), r"token has shape \(39,\)"),
    (changed("draft", lambda a: a[0]), r"draft has shape \(24,\)"),
    (content(count=0), r"draft has shape \(0, 24\)"),
    (changed("token", lambda a: a + 0.5), "token is float64, must be integers"),
    (changed("draft", lambda a: (a > 0).astype(int)), "draft is int64, must be floating-point laws"),
    (changed("token", put(VOCAB)), r"token\[5\] = 24, must be"),
    (changed("slot", put(-1)), r"slot\[5\] = -1, must be 0 or more"),
    (never_drafted(content()), r"token\[0\] = \d+ has draft probability 0; store the law it was drawn from"),
    ({**content(), "row": np.array([None] * COUNT)}, "not an npz archive of plain arrays"),
]


@pytest.mark.parametrize(("arrays", "line"), BAD_CONTENT, ids=[line for _, line in BAD_CONTENT])
def test_a_bad_array_is_one_line_that_names_it(arrays: dict[str, Any], line: str, tmp_path: Path) -> None:
    path = saved(tmp_path, arrays)
    with pytest.raises(SpecsimError, match=line) as caught:
        read_laws(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["missing", "folder", "empty", "text", "npy", "truncated", "damaged", "foreign zip"])
def test_a_file_that_is_no_npz_is_one_line(kind: str, tmp_path: Path) -> None:
    good = saved(tmp_path, content()).read_bytes()
    path = tmp_path / "other.npz"
    match kind:
        case "folder":
            path.mkdir()
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("draft,target\n1,2\n")
        case "npy":
            with path.open("wb") as file:
                np.save(file, np.zeros(3))
        case "truncated":
            path.write_bytes(good[: len(good) // 2])
        case "damaged":
            path.write_bytes(good[:300] + bytes(64) + good[364:])
        case "foreign zip":
            np.savez_compressed(path, weights=np.zeros(3))
    with pytest.raises(SpecsimError, match=r"cannot read laws from .*other\.npz: .+") as caught:
        read_laws(path)
    assert "\n" not in str(caught.value)


def test_half_precision_is_refused(tmp_path: Path) -> None:
    arrays = content(vocab=400, kept=400)
    arrays["draft"] = arrays["draft"].astype(np.float16)
    with pytest.raises(SpecsimError, match="draft laws are float16; give float32"):
        read_laws(saved(tmp_path, arrays))


def test_real_laws_without_their_codebook(tmp_path: Path) -> None:
    wide = saved(tmp_path, content(count=2, vocab=2100, kept=50))
    laws = check(Optimal(Lantern(k=2)), {}, wide).laws
    assert laws is not None and laws.judged == 0 and "needs the codebook of these 2,100 tokens" in laws.skipped
    with pytest.raises(SpecsimError, match="laws over 2100 tokens, but the codebook has 4; give the codebook"):
        check(Optimal(Lantern(k=2)), {}, wide, codebook=np.eye(4))
    with_codes = check(Optimal(Lantern(k=2)), {}, wide, codebook=np.arange(2100.0)[:, None]).laws
    assert with_codes is not None and with_codes.judged == 2 and with_codes.on_line


def test_laws_are_not_copied_whole(tmp_path: Path) -> None:
    met = read_laws(saved(tmp_path, content()))
    assert isinstance(met, Met) and met.draft.dtype == np.float32  # float64 copies are made a chunk at a time


def test_a_codebook_in_the_file_serves_rules_that_need_one(tmp_path):
    """Neighbours of the file's own codes: with far-apart pairs LANTERN borrows across a pair, and is judged."""
    laws = np.array([[0.1, 0.1, 0.4, 0.4]])
    fields = {"token": [0], "slot": [0], "block": [0], "row": [0]}
    arrays = {name: np.array(value) for name, value in fields.items()}
    path = tmp_path / "laws.npz"
    np.savez(
        path, draft=np.array([[0.5, 0.5, 0.0, 0.0]]), target=laws, codebook=[[0.0], [1.0], [50.0], [51.0]], **arrays
    )
    found = check(Optimal(Lantern(k=1, delta=0.1)), {}, path)
    assert abs(found.laws.maximum["tv"] - 0.2) < 1e-12  # theory: TV 1/5 although delta is 1/10
    np.savez(path, draft=laws, target=laws, codebook=[[0.0], [1.0]], **arrays)
    with pytest.raises(SpecsimError, match="codebook has shape"):
        check(Optimal(Lantern(k=1, delta=0.1)), {}, path)


@pytest.mark.parametrize("rule", [BlockVerification(), BlockVerification(Lenient(1.5)), Ledger(2.0)], ids=repr)
def test_rules_that_judge_blocks_are_put_to_real_laws_as_blocks_of_one_draft(rule: Any, tmp_path: Path) -> None:
    met = read_laws(saved(tmp_path, content()))
    seen = judge(rule, met, quiet)
    p, q = (laws.astype(np.float64) / laws.astype(np.float64).sum(axis=1, keepdims=True) for laws in met[1:3][::-1])
    tv = abs(output_law(rule, q, p, met.slot) - p).sum(axis=1) / 2
    assert (seen.judged, seen.skipped, seen.on_line) == (COUNT, "", True)
    assert np.allclose([seen.mean["tv"], seen.maximum["tv"]], [tv.mean(), tv.max()], rtol=1e-12, atol=1e-15)
    assert seen.lossless == (rule == BlockVerification())
