"""`specsim report`: every system has its row, the verdicts are exact, the page stands alone."""

import json
import re

import pytest

from gpu_eval.report.command import report_to_directory
from gpu_eval.report.rows import exact_figures, toy_models
from gpu_eval.report.systems import SYSTEMS
from specsim.errors import SpecsimError

LOSSLESS = {"AR", "SD", "SJD", "SCD-MC", "SCD-GS", "race (AR)", "race (Jacobi)", "race (chain)"}


def test_exact_verdicts():
    """Lossless systems are exactly so; relaxed ones and the stale variant are not."""
    models = toy_models()
    found = {system.name: exact_figures(system, *models) for system in SYSTEMS}
    assert {name for name, (tv, _) in found.items() if tv == 0} == LOSSLESS
    assert found["AR"][1] == 4 and all(1 < calls < 4 for name, (_, calls) in found.items() if "AR" not in name)
    assert 0 < found["SCD-MC, stale"][0] < 0.05


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    seen = []
    content = report_to_directory(out, 2, 0, lambda done, of: seen.append((done, of)))
    assert seen[-1] == (len(SYSTEMS), len(SYSTEMS))
    return out, content


def test_every_system_is_on_every_page(pages):
    out, content = pages
    html, markdown = (out / "report.html").read_text(), (out / "report.md").read_text()
    for system in SYSTEMS:
        assert f"<td>{system.name}</td>" in html and f"| {system.name} |" in markdown
    assert [row["system"] for row in content["systems"]] == [system.name for system in SYSTEMS]
    assert content == json.loads((out / "report.json").read_text())


def test_the_page_needs_nothing_else(pages):
    html = (pages[0] / "report.html").read_text()
    assert not re.search(r'(src|href)="(?!data:)', html) and html.count("data:image/png;base64,") == 4
    assert 'name="viewport"' in html


def test_markdown_pictures_exist(pages):
    out = pages[0]
    names = re.findall(r"!\[.*?\]\((.*?)\)", (out / "report.md").read_text())
    assert len(names) == 4 and all((out / name).stat().st_size > 1000 for name in names)


def test_warning_is_said(pages):
    assert "stores the old draft law" in (pages[0] / "report.html").read_text()


def test_bad_input_writes_nothing(tmp_path):
    with pytest.raises(SpecsimError, match="images = 0"):
        report_to_directory(tmp_path / "r", 0, 0)
    assert not (tmp_path / "r").exists()
