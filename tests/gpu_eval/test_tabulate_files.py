"""Tables of real models as files: the shipped ones, what a file says of itself, refusals."""

import io
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

import specsim
from gpu_eval.digits import pictures
from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.tabulate.command import figures, tabulate_to_files, tabulate_view
from gpu_eval.tabulate.plan import TablePlan, Tabulated
from gpu_eval.tabulate.sources import SOURCES, tabulate
from specsim.errors import SpecsimError
from specsim.table_files import read_table
from specsim.tables import Table

TOYS = Path(specsim.__file__).parent / "toys"
FLOAT64_ROUNDING = 1e-8  # laws of a four-layer network in float64, and a stated distance to 9 decimals
SHORT = TablePlan("fashion", vocab=3, length=3)


@pytest.fixture(scope="module")
def model():
    return load_fashion(dtype=torch.float64)


@pytest.fixture(scope="module")
def short():
    return tabulate(SHORT)


def shipped(name):
    target, draft = TOYS / f"{name}_target.json", TOYS / f"{name}_draft.json"
    return json.loads(target.read_text())["about"], read_table(target), read_table(draft)


@pytest.mark.parametrize("name", ["fashion", "digits"])
def test_shipped_tables_are_made_by_their_command(name, tmp_path):
    about, target, draft = shipped(name)
    assert about["command"].startswith(f"specsim tabulate --model {name} --vocab 3 --length 4 --start ")
    given = {key: about[key] for key in ("model", "vocab", "length", "start", "label", "seed") if key in about}
    done = tabulate(TablePlan(**given))
    # On another CPU a law may round to the neighbouring multiple of 1/denominator; counted laws may not differ at all.
    unit = Fraction(1, about["denominator"]) if name == "fashion" else 0
    for made, kept in ((done.target, target), (done.draft, draft)):
        assert abs(made.laws - kept.laws).max() <= unit
        assert np.allclose(made.codebook, kept.codebook, rtol=0, atol=2e-6)  # written to 6 decimals
    for key in ("members", "beginning", "representatives"):
        assert about.get(key) == done.about.get(key)


@pytest.mark.parametrize("name", ["fashion", "digits"])
def test_shipped_tables_are_worth_computing_on(name):
    """Not so easy that every decoder looks alike: draft apart from target, target uncertain, no token excluded."""
    _, target, draft = shipped(name)
    found = figures(Tabulated(target, draft, {}), {})
    assert 0.15 < found["tv_mean"] < 0.4 and found["entropy_nats"] > 0.7
    assert target.renormalised == draft.renormalised == 0 and (target.laws > 0).all() and (draft.laws > 0).all()
    assert specsim.exact(specsim.Chain(3), target, draft).tv(target) == 0
    assert specsim.exact(specsim.Jacobi(3, "maximal_stale"), target).tv(target) > 0


NAMES = {"target": "T.json", "draft": "T.draft.json"}


def test_files_hold_the_tables_and_say_what_they_are(tmp_path):
    steps = []
    content = tabulate_to_files(
        SHORT, tmp_path / "a" / "T.json", progress=lambda done, total: steps.append((done, total))
    )
    assert content["files"] == {role: str(tmp_path / "a" / name) for role, name in NAMES.items()}
    assert steps == [(1, 13), (4, 13), (13, 13)] and content["schema"] == "specsim.tabulate/1"
    done = tabulate(SHORT)
    for role, path in content["files"].items():
        raw = json.loads(Path(path).read_text())
        assert raw["about"] == json.loads(json.dumps({"table": role, **done.about}))
        kept: Table = read_table(path)
        assert (kept.laws == getattr(done, role).laws).all() and kept.renormalised == 0
        assert kept.codebook == done.target.codebook and len(kept.codebook) == 3
    json.dumps(content, allow_nan=False)
    assert [p.name for p in sorted((tmp_path / "a").iterdir())] == ["T.draft.json", "T.json"]


def test_the_view_admits_rounding_and_what_the_table_is_not():
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(tabulate_view(figures(tabulate(SHORT), {"target": Path("T[x].json")})))
    text = console.export_text()
    for words in ("rounding moved a law", "what it is not", "T[x].json", "--denominator 1000", "largest remainders"):
        assert words in text


