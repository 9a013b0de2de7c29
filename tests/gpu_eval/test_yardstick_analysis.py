"""The whole analysis on made-up settings, where one divergence is what quality follows."""

from pathlib import Path

import numpy as np
import pytest

from gpu_eval.yardstick import power
from gpu_eval.yardstick.analysis import TOGETHER, analyse
from gpu_eval.yardstick.distances import CANDIDATES, Followed, divergence_figures
from gpu_eval.yardstick.measures import MEASURES, Figure, Weights
from gpu_eval.yardstick.results import SPLITS, Row, figure_json, settings_json
from gpu_eval.yardstick.settings import DECODER, LEVELS, STRICT, Setting
from gpu_eval.yardstick.table import (
    correlation_table,
    other_table,
    power_table,
    read_results,
    scheme_table,
    without_text,
)
from specsim import Lenient
from specsim.divergences import Paths, relaxed_run
from specsim.errors import SpecsimError

RESAMPLES, SEEDS = 100, 4


def figure(value, noise, rng):
    """A figure with the noise of finite images; a part has as many times its variance as it has fewer images."""
    parts = np.concatenate([np.full(2 * SPLITS, 2**0.5), np.full(SEEDS, SEEDS**0.5)])
    found = value + noise * rng.standard_normal()
    again = found + noise * rng.standard_normal(RESAMPLES)
    return Figure(found, again, value + noise * parts * rng.standard_normal(len(parts)))


def world(noise, slope=1.0, seed=0):
    """Twelve schemes at four levels, not quite met; quality follows kl, every other divergence goes its own way."""
    rng, rows = np.random.default_rng(seed), []
    own = {name: rng.standard_normal(12) for name in CANDIDATES}
    for scheme in range(12):
        for number, level in enumerate(LEVELS):
            cost = level + 0.02 * rng.standard_normal()
            far = {name: figure(5 * cost + of[scheme], 0.01, rng) for name, of in own.items()}
            bad = 10 * cost + slope * own["kl"][scheme]
            good = {name: figure(bad, noise, rng) for name in MEASURES}
            name = "uniform" if scheme == 0 else f"scheme {scheme}"
            setting = Setting(f"{name} @ {level}", name, level, DECODER, Lenient(1 + scheme + number))
            rows.append(Row(setting, {"value": cost, "interval": [cost, cost]}, good, far, {}))
    return rows


def test_what_quality_follows_is_found():
    found = analyse(world(0.1), 1000)
    assert found["verdicts"][TOGETHER]["best"] == "kl" and found["verdicts"][TOGETHER]["kind"] == "orders best"
    assert found["correlations"][TOGETHER]["kl"]["spearman"]["value"] > 0.9
    assert all(some["overall"] > 0.5 for some in found["correlations"][TOGETHER].values())  # cost drives them all
    assert all(some["best"] == "kl" for some in found["without"].values()) and len(found["without"]) == 12
    assert all(gap["low"] > 0 for gap in found["leads"][TOGETHER].values()) and "kl" not in found["leads"][TOGETHER]
    assert min(found["reliability"].values()) > 0.9 and found["trust"].startswith("Every measure")


def test_schemes_are_compared_at_the_same_cost():
    """The difference to uniform lenience is that of what quality follows; uniform itself is not listed."""
    rows = world(0.1)
    found = analyse(rows, 1000)["schemes"]
    own = np.random.default_rng(0)
    kl = {name: own.standard_normal(12) for name in CANDIDATES}["kl"]
    assert set(found) == {f"scheme {number}" for number in range(1, 12)}
    for number in range(1, 12):
        gap = found[f"scheme {number}"]["doubt"]
        assert gap["value"] == pytest.approx(kl[number] - kl[0], abs=0.3) and gap["low"] < gap["value"] < gap["high"]
        assert gap["high"] - gap["low"] < 0.5


