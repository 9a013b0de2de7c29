"""`specsim compare` and `specsim cost` by sampling: what is tuned on what, what is separated, what is refused."""

import io
import json

import numpy as np
import pytest
import torch
from rich.console import Console

from gpu_eval import costing
from gpu_eval.comparing import command, separation
from gpu_eval.comparing.command import COLUMNS, FLOOR, READING, compare_images, seeds_of
from gpu_eval.comparing.measured import (
    FEWEST_IMAGES,
    MOST_SEED,
    PILOT_SEED,
    POOL_SEED,
    PerImage,
    Setting,
    measure,
    pools,
)
from gpu_eval.comparing.separation import Difference, differences, statements
from gpu_eval.costing import cost_of_images
from gpu_eval.fashion import load_fashion
from gpu_eval.figures import resampled_counts
from gpu_eval.quality import frechet_distance, statistics
from gpu_eval.run import Plan, decode
from specsim import Autoregressive, Chain, Jacobi, Lenient, SpecsimError, Strict
from specsim.comparing.goals import Goal
from specsim.comparing.lineup import FIXED, TUNED
from specsim.comparing.show import view
from specsim.costing.model import Prices
from specsim.decoders import RelaxedBonus

IMAGES, PILOT = 30, 10
GOAL = Goal("tokens-per-call", 3.0)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """One small comparison -> (content, seeds that were decoded with, progress, directory)."""
    out, seeds, seen = tmp_path_factory.mktemp("compare"), [], []
    patch = pytest.MonkeyPatch()
    patch.setattr(command, "GRID", 4)
    patch.setattr(command, "RESOLUTION", 0.05)
    watched = command.decode
    patch.setattr(command, "decode", lambda plan, fashion: seeds.append(plan.seed) or watched(plan, fashion))
    setting = Setting(images=IMAGES, seeds=(0, 1), pilot=PILOT)
    systems = [(Chain(3), Strict()), (Chain(3), Lenient())]
    content = compare_images(setting, systems, GOAL, out, lambda *done: seen.append(done))
    patch.undo()
    return content, seeds, seen, out


def test_rules_are_tuned_on_images_that_are_not_reported(compared):
    content, seeds, _, _ = compared
    assert set(seeds) == {PILOT_SEED} and content["pilot"] == {"images": PILOT, "seed": PILOT_SEED}
    assert content["seeds"] == [0, 1] and not {PILOT_SEED, POOL_SEED, POOL_SEED + 1} & set(content["seeds"])


def test_the_tuned_rule_costs_what_was_asked_on_the_pilot(compared):
    rows = {row["how"]: row for row in compared[0]["systems"]}
    assert set(rows) == {FLOOR, FIXED, TUNED}
    assert abs(rows[TUNED]["cost"] - GOAL.value) <= compared[0]["goal"]["slack"]
    assert compared[0]["goal"]["slack"] == pytest.approx(0.5 * GOAL.value / PILOT)
    omega = float(rows[TUNED]["rule"].removeprefix("Lenient(omega=")[:-1])
    again = decode(Plan("fashion", Chain(3), Lenient(omega), PILOT, PILOT_SEED, PILOT), load_fashion())
    assert rows[TUNED]["cost"] == pytest.approx(again.lengths.sum() / again.calls.sum())
    assert rows[FIXED]["tokens_per_call"]["value"] < rows[TUNED]["tokens_per_call"]["value"]