def test_figures_are_means_under_the_target():
    done = tabulate(TablePlan("digits", 2, 2))
    found = figures(done, {})
    first, second = (
        done.target.at_length(0)[0],
        [abs(a - b).sum() / 2 for a, b in zip(done.target.at_length(1), done.draft.at_length(1), strict=True)],
    )
    by_hand = [abs(first - done.draft.at_length(0)[0]).sum() / 2, sum(first * second)]
    assert found["tv_by_position"] == pytest.approx([float(x) for x in by_hand], abs=1e-12)
    assert found["tv_mean"] == pytest.approx(float(sum(by_hand)) / 2, abs=1e-12) and found["tv_max"] >= max(second)
    mass = specsim.laws.target_mass(done.target, 2).astype(float)
    assert 2 * found["entropy_nats"] == pytest.approx(-(mass * np.log(mass)).sum(), abs=1e-12)


def test_both_files_or_none(tmp_path):
    (tmp_path / "d").mkdir()
    with pytest.raises(SpecsimError, match="regular file"):
        tabulate_to_files(TablePlan("digits", 3, 2), tmp_path / "T.json", tmp_path / "d")
    with pytest.raises(SpecsimError, match="choose another --draft-out"):
        tabulate_to_files(TablePlan("digits", 3, 2), tmp_path / "T.json", tmp_path / "d" / ".." / "T.json")
    assert [p.name for p in tmp_path.iterdir()] == ["d"] and not list((tmp_path / "d").iterdir())
    content = tabulate_to_files(TablePlan("digits", 3, 2), tmp_path / "T.json", tmp_path / "d" / "D.json")
    assert read_table(content["files"]["draft"]).length == 2 and (tmp_path / "T.json").is_file()


BAD = {
    "model": ({"model": "lumina"}, "model = 'lumina' must be one of fashion, digits"),
    "vocab 1": ({"vocab": 1}, "vocab = 1 must be from 2 to 512"),
    "vocab 513": ({"vocab": 513}, "vocab = 513 must be from 2 to 512"),
    "levels": ({"model": "digits", "vocab": 18}, "vocab = 18 must be from 2 to 17"),
    "length 0": ({"length": 0}, "length = 0 must be from 1 to 49"),
    "length 50": ({"length": 50}, "length = 50 must be from 1 to 49"),
    "laws": ({"length": 11}, "need 8.857e+04 laws; at most 20,000 laws"),
    "numbers": ({"vocab": 140, "length": 3}, "need 1.974e+04 laws; at most 20,000 laws and 300,000 numbers"),
    "codes": ({"vocab": 512, "length": 3}, "2.627e+05 laws"),
    "astronomic": ({"vocab": 512, "length": 49}, "laws; at most 20,000"),
    "start": ({"start": 47}, "start = 47 must be from 0 to 46: a picture has 49 tokens"),
    "start -1": ({"start": -1}, "start = -1"),
    "digits start": ({"model": "digits", "start": 62}, "start = 62 must be from 0 to 61"),
    "label": ({"label": 10}, "label = 10 must be a class from 0 to 9"),
    "digits label": ({"model": "digits", "label": -1}, "label = -1"),
    "seed": ({"seed": -1}, "seed = -1"),
    "denominator": ({"denominator": 2}, "denominator = 2 must be from the vocab, 3, to 1000000000"),
    "huge denominator": ({"denominator": 10**10}, "denominator = 10000000000"),
    "digits seed": ({"model": "digits", "seed": 1}, "seed = 1 must be left out"),
    "digits guidance": ({"model": "digits", "processing": Processing(2.0)}, "left out: digits is counted"),
    "digits denominator": ({"model": "digits", "denominator": 1000}, "denominator = 1000 must be left out"),
}


@pytest.mark.parametrize(("change", "line"), BAD.values(), ids=list(BAD))
def test_refusals(change, line, tmp_path):
    with pytest.raises(SpecsimError) as refusal:
        tabulate_to_files(
            TablePlan(**({"model": "fashion", "vocab": 3, "length": 3} | change)), tmp_path / "o" / "T.json"
        )
    assert line in str(refusal.value) and "\n" not in str(refusal.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize("out", ["", ".", "/dev/null", "/dev/null/T.json"])
def test_places_that_hold_no_file(out):
    with pytest.raises(SpecsimError, match=r"regular file|cannot write"):
        tabulate_to_files(TablePlan("digits", 3, 2), out)


def test_sizes_in_the_table_of_sources_are_the_models(model):
    row = SOURCES["fashion"]
    assert (row.vocab, row.positions, row.classes) == (*reversed((model.length, 512)), model.target_net.config.classes)
    assert SOURCES["digits"].positions == pictures().shape[1] and SOURCES["digits"].vocab == pictures().max() + 1
