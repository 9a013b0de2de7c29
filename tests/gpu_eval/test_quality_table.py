"""The quality table: what is finished is kept, foreign files are refused, rows are comparable."""

import json
from dataclasses import replace

import pytest

from gpu_eval import quality_table
from gpu_eval.quality.table import FIGURES, POOL_SEEDS, markdown, summary
from gpu_eval.quality_table import main
from specsim import Chain
from specsim.errors import SpecsimError

IMAGES = 20


def arguments(out, *more):
    return ["--images", str(IMAGES), "--seeds", "0", "--systems", "SD", "--out", str(out), *more]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The file of AR and SD, seed 0."""
    out = tmp_path_factory.mktemp("quality") / "deep" / "quality.json"
    assert main(arguments(out)) == 0
    return json.loads(out.read_text())


@pytest.fixture
def decoded(monkeypatch):
    """(decoder, seed) of every set that is decoded."""
    seen, original = [], quality_table.decode

    def decode(plan, fashion, progress=None):
        seen.append((repr(plan.decoder), plan.seed))
        return original(plan, fashion, progress=progress)

    monkeypatch.setattr(quality_table, "decode", decode)
    return seen


def written(tmp_path, content):
    out = tmp_path / "quality.json"
    out.write_text(content if isinstance(content, str) else json.dumps(content))
    return out


def test_every_row_is_complete_and_compared_with_another_seed(finished):
    assert [row["system"] for row in finished["rows"]] == ["AR", "SD"]  # AR is the floor, asked for or not
    for row in finished["rows"]:
        assert row["images"] == IMAGES and row["pool_seed"] != row["seed"] == 0 and "commit" in row
        assert row["frechet_pool"]["value"] > 1 and all(row[name]["interval"] for name in FIGURES)
    assert finished["rows"][0]["tokens_per_call"]["value"] == 1 < finished["rows"][1]["tokens_per_call"]["value"]
    assert finished["command"].startswith("python -m gpu_eval.quality_table --images 20 --seeds 0 --systems SD --out ")
    assert "bootstrap standard errors" in finished["interval"] and "biased upwards" in finished["reading"]


def test_goes_on_where_it_was_stopped(finished, tmp_path, decoded, capsys):
    """Only what is missing is decoded, and the figures are the same; a finished file costs nothing."""
    out = written(tmp_path, finished | {"rows": finished["rows"][:1]})
    assert main(arguments(out, "--json")) == 0
    assert decoded == [("Autoregressive()", quality_table.POOL_SEEDS), ("Chain(lookahead=4)", 0)]
    shown, kept = json.loads(capsys.readouterr().out), json.loads(out.read_text())
    assert shown == kept and kept["rows"] == finished["rows"] and kept["systems"] == finished["systems"]
    assert main(arguments(out)) == 0 and len(decoded) == 2


def test_an_interrupt_keeps_what_is_finished(finished, tmp_path, monkeypatch):
    original = quality_table.decode

    def decode(plan, fashion, progress=None):
        if isinstance(plan.decoder, Chain):
            raise KeyboardInterrupt
        return original(plan, fashion, progress=progress)

    monkeypatch.setattr(quality_table, "decode", decode)
    out = tmp_path / "quality.json"
    assert main(arguments(out)) == 130
    assert json.loads(out.read_text())["rows"] == finished["rows"][:1]


def changed(finished, **fields):
    """The file with a last row that differs."""
    return finished | {"rows": [*finished["rows"][:-1], finished["rows"][-1] | fields]}


FOREIGN = {
    "cut": (lambda f: json.dumps(f)[:-9], "is not JSON"),
    "another schema": (lambda f: f | {"schema": "specsim.run/1"}, "no quality table"),
    "a list": (lambda f: [f], "no quality table"),
    "no rows": (lambda f: {k: v for k, v in f.items() if k != "rows"}, "lacks settings"),
    "another image count": (lambda f: changed(f, images=21), "row 1 has 21 images"),
    "a figure lost": (lambda f: changed(f, log_likelihood=None), "row 1 has no figure log_likelihood"),
    "a negative seed": (lambda f: changed(f, seed=-1), "row 1 has seed -1"),
    "a huge seed": (lambda f: changed(f, seed=10**30), "row 1 has seed 1000"),
    "true for a seed": (lambda f: changed(f, seed=True), "row 1 has seed True"),
    "another pool": (lambda f: changed(f, pool_seed=7), "row 1 has pool_seed 7"),
    "images as text": (lambda f: changed(f, images="20"), "row 1 has '20' images, the table 20"),
    "a figure beyond floats": (lambda f: changed(f, label_accuracy={"value": 10**400}), "row 1 has no figure label"),
    "no accuracy": (lambda f: changed(f, label_accuracy={"value": None}), "row 1 has no figure label"),
    "true for images": (lambda f: f | {"settings": f["settings"] | {"images": True}}, "lacks settings with images"),
    "two lines for a rule": (lambda f: changed(f, rule="a\nb"), "not by today's system"),
    "true for a figure": (lambda f: changed(f, label_accuracy={"value": True}), "row 1 has no figure label"),
    "a row twice": (lambda f: f | {"rows": f["rows"] * 2}, "twice"),
    "other settings": (lambda f: f | {"settings": f["settings"] | {"guidance": 2.0}}, "was made with"),
    "another decoder": (lambda f: changed(f, decoder="Chain(lookahead=5)"), "not by today's system"),
    "an unknown system": (lambda f: changed(f, system="XD"), "not by today's system"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_another_file_is_refused_in_one_line_and_left(finished, tmp_path, decoded, capsys, what):
    change, words = FOREIGN[what]
    out = written(tmp_path, change(finished))
    before = out.read_bytes()
    assert main(arguments(out)) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1 and out.read_bytes() == before and decoded == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--images", "19"], "images = 19"),
        (["--seeds", "1", "1"], "different numbers"),
        (["--seeds", "-1"], "from 0 to"),
        (["--systems", "XD"], "one of AR, SD"),
        (["--out", "n" * 300], "too long"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, capsys, words, said):
    out = tmp_path / "new" / "quality.json"
    assert main(["--out", str(out), *words]) == 2
    assert said in capsys.readouterr().err and not out.parent.exists()


def with_seeds(finished, values):
    """Rows of AR, one for each seed, whose figures all have these values."""
    figures = [{name: {"value": value} for name in FIGURES} for value in values]
    seeds = [{"seed": seed, "pool_seed": POOL_SEEDS + seed} for seed in range(len(values))]
    return [finished["rows"][0] | seed | some for seed, some in zip(seeds, figures, strict=True)]


def test_table_shows_mean_and_spread(finished, tmp_path, capsys):
    """Spread of 1, 2, 6 about 3: sqrt((4 + 1 + 9) / 2) = 2.65."""
    rows = [*with_seeds(finished, [1.0, 2.0, 6.0]), finished["rows"][1] | {"log_likelihood": {"value": None}}]
    assert main(["--show", str(written(tmp_path, finished | {"rows": rows}))]) == 0
    head, _, plain, chain, *_ = capsys.readouterr().out.splitlines()
    assert head == "| system | tokens/call | Frechet to real | Frechet to AR pool | accuracy | log-likelihood |"
    assert plain == "| AR | 3.00 ± 2.65 | 3.00 ± 2.65 | 3.00 ± 2.65 | 3.000 ± 2.646 | 3.000 ± 2.646 |"
    assert chain.startswith("| SD (seeds 0 only) | ") and chain.endswith(" | -inf |") and "±" not in chain
    assert "20 images a row, seeds 0, 1, 2. " in markdown(finished | {"rows": rows})


def test_rows_of_other_image_counts_are_not_put_together(finished):
    with pytest.raises(SpecsimError, match="images"):
        summary(changed(finished, images=21)["rows"])


def test_a_system_that_changed_is_found_out(finished, tmp_path, monkeypatch, capsys):
    systems = [replace(system, real=Chain(7)) if system.name == "SD" else system for system in quality_table.SYSTEMS]
    monkeypatch.setattr(quality_table, "SYSTEMS", systems)
    assert main(arguments(written(tmp_path, finished))) == 2
    assert "'SD' was made by 'Chain(lookahead=4)', 'Strict()'" in capsys.readouterr().err
