"""Sibling drafts: the law and what is kept are the tree decoder's, in fractions and at the real vocabulary."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch

from gpu_eval import sibling_levels, siblings
from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.run import Plan, decode
from gpu_eval.sibling_levels import Comb, Level, every, figures, level, tv_least
from gpu_eval.sibling_table import PAIRS, differences, drawn, over_contexts, row
from gpu_eval.siblings import RULES, Study, laws_met, main, measured, places
from specsim import Autoregressive, Tree, bind_codebook, exact, random_table
from specsim.flows import output_law
from specsim.rules import Lantern, LanternDynamic, LanternPlus, Optimal
from specsim.siblings import SIBLINGS
from specsim.trees import Branches, DraftedTree
from tests.test_one_token import bound
from tests.test_tree_rules import alike
from tests.test_trees import first_call

ROUNDING = 1e-12
"""Sums of some 10^5 float64 numbers that add up to 1: measured below 1e-15."""
FLOAT32 = 1e-5
"""Laws of one network by two ways of computing in float32: measured below 1e-7."""
STANDARD_ERRORS = 6
"""Of 64 samples: a mean that is farther off is a fault, by chance one in ten million."""
SAMPLES = 64
UNSEEN = 1e-6
"""Branches of so little mass may be in none of the samples, which then show no error of theirs."""
STATIC = Lantern(1, 0.4)
SMALL = [rule for one in (STATIC, LanternPlus(1, 2.0)) for rule in (one, Optimal(one))]
"""The published settings borrow from more neighbours than small vocabularies have."""


def tree(width: int) -> tuple:
    return tuple((k,) for k in range(width))


def tables(vocab: int, seed: int, zeros: bool = False) -> tuple[Any, Any]:
    return random_table(vocab, 2, seed, zeros), random_table(vocab, 2, seed + 100, zeros)


def by_tree(width: int, target: Any, draft: Any, rule: Any) -> tuple[list, Fraction]:
    """Law of the first token, and P(some draft of it kept), of the decoder itself."""
    law = exact(Tree(tree(width)), target, draft, rule=rule)
    first = law.mass.reshape(target.vocab, -1).sum(axis=1).tolist()
    call = first_call(Tree(tree(width)), target, draft, rule)
    return first, sum((mass for tokens, mass in call.items() if len(tokens) == 2), Fraction(0))


def by_level(width: int, target: Any, draft: Any, rule: Any) -> tuple[list, Fraction]:
    found = level(rule, draft.at_length(0)[0], target.at_length(0)[0], width)
    return found.law[0].tolist(), found.accepted[0]


@pytest.mark.parametrize(("width", "vocab", "zeros"), [(1, 3, 0), (2, 3, 0), (2, 4, 1), (3, 3, 1), (3, 4, 0)])
@pytest.mark.parametrize("rule", [*RULES, *SMALL, LanternDynamic(1, 0.4)], ids=repr)
def test_a_level_is_the_trees_in_fractions(rule: Any, width: int, vocab: int, zeros: int) -> None:
    target, draft = tables(vocab, 41 + width, bool(zeros))
    rule = bound(rule, vocab)
    law, kept = by_level(width, target, draft, rule)
    assert (law, kept) == by_tree(width, target, draft, rule) and sum(law) == 1


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_one_draft_is_one_token(rule: Any) -> None:
    draft, target = (np.random.default_rng(seed).dirichlet(np.ones(5)) for seed in (1, 2))
    rule = bound(rule, 5)
    wanted = output_law(rule, draft, target, np.zeros((), dtype=np.int64))
    assert (level(rule, draft, target, 1).law[0] == wanted).all()


def reset(rule: Any, draft: Any, target: Any) -> Any:
    """What an elder sibling left is forgotten."""
    accept, residual = verdicts(rule, draft, target)
    return accept, np.broadcast_to(target, residual.shape)


def swapped(rule: Any, draft: Any, target: Any) -> Any:
    """What is left is another token's."""
    accept, residual = verdicts(rule, draft, target)
    return accept, np.flip(residual, axis=0)


