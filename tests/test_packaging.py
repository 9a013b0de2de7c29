"""What the packages may import, how large a file may be, and that the project's files agree."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("specsim", "proofs_checks", "gpu_eval")
HEAVY = ("torch", "hypothesis", "cvxpy", "z3", "matplotlib", "scipy.optimize", "gpu_eval", "proofs_checks")
# The boundary gpu_eval -> specsim <- proofs_checks; specsim/cli/ is above all three, and specsim/testing/, which
# specsim itself never imports, may use Hypothesis.
FORBIDDEN = {
    "specsim": {"torch", "hypothesis", "cvxpy", "z3", "gpu_eval", "proofs_checks"},
    "proofs_checks": {"gpu_eval"},
    "gpu_eval": {"proofs_checks"},
}
CI_INSTALL = 'pip install -e ".[all]"'


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imported(tree: ast.AST) -> set[str]:
    """The top-level packages that any statement imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add("." if node.level else node.module or "")
    return {name.partition(".")[0] or name for name in names}


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_importing_specsim_loads_nothing_heavy() -> None:
    """In a fresh process, since this one has loaded everything."""
    code = f"import sys, specsim; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=short)
def test_the_boundary_between_the_packages(path: Path) -> None:
    if not short(path).startswith("specsim/cli/"):
        package = short(path).partition("/")[0]
        allowed = {"hypothesis"} if short(path).startswith("specsim/testing/") else set()
        assert not imported(ast.parse(path.read_text())) & (FORBIDDEN[package] - allowed)


def test_the_boundary_test_sees_every_import() -> None:
    code = "import numpy.linalg as x\ndef f():\n    from torch.nn import Module\n    from . import y"
    assert imported(ast.parse(code)) == {"numpy", "torch", "."}
    found = {short(path).partition("/")[0] for path in sources(*PACKAGES)}
    assert found == set(PACKAGES), "each package is looked at"


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=short)
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 350


def test_no_path_of_one_machine() -> None:
    """A path that exists on one machine only works for nobody else."""
    pattern = re.compile(r"(?<![\w.~])/(work|home|root|Users|opt)/\w")
    folders = (*PACKAGES, "tests", "benchmarks", "examples", "docs", "results", ".github")
    files = [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    texts = [path for path in files if path.suffix in {".py", ".md", ".toml", ".yml", ".json"}]
    assert [short(path) for path in texts if pattern.search(path.read_text())] == []


def test_the_gate_runs_what_the_readme_says() -> None:
    gate = (ROOT / ".ci" / "run").read_text().splitlines()
    assert CI_INSTALL in gate and "pytest -n auto" in gate
    readme = (ROOT / "README.md").read_text()
    assert CI_INSTALL in readme and re.search(r"^\s*pytest -n auto$", readme, re.MULTILINE)


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"\nversion: {project['version']}\n" in (ROOT / "CITATION.cff").read_text()
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None and first[1] == project["version"]


def test_all_is_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras["all"] == [f"specsim[{','.join(name for name in extras if name != 'all')}]"]
