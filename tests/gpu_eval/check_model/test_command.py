"""specsim check-model as its user meets it: exit statuses, one line for bad input, JSON for machines."""

import json
import sys

import pytest

pytest.importorskip("transformers")

from specsim import cli
from tests.gpu_eval.check_model import mutants as m

OWN = f"{m.EXAMPLE}:make"
FORWARD = "from specsim.files import load_module\nmade = load_module({example!r}).make()\n"


@pytest.fixture
def specsim(capsys, monkeypatch):
    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["specsim", "check-model", *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture
def file(tmp_path):
    """A user's file -> its path; `made` in it is the example's model."""

    def write(text: str) -> str:
        path = tmp_path / "own.py"
        path.write_text(FORWARD.format(example=str(m.EXAMPLE)) + text)
        return str(path)

    return write


def test_json_says_how_much_was_looked_at(specsim):
    status, out, _ = specsim(OWN, "--rows", "3", "--seed", "5", "--json")
    content = json.loads(out)
    assert status == 0 and content["schema"] == "specsim.check-model/1" and content["verdict"] == "holds"
    assert (content["rows"], content["seed"], content["vocab"], content["length"]) == (3, 5, 24, 16)
    assert {item["verdict"] for item in content["items"]} == {"holds"}
    (rollback,) = (item for item in content["items"] if item["item"] == "rollback")
    assert all(look["looked"].startswith("12 calls, ") for look in rollback["looks"])
    assert all(0 <= look["measured"] <= look["limit"] == content["rounding_limit"] for look in rollback["looks"])


WRONG_ROWS = """
from dataclasses import replace
def make():
    def network(prompts, guided):
        return made.network([prompts[0]] * len(prompts), guided)
    return replace(made, network=network)
"""


def test_a_failure_is_named_and_exit_status_1(specsim, file):
    path = file(WRONG_ROWS)
    status, out, err = specsim(f"{path}:make", "--rows", "2")
    assert status == 1 and "fails: rows" in out and "rollback" in out and f"rows: does not hold of {path}:make" in err


BAD = {
    "no file": ("/nowhere/own.py:make", "cannot read /nowhere/own.py"),
    "no spec": ("fashion", "give FILE.py:function"),
    "no function": ("{path}:maek", "did you mean 'make'?"),
    "loads badly": ("{path}:make", "own.py:4: ZeroDivisionError: division by zero (while loading)"),
    "raises": ("{path}:make", "own.py:5: ValueError: no such weights (while making the model)"),
    "called with too much": ("{path}:make(1, 2)", "make: too many positional arguments; it is make()"),
    "called and raises": ("{path}:make()", "own.py:5: ValueError: no such weights (while loading)"),
    "no Python": ("{path}:make", "fails to load: SyntaxError"),
    "returns another thing": ("{path}:make", "gives 7, which lacks name, prompts, network, grid, codebook, paint"),
    "raises in the network": ("{path}:make", "own.py:6: KeyError: 'prompts' (while making a network)"),
    "raises while asked": ("{path}:make", "own.py:9: ValueError: no (while looking at: logits)"),
}
TEXTS = {
    "no function": "def make():\n    return made\n",
    "loads badly": "\n1 / 0\n",
    "raises": "\ndef make():\n    raise ValueError('no such weights')\n",
    "called with too much": "def make():\n    return made\n",
    "called and raises": "\ndef make():\n    raise ValueError('no such weights')\n",
    "no Python": "def make(:\n",
    "returns another thing": "def make():\n    return 7\n",
    "raises in the network": (
        "from dataclasses import replace\ndef make():\n"
        "    return replace(made, network=lambda\n        prompts, guided: {}['prompts'])\n"
    ),
    "raises while asked": (
        "from dataclasses import replace\ndef make():\n    inner = made.network\n    def network(prompts, guided):\n"
        "        def embed(tokens):\n            if tokens.any():\n                raise ValueError('no')\n"
        "            return lined.network.embed(tokens)\n        lined = inner(prompts, guided)\n"
        "        return replace(lined, network=replace(lined.network, embed=embed))\n"
        "    return replace(made, network=network)\n"
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_status_2(specsim, file, case):
    spec, words = BAD[case]
    status, out, err = specsim(spec.format(path=file(TEXTS.get(case, ""))))
    assert status == 2 and not out and words in err and err.count("\n") == 1


def test_weights_and_rows_that_cannot_be(specsim, file):
    assert "no such folder" in specsim(OWN, "--weights", "/nowhere")[2]
    assert "rows = 1 must be a whole number from 2 to 64" in specsim(OWN, "--rows", "1")[2]
    path = file("def make():\n    return made\n")
    assert "takes 0 positional arguments but 1 was given" in specsim(f"{path}:make", "--weights", ".")[2]
