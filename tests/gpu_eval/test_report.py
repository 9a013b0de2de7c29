"""`specsim report`: every system has its row, the verdicts are exact, the page stands alone."""

import json
import re
from html import escape

import matplotlib.pyplot as plt
import pytest

from gpu_eval.report import command, plots
from gpu_eval.report.command import PICTURES, report_to_directory
from gpu_eval.report.rows import exact_figures, table_models
from gpu_eval.report.systems import SYSTEMS
from specsim.errors import SpecsimError

LOSSLESS = {
    *("AR", "SD", "Block verification", "SJD", "SCD-MC", "SCD-GS", "race (AR)", "race (Jacobi)", "race (chain)"),
    *("EAGLE-1 chain", "EAGLE-1 tree", "EAGLE-2 tree"),
}


def test_exact_verdicts():
    """Lossless systems are exactly so; relaxed ones and the stale variant are not."""
    for models in table_models().values():
        found = {system.name: exact_figures(system, models) for system in SYSTEMS}
        assert {name for name, exact in found.items() if exact.tv == 0} == LOSSLESS
        assert {name for name, exact in found.items() if exact.calls == 4} == {"AR", "race (AR)"}
        assert all(1 <= exact.calls <= 4 for exact in found.values())
        assert 0 < found["SCD-MC, stale"].tv < 0.1
        # The rule alone, on the draft's own drafts: a strict rule has no bias even where its decoder has.
        assert found["SCD-MC, stale"].one_token_tv < 1e-12 < found["CSD"].one_token_tv
        assert found["race (Jacobi)"].one_token_tv is None


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    seen = []
    content = report_to_directory(out, 4, 0, lambda done, of: seen.append((done, of)))
    assert seen[-1] == (len(SYSTEMS), len(SYSTEMS))
    return out, content


def test_every_system_is_on_every_page(pages):
    out, content = pages
    html, markdown = (out / "report.html").read_text(), (out / "report.md").read_text()
    for system in SYSTEMS:
        assert html.count(f"<td>{escape(system.name)}</td>") == markdown.count(f"| {system.name} |") == 3
    assert [row["system"] for row in content["systems"]] == [system.name for system in SYSTEMS]
    assert content == json.loads((out / "report.json").read_text())


def test_the_page_needs_nothing_else(pages):
    html = (pages[0] / "report.html").read_text()
    assert not re.search(r'(src|href)="(?!data:)', html) and html.count("data:image/png;base64,") == len(PICTURES)
    assert 'name="viewport"' in html


def test_markdown_pictures_exist(pages):
    out = pages[0]
    names = re.findall(r"!\[.*?\]\((.*?)\)", (out / "report.md").read_text())
    assert len(names) == len(PICTURES) and all((out / name).stat().st_size > 1000 for name in names)


def test_a_name_that_looks_like_a_formula_is_drawn_as_written(monkeypatch):
    def draw(rows):
        figure, axes = plt.subplots(figsize=(1, 1))
        axes.set_title(rows[0])
        return plots.png_of(figure)

    monkeypatch.setattr(command, "PICTURES", {"title": ("name.png", draw)})
    name, drawn = command.pictures(["$x_{$"])["title"]
    assert name == "name.png" and drawn.startswith(b"\x89PNG")


def test_warning_is_said(pages):
    assert "stores the old draft law" in (pages[0] / "report.html").read_text()


def test_bad_input_writes_nothing(tmp_path):
    for images, seed, said in ((0, 0, "images = 0"), (1, 0, "images = 1"), (4, 2**64 - 1, f"seed = {2**64 - 1}")):
        with pytest.raises(SpecsimError, match=said):
            report_to_directory(tmp_path / "r", images, seed)
    assert not (tmp_path / "r").exists()
    (tmp_path / "taken" / "report.json").mkdir(parents=True)
    with pytest.raises(SpecsimError, match=r"report\.json is not a regular file"):
        report_to_directory(tmp_path / "taken", 4, 0)