def test_every_seed_has_its_figures(compared):
    content, _, seen, _ = compared
    for row in content["systems"]:
        assert [figures["seed"] for figures in row["seeds"]] == [0, 1]
        for name, summary in row["across_seeds"].items():
            values = [figures[name]["value"] for figures in row["seeds"]]
            assert summary["mean"] == pytest.approx(np.mean(values))
            assert summary["spread"] == pytest.approx(np.std(values, ddof=1))
    floor = next(row for row in content["systems"] if row["how"] == FLOOR)
    assert floor["tokens_per_call"]["value"] == 1 and floor["decoder"] == "Autoregressive()"
    assert seen[-1][0] == seen[-1][1] and [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_each_image_is_what_its_figures_are_made_of(fashion):
    """Costs and qualities stand in their own columns: their means are the figures of the seed."""
    setting = Setting(images=IMAGES, seeds=(5,))
    (pool,) = pools(fashion, setting).values()
    figures, images = measure(fashion, setting, Chain(3), Lenient(2.0), 5, pool)
    assert figures["label_accuracy"]["value"] == pytest.approx(images.right.mean())
    assert figures["log_likelihood"]["value"] == pytest.approx(images.log_chances.mean())
    assert figures["calls_per_image"]["value"] == pytest.approx(images.calls.mean())
    assert figures["tokens_per_call"]["value"] == pytest.approx(images.lengths.sum() / images.calls.sum())
    assert (images.accepted < images.lengths).all() and images.features.shape == (IMAGES, 64)


def test_what_is_separated_is_said(compared):
    """3 tokens a call are surely more than plain decoding's 1; 60 images cannot tell qualities apart."""
    verdict = compared[0]["verdict"]
    assert len(verdict["pairs"]) == 4 * 3 and len(verdict["text"]) == 4
    calls = [pair for pair in verdict["pairs"] if pair["figure"] == "tokens_per_call"]
    assert all(pair["separated"] for pair in calls if "Autoregressive()" in (pair["first"], pair["second"]))
    assert "not separated" in verdict["text"][1]


def test_files_and_view(compared):
    content, _, _, out = compared
    assert {p.name for p in out.iterdir()} == {"compare.json", "compare.md", "compare.png"}
    assert json.loads((out / "compare.json").read_text())["systems"] == content["systems"]
    text = io.StringIO()
    Console(file=text, width=100).print(view(content, COLUMNS, READING))
    assert "floor: plain decoding" in text.getvalue() and "separated" in text.getvalue()


@pytest.fixture(scope="module")
def fashion():
    return load_fashion()


def drawn(rng: np.random.Generator, images: int, common: np.ndarray, shift: float = 0.0) -> PerImage:
    """Images whose calls are a part in common with another system's, a part of their own, and a shift."""
    calls = 20 + 3 * common + rng.normal(size=images) + shift
    ones, features = np.ones(images), torch.from_numpy(rng.normal(size=(images, 64)))
    return PerImage(np.arange(images) % 10, calls, ones, 49 * ones, ones, -ones, features)


@pytest.fixture
def only_calls(monkeypatch):
    monkeypatch.setattr(separation, "FIGURES", {"tokens_per_call": separation.tokens_per_call})


def test_no_difference_is_rarely_separated(fashion, only_calls):
    """150 pairs of equal systems, 5 images a class: 5 % are wrong in theory, 6.2 % in 2,000 trials.  More than 19 then
    have a chance below 1 in 1,000; intervals of half the width would give about 50."""
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(150):
        common = rng.normal(size=50)
        (found,) = differences(fashion, {"A": drawn(rng, 50, common), "B": drawn(rng, 50, common)})
        wrong += found.separated
    assert wrong <= 19


def test_pairing_sees_what_independent_images_do_not(fashion, only_calls):
    """A shift of one standard deviation of the own part is a third of the spread between images."""
    rng = np.random.default_rng(1)
    common, other = rng.normal(size=(2, 50))
    first, second = drawn(rng, 50, common), drawn(rng, 50, common, shift=1.0)
    (paired,) = differences(fashion, {"A": first, "B": second})
    (unpaired,) = differences(fashion, {"A": first, "B": drawn(rng, 50, other, shift=1.0)})
    assert paired.separated and not unpaired.separated and paired.value > 0
    assert np.ptp(unpaired.interval) > 2 * np.ptp(paired.interval)


def test_more_pairs_need_more(fashion, only_calls):
    """The interval of one pair is wider the more pairs are looked at."""
    rng = np.random.default_rng(2)
    systems = {name: drawn(rng, 50, rng.normal(size=50)) for name in "ABCD"}
    (alone,) = differences(fashion, {name: systems[name] for name in "AB"})
    among = next(d for d in differences(fashion, systems) if (d.first, d.second) == ("A", "B"))
    assert among.value == alone.value and np.ptp(among.interval) > 1.2 * np.ptp(alone.interval)


def test_figures_of_a_resample(fashion):
    """Every image once is the figure itself; an impossible token leaves no likelihood to compare."""
    rng = np.random.default_rng(3)
    images = drawn(rng, 40, np.zeros(40))
    real = (fashion.reference.mean.double(), fashion.reference.covariance.double())
    once = np.ones((1, 40))
    assert separation.tokens_per_call(images, once, real) == pytest.approx(49 * 40 / images.calls.sum())
    assert separation.accuracy(images, once, real) == 1 and separation.log_likelihood(images, once, real) == -1
    wanted = frechet_distance(real, statistics(images.features))
    assert separation.frechet_real(images, once, real) == pytest.approx(wanted)
    broken = images._replace(log_chances=np.where(np.arange(40) == 3, -np.inf, -1.0))
    assert np.isneginf(separation.log_likelihood(broken, resampled_counts(images.labels, 0), real)).all()
    (found,) = [d for d in differences(fashion, {"A": images, "B": broken}) if d.figure == "log_likelihood"]
    assert found.separated is None and found.value is None


def test_resamples_that_do_not_vary_separate_nothing(fashion, monkeypatch):
    """20 images, both wrong ones of one class: every resample of A has two wrong images and B none."""
    monkeypatch.setattr(separation, "FIGURES", {"label_accuracy": separation.accuracy})
    first = drawn(np.random.default_rng(0), 20, np.zeros(20))
    second = first._replace(right=(first.labels != 3).astype(float))
    (found,) = differences(fashion, {"A": first, "B": second})
    assert found.value == pytest.approx(0.1) and (found.interval, found.separated) == (None, None)
    assert statements([found], {"A": "a", "B": "b"})[0].endswith("resamples do not vary (too few or equal images): 1")
    (same,) = differences(fashion, {"A": first, "B": first})
    assert same.value == 0 and same.separated is False


def test_rounding_is_no_variation(fashion):
    """Equal images in every class, as at temperature 0: whatever differs, resamples say nothing of it."""
    first = drawn(np.random.default_rng(0), 10, np.zeros(10))
    systems = {"A": first, "B": first._replace(calls=first.calls[::-1], log_chances=0.7 * first.log_chances)}
    systems["B"] = systems["B"]._replace(features=1.1 * first.features)
    for name, one in systems.items():
        three = [np.concatenate([column] * 3) for column in one[:-1]]
        systems[name] = PerImage._make([*three, torch.cat([one.features] * 3)])
    found = differences(fashion, systems)
    assert {d.figure for d in found if d.value} == {"frechet_real", "log_likelihood"}
    assert [d.separated for d in found if d.value] == [None, None] and not any(d.separated for d in found)


def test_equal_accuracies_are_rarely_separated(fashion):
    """The fewest images, one of six pairs: 1.1 % of 4,000 trials; more than 70 of 4,000 have a chance below 1e-4, and
    two images a class, 2.1 %, would give about 84."""
    rng, labels, wrong = np.random.default_rng(0), np.arange(FEWEST_IMAGES) % 10, 0
    counts = np.concatenate([np.ones((1, FEWEST_IMAGES)), resampled_counts(labels, 0)])
    for _ in range(4000):
        right = rng.random((2, FEWEST_IMAGES)) < 0.9
        values = {name: counts @ some / FEWEST_IMAGES for name, some in zip("AB", right, strict=True)}
        wrong += bool(separation.difference("label_accuracy", "AB", values, labels, 6).separated)
    assert wrong <= 70


def test_many_separated_pairs_are_counted():
    found = [Difference("tokens_per_call", "A", "B", 0.5, [0.2, 0.8], True)] * 20
    said = statements(found, {"A": "a", "B": "b"})[0]
    assert said.count("a > b") == separation.MOST_SAID and "and 12 more, in the JSON" in said


def test_statements_name_both_sides():
    found = [
        Difference("tokens_per_call", "A", "B", 0.5, [0.2, 0.8], True),
        Difference("tokens_per_call", "A", "C", 0.1, [-0.2, 0.4], False),
        Difference("log_likelihood", "A", "B", None, None, None),
    ]
    said = statements(found, {"A": "a", "B": "b", "C": "c"})
    assert said[0] == "tokens_per_call: separated: a > b by 0.5 [0.2, 0.8]. not separated: 1 of 2 pairs"
    assert "not comparable (tokens the target never emits): 1" in said[3]


def test_refusals(tmp_path):
    for fields, named in (
        ({"images": 3}, "images = 3"), ({"seeds": ()}, "seeds"), ({"seeds": (1, 1)}, "seeds"),
        ({"seeds": (MOST_SEED,)}, "seeds"), ({"pilot": 0}, "pilot = 0"), ({"model": "lumina"}, "lumina"),
        ({"batch": 0}, "batch"),
    ):  # fmt: skip
        with pytest.raises(SpecsimError, match=named):
            Setting(**fields)
    assert seeds_of("0 1,2") == (0, 1, 2)
    with pytest.raises(SpecsimError, match="'0 x' are not whole numbers"):
        seeds_of("0 x")
    with pytest.raises(SpecsimError, match="takes no rule"):
        compare_images(Setting(), [(Autoregressive(), Strict())], None, tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_cost_by_sampling(fashion):
    """Cost, draft calls and width are those of the very same runs; the formula stands beside chains only."""
    seen: list = []
    plan, price = Plan("fashion", Chain(1), Lenient(1.5), 4, seed=3, batch=4), Prices(0.1, 0.02)
    decoders = [Chain(), RelaxedBonus(), Jacobi(4, "maximal")]
    content = cost_of_images(plan, decoders, price, 2, lambda *done: seen.append(done))
    assert seen[-1] == (6, 6) and content["schema"] == "specsim.cost/1"
    chain, bonus, window = content["decoders"]
    row = chain["sizes"][1]
    done = decode(Plan("fashion", Chain(2), Lenient(1.5), 4, seed=3, batch=4), fashion)
    drafted = costing.per_image(done, "drafted")
    cost = done.calls + 0.12 * drafted
    assert row["cost"] == pytest.approx(cost.mean()) and row["speed_up"] == pytest.approx(49 * 4 / cost.sum())
    assert row["speed_up_interval"][0] <= row["speed_up"] <= row["speed_up_interval"][1]
    assert bonus["sizes"][0]["draft_calls"] == pytest.approx(
        bonus["sizes"][0]["further_tokens_in_calls"] + bonus["sizes"][0]["expected_calls"]
    )
    assert {row["draft_calls"] for row in window["sizes"]} == {0} and window["naive_best"] is None
    assert 0 < chain["acceptance"] < 1
    with pytest.raises(SpecsimError, match="no lookahead or window"):
        cost_of_images(plan, [Autoregressive()], price, 2)
