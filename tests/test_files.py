"""Files: written whole or not at all, read with errors that name the file."""

import os
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from specsim.errors import SpecsimError
from specsim.files import (
    collide,
    load_module,
    read_json,
    ready_directory,
    ready_file,
    write_bytes,
    write_text,
    write_together,
)


def refusal(action: Callable[[], Any], *wanted: str) -> None:
    with pytest.raises(SpecsimError) as caught:
        action()
    line = str(caught.value)
    assert "\n" not in line
    assert all(part in line for part in wanted), line


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "ünï.txt"
    write_text(path, "first")
    write_text(str(path), "ä\r\nb\n")
    assert path.read_bytes() == b"\xc3\xa4\r\nb\n"
    assert os.listdir(tmp_path) == [path.name]


def test_the_umask_decides_the_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "data", b"\0")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "data"
    path.write_text("old")

    def fail(*_: object) -> None:
        assert len(os.listdir(tmp_path)) == 2, "the draft lies in the same directory"
        raise error

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(SpecsimError if isinstance(error, OSError) else KeyboardInterrupt):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["data"]


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "x")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real" / "data")
    write_text(link, "x")
    assert link.is_symlink() and (tmp_path / "real" / "data").read_text() == "x"


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    refusal(lambda: write_text(tmp_path, "x"), str(tmp_path), "not a regular file")
    refusal(lambda: write_text(tmp_path / "pipe", "x"), "pipe", "not a regular file")
    refusal(lambda: write_text(os.devnull, "x"), os.devnull, "not a regular file")
    refusal(lambda: write_text(tmp_path / "none" / "x", "x"), "none/x", "No such file or directory")
    refusal(lambda: write_text(tmp_path / "file" / "x", "x"), "file/x", "Not a directory")
    refusal(lambda: write_text("\0", "x"), "null")
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


def test_a_directory_is_proved_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    assert ready_directory(str(path), ["x"]) == path and os.listdir(tmp_path) == []
    path.mkdir(parents=True)
    (path / "kept").write_text("x")
    assert ready_directory(path, ["kept", "new"]) == path
    assert os.listdir(path) == ["kept"] and (path / "kept").read_text() == "x"


def test_names_are_proved_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere" / "x")
    for name, said in (("taken", "not a regular file"), ("n" * 256, "too long"), ("lost", "No such file")):
        refusal(lambda name=name: ready_directory(tmp_path, ["fine", name]), str(tmp_path), said)
        refusal(lambda name=name: ready_file(tmp_path / name), str(tmp_path), said)
    refusal(lambda: ready_directory(tmp_path / "a" / "b", ["n" * 256]), "too long")
    for nothing in ("", "/", "."):
        refusal(lambda nothing=nothing: ready_file(nothing), "names no file")
    assert ready_file(tmp_path / "c" / "x") == tmp_path / "c" / "x"
    assert sorted(os.listdir(tmp_path)) == ["lost", "taken"]


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("a", "a/b", True),
        ("a/b/c", "a", True),
        ("a/b", "a/c", False),
        ("ab", "a", False),
        ("link/x", "real/x", True),
    ],
)
def test_paths_that_cannot_both_be_files(tmp_path: Path, one: str, other: str, wanted: bool) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert collide(tmp_path / one, tmp_path / other) is wanted


def test_a_directory_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    refusal(lambda: ready_directory(tmp_path / "file"), "file is not a directory")
    refusal(lambda: ready_directory(tmp_path / "file" / "a" / "b"), "file/a/b: ", "is not a directory")
    refusal(lambda: ready_directory(""), "empty path")
    refusal(lambda: ready_directory("a\0b"), "null")
    refusal(lambda: ready_directory(tmp_path / ("n" * 256)), "File name too long")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a read-only file system at hand")
@pytest.mark.parametrize("path", ["/proc/results", "/proc/self/results", "/proc/self"])
def test_a_read_only_file_system(path: str) -> None:
    refusal(lambda: ready_directory(path), f"cannot write in directory {path}: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_directory_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    refusal(lambda: ready_directory(tmp_path), "Permission denied")
    refusal(lambda: ready_directory(tmp_path / "a"), "Permission denied")


@pytest.fixture
def json_of(tmp_path: Path) -> Callable[..., Any]:
    def read(text: str | bytes, exact: bool = False) -> Any:
        path = tmp_path / "table.json"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_json(path, exact)

    return read


def test_numbers_are_kept_as_written(json_of: Callable[..., Any]) -> None:
    text = '{"a": [0.1, -2.50, 1e-3, 3, 0.0, 0e999999999, true, null, "0.1"]}'
    exact = json_of(text, exact=True)["a"]
    tenth = Fraction(1, 10)
    assert exact == [tenth, Fraction(-5, 2), Fraction(1, 1000), 3, 0, 0, True, None, "0.1"]
    assert [type(value) for value in exact[:6]] == [Fraction] * 3 + [int] + [Fraction] * 2
    assert json_of(text)["a"][:4] == [0.1, -2.5, 0.001, 3]
    assert type(json_of(text)["a"][0]) is float


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "line 1: Expecting value"),
        ('{"a": 1,\n\n "b": }', "line 3: Expecting value"),
        ("[1] [2]", "line 1: Extra data"),
        ("\ufeff[1]", "line 1: Unexpected UTF-8 BOM"),
        (b'["\xff"]', "not UTF-8 text: byte 2"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[Infinity]", "Infinity is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("[1e999]", "1e999 is out of range"),
        ("[-1E999999999]", "-1E999999999 is out of range"),
        ('{"a": 1, "b": 2, "a": 1}', "the key 'a' is given twice"),
        ('[{"x": {"": 1, "": 2}}]', "the key '' is given twice"),
        ("[1" + "0" * 9000 + "]", "not usable JSON"),
        ("[" * 100_000, "not usable JSON"),
    ],
    ids=range(14),
)
def test_json_that_is_refused(json_of: Callable[..., Any], text: str | bytes, wanted: str, exact: bool) -> None:
    refusal(lambda: json_of(text, exact), "table.json", wanted)


def test_a_number_too_small_for_a_float_is_not_zero(json_of: Callable[..., Any]) -> None:
    refusal(lambda: json_of("[1e-999999999]", exact=True), "1e-999999999 is out of range")


def test_json_that_cannot_be_read(tmp_path: Path) -> None:
    refusal(lambda: read_json(tmp_path / "none.json"), "none.json", "No such file")
    refusal(lambda: read_json(tmp_path), "Is a directory")
    refusal(lambda: read_json("\0"), "null")


def test_files_written_together_are_all_there_or_none(tmp_path: Path) -> None:
    """A name that is taken by a directory, found before anything is replaced."""
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(SpecsimError, match="b is not a regular file"):
        write_together(tmp_path, {"a": b"new", "b": b"new"})
    assert (tmp_path / "a").read_text() == "old" and sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    write_together(tmp_path / "new" / "deep", {"c": b"x"})
    assert (tmp_path / "new" / "deep" / "c").read_bytes() == b"x"
    (tmp_path / "b").rmdir()
    write_together(tmp_path, {"a": b"new", "b": b"new"})
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"new", b"new"] and len(list(tmp_path.iterdir())) == 3


def test_an_endless_file_is_refused(tmp_path: Path) -> None:
    """A device, and a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        for read in (read_json, load_module):
            with pytest.raises(SpecsimError, match="not a regular file"):
                read(path)