def test_two_schemes_are_too_few():
    with pytest.raises(SpecsimError, match="schemes at the same level = 2 must be at least 3"):
        analyse([row for row in world(0.1) if row.setting.scheme in ("uniform", "scheme 3")], 1000)


def test_quality_lost_in_noise_is_said_to_be():
    found = analyse(world(20.0, slope=0.0), 1000)
    assert found["verdicts"][TOGETHER]["kind"] != "orders best" and max(found["reliability"].values()) < 0.7
    assert "would not repeat their own order" in found["trust"]


def test_power_is_about_one_level_of_the_unit_scheme():
    """Quality rises by 10 a token per call; a level is a quarter of one on average, from 2.85 to 3.6."""
    found = analyse(world(0.1), 1000)["power"]["doubt"]
    assert found["effect"] == pytest.approx(10 * 0.25, rel=0.1)
    assert found["paired"] == pytest.approx(0.1 * 2**0.5, rel=0.25)
    assert found["between_seeds"]["ratio"] == pytest.approx(1, abs=0.3)


def test_groups_leave_references_out():
    assert [group.tolist() for group in power.level_groups([None, 2.0, 1.0, 2.0])] == [[2], [1, 3]]


def paths(count, seed):
    rng = np.random.default_rng(seed)
    return Paths(*rng.random((len(Paths._fields), count)))


def test_divergences_are_those_of_the_estimator():
    found = Followed(paths(6, 0), paths(8, 1))
    weights = [Weights(np.ones((1, count)), np.zeros((0, count))) for count in (6, 8)]
    figures = divergence_figures(found, *weights)
    assert set(figures) == set(CANDIDATES)
    assert figures["tv"].value == pytest.approx(np.clip(1 - found.plain.ratio, 0, None).mean())
    assert figures["kl"].value == found.own.token_kl.mean() == pytest.approx(figures["kl"].again[0])
    assert figures["kl_reverse"].value == found.plain.token_kl_reverse.mean()
    assert figures["chi2"].value == figures["chi2"].again[0] == np.inf  # tokens off the support
    assert figures["relaxed_run"].value == pytest.approx(relaxed_run(found.own).value)
    assert figures["relaxed_run"].again[0] == pytest.approx(figures["relaxed_run"].value)
    assert figures["largest"].value == figures["largest"].again[0] == found.plain.ratio.max()
    one = Weights(np.eye(6)[:2], np.zeros((0, 6)))
    assert figures["largest"].value >= divergence_figures(found, one, weights[1])["largest"].again.max()
    assert figure_json(figures["chi2"]) == {"value": np.inf, "error": None, "interval": None}


def test_a_rule_without_relaxation_has_runs_of_length_0():
    still = paths(4, 2)._replace(relaxed=np.zeros(4), relaxed_runs=np.zeros(4))
    weights = Weights(np.ones((2, 4)), np.zeros((0, 4)))
    assert divergence_figures(Followed(still, still), weights, weights)["relaxed_run"].again.tolist() == [0, 0]


def test_settings_as_json_hold_errors():
    rng = np.random.default_rng(0)
    row = Row(
        STRICT, {"value": 2.6, "interval": [2.5, 2.7]}, {name: figure(1.0, 0.1, rng) for name in MEASURES}, {}, {}
    )
    found = settings_json([row])[0]
    assert found["rule"] == "Strict()" and found["divergences"] == {} and found["level"] is None
    doubt = found["quality"]["doubt"]
    assert doubt["interval"][1] - doubt["interval"][0] == pytest.approx(2 * 1.96 * doubt["error"], rel=1e-3)


def test_the_page_says_what_the_results_say():
    """docs/yardstick.md holds the verdict and the tables of results/yardstick.json as `--show` prints them."""
    root = Path(__file__).parents[2]
    content, page = read_results(root / "results" / "yardstick.json"), (root / "docs" / "yardstick.md").read_text()
    for part in (correlation_table, other_table, without_text, scheme_table, power_table):
        assert part(content) in page
    assert content["verdicts"][TOGETHER]["text"] in page and content["trust"] in page