def unscaled(draft: Any, refused: Any, number: int) -> Any:
    """The younger sibling is drawn from what is left, judged by the law before."""
    there = without(draft, refused, number)
    return np.where(there[0] > 0, draft, there[0]), there[1]


verdicts, without = sibling_levels.verdicts, sibling_levels.without
DRAFT = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
MUTANTS = {
    "reset": ("verdicts", reset, RULES[1]), "swapped": ("verdicts", swapped, STATIC),
    "unscaled": ("without", unscaled, RULES[1]),
    "again": ("SIBLINGS", {"distinct": SIBLINGS["independent"]}, RULES[1]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mistakes_are_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = alike((Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)), 2), alike(DRAFT, 2)
    where, mistake, rule = MUTANTS[name]
    rule = bound(rule, 3)
    wanted = by_tree(2, target, draft, rule)
    assert by_level(2, target, draft, rule) == wanted
    monkeypatch.setattr(sibling_levels, where, mistake)
    assert by_level(2, target, draft, rule) != wanted


@pytest.fixture(scope="module")
def met() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    return laws_met(load_fashion(), Study(3, 0))


def by_rows(width: int, draft: np.ndarray, target: np.ndarray, rule: Any) -> Level:
    """Every ordered choice of drafts as a row of the shipped tree, tokens filled in."""
    few = np.flatnonzero(draft)
    ways = np.array(list(permutations(few.tolist(), width)))
    laws, mass = [np.broadcast_to(draft, (len(ways), len(draft)))], np.ones(len(ways))
    for k in range(width):
        mass = mass * laws[-1][np.arange(len(ways)), ways[:, k]]
        laws.append(SIBLINGS["distinct"](laws[-1][:, None], ways[:, k : k + 1], k + 1)[0][:, 0])
    tokens = np.concatenate([ways[:, :1], ways], axis=1)
    goal = np.broadcast_to(target, (*tokens.shape, len(target)))
    drafts = np.stack([laws[0], *laws[:-1]], axis=1)
    drafted = DraftedTree(drafts, goal, tokens, tokens >= 0, 0 * tokens, Branches(tree(width)))
    stop, residual = drafted.by(rule)
    law = (mass * stop[:, 0]) @ residual[:, 0]
    for k in range(width):
        law = law + np.bincount(ways[:, k], mass * stop[:, k + 1], len(target))
    kept = mass @ stop[:, 1:]
    return Level(law[None], kept[None], (1 - np.cumsum([0, *kept[:-1]]))[None])


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_each_sibling_is_the_shipped_trees_at_512_codes(met: Any, rule: Any, width: int) -> None:
    """The draft's law cut to its six likeliest tokens, so that all ways can be rows."""
    target, drafts = met
    rule = bind_codebook(rule, load_fashion().codebook)
    for draft in (law[1] for law in drafts.values()):
        cut = np.where(draft >= np.sort(draft)[-6], draft, 0)
        found, wanted = level(rule, cut / cut.sum(), target[1], width), by_rows(width, cut / cut.sum(), target[1], rule)
        for one, other in zip(found, wanted, strict=True):
            assert np.allclose(one, other, rtol=0, atol=ROUNDING)
        assert wanted.accepted[0] > 0.1


def test_strict_is_lossless_at_512_codes(met: Any) -> None:
    target, drafts = met
    for draft in drafts.values():
        for q, p in zip(draft, target, strict=True):
            one, two = (figures(level(RULES[0], q, p, width), p) for width in (1, 2))
            assert two["tv"] < ROUNDING and abs(one["accepted"] - np.minimum(p, q).sum()) < ROUNDING
            assert one["kept_1"] == pytest.approx(two["kept_1"]) and two["accepted"] > one["accepted"]


def test_contexts_are_those_of_decoding(met: Any) -> None:
    """All three asked as a decoder asks them, for one context alone."""
    target, drafts = met
    fashion, where = load_fashion(), places(3, 49)
    tokens = torch.from_numpy(decode(Plan("fashion", Autoregressive(), images=3, batch=3), fashion).tokens)
    for i in range(3):
        label, start = torch.tensor([i]), torch.from_numpy(where[i : i + 1])
        big, small = fashion.target(label), fashion.draft(label)
        head = fashion.with_head().pair().drafting().beside(big, (), Processing(), None).since(start)
        for model, laws in ((big, target), (small, drafts["small model"]), (head, drafts["head"])):
            assert abs(model(tokens[i : i + 1], start, 1)[0, 0].numpy() - laws[i]).max() < FLOAT32
    assert len(set(where)) == 3 and abs(drafts["head"] - drafts["small model"]).max() > 0.01


def test_positions_are_spread() -> None:
    where = places(20, 49)
    assert where.min() >= 0 and where.max() <= 47 and np.diff(np.sort(where)).max() <= 5
    assert {(i % 10 % 2, p % 2) for i, p in enumerate(where)} == {(a, b) for a in (0, 1) for b in (0, 1)}


def test_a_comb_is_unbiased() -> None:
    """Over all its beginnings, here 12 that stand for them, a branch counts with its mass exactly."""
    masses = np.array([1, 0, 5, 30, 7, 2])[:, None] / 12  # in steps of 1
    comb = Comb(1.0, np.random.default_rng(0), 1)
    total = np.zeros(6)
    for begin in range(12):
        comb.passed = np.array([begin / 12 + ROUNDING])
        which, weight = comb(2, masses)
        total[which] += weight[:, 0]
    assert np.allclose(total / 12, masses[:, 0], rtol=0, atol=ROUNDING)
    assert (comb(1, masses)[0] == [0, 2, 3, 4, 5]).all() and (every(2, masses)[0] == [0, 2, 3, 4, 5]).all()


@pytest.mark.parametrize("rule", [RULES[1], SMALL[3], STATIC], ids=repr)
def test_drawn_elders_have_the_exact_mean(rule: Any) -> None:
    draft, target = (np.random.default_rng(seed).dirichlet(np.ones(8)) for seed in (8, 9))
    rule = bind_codebook(rule, np.random.default_rng(7).normal(size=(8, 2)))
    true, two = level(rule, draft, target, 3), level(rule, draft, target, 2)
    found = level(rule, draft, target, 3, Comb(float(two.refused[0]) / 5, np.random.default_rng(8), SAMPLES))
    assert found.law.shape == (SAMPLES, 8) and true.kept[0, 2] > 0.01
    for one, other in zip(found, true, strict=True):
        error = one.std(axis=0, ddof=1) / np.sqrt(SAMPLES)
        assert (abs(one.mean(axis=0) - other[0]) <= STANDARD_ERRORS * error + UNSEEN).all()
    sampled, noise = figures(found, target), STANDARD_ERRORS * found.law.std(axis=0, ddof=1).sum() / np.sqrt(SAMPLES)
    assert sampled["tv_least"] - noise <= figures(true, target)["tv"] <= sampled["tv"] + noise < 0.1 + sampled["tv"]
    assert 0 < sampled["error"] < 0.01 and np.ptp(found.law, axis=0).max() > 1e-4


def test_a_sampled_tv_is_high_and_the_least_one_is_not() -> None:
    """Of the strict rule, whose TV is 0: means over many pairs of samples."""
    draft, target = (np.random.default_rng(seed).dirichlet(np.ones(6)) for seed in (8, 9))
    step, noise = float(level(RULES[0], draft, target, 2).refused[0]) / 3, np.random.default_rng(1)
    found = [figures(level(RULES[0], draft, target, 3, Comb(step, noise, 2)), target) for _ in range(SAMPLES)]
    least, high = (np.array([one[name] for one in found]) for name in ("tv_least", "tv"))
    assert least.mean() <= STANDARD_ERRORS * least.std(ddof=1) / np.sqrt(SAMPLES)
    assert high.mean() - STANDARD_ERRORS * high.std(ddof=1) / np.sqrt(SAMPLES) > 0


def test_tv_is_between_its_two_estimates() -> None:
    target, moved = np.array([0.5, 0.3, 0.2]), np.array([0.1, -0.05, -0.05])
    same, apart = np.stack([target + moved] * 3), np.stack([target + moved, target - moved])
    assert tv_least(same, target) == pytest.approx(0.1) and tv_least(apart, target) == pytest.approx(-0.1)


def test_the_optimal_residual_keeps_fewer_second_drafts(met: Any) -> None:
    """The sentence "the same acceptance" is true of the first sibling and of no other."""
    target, drafts = met
    for best, released in PAIRS[:1]:
        both = [bind_codebook(rule, load_fashion().codebook) for rule in (best, released)]
        one, other = (measured(rule, drafts["small model"][1], target[1], 2, (0, 0)) for rule in both)
        assert one[1]["accepted"] == other[1]["accepted"] and one[2]["accepted"] < other[2]["accepted"] - 1e-3
        assert one[2]["tv"] < other[2]["tv"] - 1e-3


LINE = [[0.0], [1.0], [2.0], [3.0]]
SMALLEST = {
    "less bias, fewer kept": (LanternPlus(1, 2.0), (1, 1, 3), (3, 1, 1), ("1/5", "1/4"), ("9/10", "19/20")),
    "more bias, as many kept": (LanternPlus(1, 5.0), (1, 1, 3, 1), (2, 4, 0, 0), ("1/24", "1/30"), ("11/15", "11/15")),
    "more bias, more kept": (Lantern(1, 0.4), (1, 1, 1, 2), (3, 2, 0, 0), ("1/3", "1/5"), ("1", "13/15")),
}  # fmt: skip


@pytest.mark.parametrize("what", SMALLEST)
def test_what_the_optimal_residual_may_do_to_two_siblings(what: str) -> None:
    """Of one draft it never has more bias, and keeps as many.  Weights of draft and target; G* and the released one."""
    released, *weights, biases, kept = SMALLEST[what]
    draft, target = (alike(tuple(Fraction(w, sum(law)) for w in law), 2) for law in weights)
    rules = [bind_codebook(rule, LINE[: target.vocab]) for rule in (Optimal(released), released)]
    found = [by_tree(2, target, draft, rule) for rule in rules]
    goal = target.at_length(0)[0]
    assert [sum(abs(np.array(law) - goal)) / 2 for law, _ in found] == [Fraction(bias) for bias in biases]
    assert [share for _, share in found] == [Fraction(share) for share in kept]
    assert found == [by_level(2, target, draft, rule) for rule in rules]
    one = [by_tree(1, target, draft, rule) for rule in rules]
    assert one[0][1] == one[1][1] and sum(abs(np.array(one[0][0]) - goal)) <= sum(abs(np.array(one[1][0]) - goal))


def context(**changed: float) -> dict[str, float]:
    plain = {"tv": 0.2, "kl": 0.1, "kl_reverse": 0.1, "accepted": 0.9}
    return plain | {"kept_1": 0.7, "judged_1": 1.0, "kept_2": 0.2, "judged_2": 0.3} | changed


def test_differences_are_counted_and_the_second_draft_is_weighed() -> None:
    best, released = PAIRS[0]
    moved = [context(tv=0.1, kept_2=0.1), context(tv=0.3, judged_2=0.0, kept_2=0.0), context()]
    plain = [context(), context(judged_2=0.0, kept_2=0.0), context()]
    values = {("head", repr(best), 2): moved, ("head", repr(released), 2): plain}
    (found,) = differences(values)
    assert {name: found["tv"][name] for name in ("less", "equal", "more")} == {"less": 1, "equal": 1, "more": 1}
    assert found["rule"] == repr(released) and found["accepted_2"]["value"] == pytest.approx(-0.1 / 0.6)
    one = row({}, 2, plain)
    assert one["accepted_2"]["value"] == pytest.approx(2 / 3) and one["accepted_1"]["value"] == pytest.approx(0.7)
    assert over_contexts(np.array([np.inf, 1]))["value"] is None
    assert over_contexts(np.ones(2), np.zeros(2))["value"] is None
    assert drawn(plain) == {} and drawn([context(tv_least=0.1, error=0.02), context()]) == {
        "tv_least": pytest.approx(0.15), "error": pytest.approx(0.01),
    }  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The file of three rules."""
    out = tmp_path_factory.mktemp("siblings") / "deep" / "s.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(siblings, "RULES", (RULES[0], *PAIRS[2]))
        patch.setattr(siblings, "DRAWS", 8)
        assert main(["--contexts", "2", "--out", str(out)]) == 0
    return out


def test_the_file_says_everything(finished: Any, capsys: pytest.CaptureFixture) -> None:
    content = json.loads(finished.read_text())
    names = [(one["draft"], one["siblings"], one["rule"]) for one in content["rows"]]
    assert len(set(names)) == len(names) == 2 * 3 * 3 and len(content["differences"]) == 2 * 3
    assert content["command"] == f"python -m gpu_eval.siblings --contexts 2 --out {finished}"
    assert content["settings"]["third"] == 2 and {"commit", "device_name", "versions", "interval"} <= set(content)
    assert ["error" in one for one in content["rows"]] == [one["siblings"] == 3 for one in content["rows"]]
    strict = [one for one in content["rows"] if one["rule"] == "Strict()" and one["siblings"] < 3]
    assert len(strict) == 4 and all(one["tv"]["value"] < ROUNDING for one in strict)
    assert main(["--show", str(finished)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n| ") == 2 * 3 * 3 + 2 * 3 + 1 and shown.endswith(content["reading"] + "\n")
    assert main(["--show", str(finished), "--json"]) == 0 and json.loads(capsys.readouterr().out) == content


BAD = [
    ["--contexts", "1"], ["--contexts", "1001"], ["--third", "1"], ["--contexts", "5", "--third", "6"],
    ["--third", "-2"], ["--seed", "-1"], ["--seed", str(2**63)],
]  # fmt: skip


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_line(arguments: list, tmp_path: Any, capsys: pytest.CaptureFixture) -> None:
    assert main([*arguments, "--out", str(tmp_path / "s.json")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: siblings: ") and said.count("\n") == 1 and not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_found_first(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(siblings, "load_fashion", lambda: pytest.fail("work was done"))
    (tmp_path / "file").write_text("")
    assert main(["--out", str(tmp_path)]) == main(["--out", str(tmp_path / "file" / "s.json")]) == 2


FOREIGN = {
    "a list": lambda c: [c], "another schema": lambda c: c | {"schema": "specsim.quality/1"},
    "no rows": lambda c: {k: v for k, v in c.items() if k != "rows"}, "rows of text": lambda c: c | {"rows": ["a"]},
    "a figure of text": lambda c: c | {"rows": [c["rows"][0] | {"tv": {"value": "a", "interval": None}}]},
    "no value": lambda c: c | {"rows": [c["rows"][0] | {"tv": {}}]}, "no reading": lambda c: c | {"reading": 3},
}  # fmt: skip


@pytest.mark.parametrize("what", FOREIGN)
def test_another_file_is_refused(finished: Any, tmp_path: Any, capsys: pytest.CaptureFixture, what: str) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(FOREIGN[what](json.loads(finished.read_text()))))
    assert main(["--show", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {file}"[:40]) and said.count("\n") == 1
