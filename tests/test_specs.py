"""A spec is a repr: what is read back, and what is refused with which line."""

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from specsim.errors import SpecsimError
from specsim.specs import describe, parse


@dataclass(frozen=True)
class Strict: ...


@dataclass(frozen=True)
class Annealed:
    delta: float = 1.1
    nu: float = 0.7
    clamp: bool = True

    def __post_init__(self) -> None:
        if not self.delta >= 1:
            raise SpecsimError(f"Annealed: delta={self.delta} is below 1")


@dataclass(frozen=True)
class Window:
    size: int
    name: str | None = None
    exact: Fraction = Fraction(1)
    steps: tuple[int, ...] = ()
    rule: Any = Strict()


@dataclass(frozen=True)
class Touchy:
    value: float

    def __post_init__(self) -> None:
        raise ValueError("several\nlines")


def maximal(law: object) -> object:
    """A plain function, as a coupling is."""
    return law


KNOWN = {"Strict": Strict, "Annealed": Annealed, "Window": Window, "Touchy": Touchy, "maximal": maximal}
EXTRA = {"Fraction": Fraction}

OWN = """
from __future__ import annotations
from dataclasses import dataclass
from specsim.errors import SpecsimError

@dataclass(frozen=True)
class Mine:
    gain: float = 2.0
    inner: object = None
"""


def read(text: str) -> Any:
    return parse(text, KNOWN, "rule", EXTRA)


def refusal(text: str) -> str:
    """The error's one line."""
    with pytest.raises(SpecsimError) as caught:
        read(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    return str(caught.value)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own (1).py"
    path.write_text(OWN)
    return path


@pytest.mark.parametrize(
    "thing",
    [
        Strict(),
        Annealed(),
        Annealed(delta=2, nu=-0.5, clamp=False),
        Window(3, name="a.py:b(c)", steps=(1, -2), rule=Annealed(1.5)),
        Window(1, name=None, exact=Fraction(1, 3), rule=(1, (Strict(),), "x", None, True)),
        Window(-(10**300)),
        Annealed(delta=1e300, nu=5e-324),
    ],
    ids=repr,
)
def test_a_repr_reads_back(thing: object) -> None:
    assert read(repr(thing)) == thing


def test_short_forms() -> None:
    assert read(" Strict ") == read("Strict()") == Strict()
    assert read("Annealed(1.2, nu=0)") == Annealed(1.2, nu=0)
    assert read("Window(2, rule=Annealed)") == Window(2, rule=Annealed())
    assert read("maximal") is maximal
    assert read("Window(2, rule=maximal)").rule is maximal


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ["empty rule", "Annealed, Strict"]),
        ("Annealed([1])", ["[1]"]),
        ("strct", ["unknown rule", "'strct'", "did you mean 'Strict'", "Annealed, Strict, Touchy"]),
        ("ANNEALED(2)", ["did you mean 'Annealed'"]),
        ("Fraction(1, 2)", ["unknown rule", "'Fraction'"]),
        ("Window(1, rule=Strct)", ["unknown name 'Strct'", "did you mean 'Strict'", "Fraction"]),
        ("Annealed(dleta=2)", ["no field 'dleta'", "did you mean 'delta'", "delta: float = 1.1, nu: float"]),
        ("Strict(1)", ["too many positional", "Strict()"]),
        ("Window()", ["'size'", "size: int", "name: str | None = None"]),
        ("Annealed(1, delta=2)", ["multiple values", "'delta'"]),
        ("Annealed(delta=1, delta=2)", ["'delta' is given twice"]),
        ("Annealed(**Strict)", ["** is not allowed"]),
        ("Annealed(*Strict)", ["*Strict", "is not a finite number"]),
        ("Annealed(delta='2')", ["delta='2' has the wrong type", "delta: float = 1.1"]),
        ("Annealed(delta=True)", ["delta=True has the wrong type"]),
        ("Annealed(clamp=1)", ["clamp=1 has the wrong type"]),
        ("Window(1.5)", ["size=1.5 has the wrong type"]),
        ("Annealed(1e999)", ["'1e309' is not a finite number"]),
        ("Annealed(-1e999)", ["'-1e309' is not a finite number"]),
        ("Annealed(0x" + "f" * 9000 + ")", ["is not a finite number"]),
        ("Annealed(1" + "0" * 9000 + ")", ["cannot be read"]),
        ("Annealed(1j)", ["1j"]),
        ("Annealed(2**3)", ["'2 ** 3' is not a finite number"]),
        ("Window(1, name=b'x')", ["b'x'"]),
        ("Window(1, name=f'x')", ["f'x'"]),
        ("Window(1, name=r'x' '\\d')", ["cannot be read"]),
        ("Window(1, rule=Strict.__class__)", ["Strict.__class__"]),
        ("Window(1, rule=Strict()())", ["does not call a plain name"]),
        ("Touchy(1)", ["Touchy: several lines", "Touchy(value: float)"]),
        ("Window(1, exact=Fraction(1, 0))", ["Fraction: Fraction(1, 0)"]),
        ("1.1", ["'1.1' is not a name or a call", "Annealed, Strict"]),
        ("a.b(1)", ["is not a name or a call"]),
        ("__import__('os')", ["unknown rule", "'__import__'"]),
        ("Strict(", ["cannot be read", "never closed"]),
        ("Strict\x00", ["cannot be read"]),
        ("x" * 10_000, ["unknown rule"]),
        ("(" * 5_000, ["cannot be read"]),
        ("Annealed(" + "-" * 900 + "1)", ["is not a finite number"]),
        ("missing.py:Mine", ["cannot read missing.py: No such file"]),
        ("bad\x00.py:Mine", ["cannot read"]),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_bad_text_is_one_clear_line(text: str, wanted: list[str]) -> None:
    line = refusal(text)
    assert all(part in line for part in wanted), line


def test_a_constructors_own_line_is_left_as_it_is() -> None:
    assert refusal("Annealed(delta=0.5)") == "Annealed: delta=0.5 is below 1"


def test_describe() -> None:
    assert describe(Strict) == "Strict()"
    assert describe(Annealed) == "Annealed(delta: float = 1.1, nu: float = 0.7, clamp: bool = True)"
    assert describe(maximal) == "maximal(law: object)"


def test_a_users_own_file(own: Path) -> None:
    before = list(sys.path)
    mine = read(f"{own}:Mine(gain=3, inner=Annealed(2))")
    assert repr(mine) == f"Mine(gain=3, inner={Annealed(2)!r})"
    assert mine == read(f"{own}:Mine(3, Annealed(delta=2))"), "the same file is the same class"
    assert read(f"{own}:Mine(inner=Mine)").inner == read(f"{own}:Mine")
    assert sys.path == before


def test_an_edited_file_is_read_anew(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert read(f"{own}:Mine").gain == 2
    own.write_text(OWN.replace("2.0", "5.0"))
    assert read(f"{own}:Mine").gain == 5
    assert not list(own.parent.glob("__pycache__"))


def test_what_an_own_file_lacks(own: Path) -> None:
    for text in (f"{own}:Mne", f"{own}:", str(own)):
        line = refusal(text)
        assert line.endswith("known: Mine") and "own (1).py" in line, line
    assert "did you mean 'Mine'" in refusal(f"{own}:Mne")
    assert "no field 'gian'" in refusal(f"{own}:Mine(gian=2)")
    assert "unknown rule" in refusal(f"{own}:Strict"), "a known name only around the file's own"
    assert "unknown rule" in refusal(f"{own}:Window(1, rule=Strict)")


def test_a_known_name_around_an_own_one(own: Path) -> None:
    assert read(f"{own}:Window(1, rule=Mine(3))") == Window(1, rule=read(f"{own}:Mine(3)"))
    assert read(f"{own}:Window(1, rule=Mine)").rule == read(f"{own}:Mine")


@pytest.mark.parametrize("text", ["Window(1, rule=my.py:Mine())", "Window(my.py:Mine(2), 3)"])
def test_a_file_inside_a_spec_is_told_where_to_go(text: str) -> None:
    assert refusal(text).endswith(f"a file comes first; write 'my.py:{text.replace('my.py:', '')}'")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").mkdir()
    assert "Is a directory" in refusal(f"{tmp_path}/own.py:Mine")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("x = 1\ndef broken(:\n", "SyntaxError: invalid syntax (line 2)"),
        ("raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("x = '\\0'\n\0", "null bytes"),
        ("x = '\udcff'", "SyntaxError"),
    ],
)
def test_an_own_file_that_fails(tmp_path: Path, source: str, wanted: str) -> None:
    path = tmp_path / "own.py"
    path.write_bytes(source.encode(errors="surrogateescape"))
    before = set(sys.modules)
    line = refusal(f"{path}:Mine")
    assert "own.py fails to load: " in line and wanted in line, line
    assert set(sys.modules) == before
