"""The command line as a user meets it: exit statuses, one clear line for bad input, JSON for machines."""

import functools
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specsim import cli

TOYS = Path(cli.__file__).parents[1] / "toys"
TARGET, DRAFT = str(TOYS / "target.json"), str(TOYS / "draft.json")


def call(capsys, monkeypatch, *words: str) -> tuple[int, str, str]:
    """Run `specsim words..` in this process -> (exit status, stdout, stderr)."""
    monkeypatch.setattr(sys, "argv", ["specsim", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.fixture
def specsim(capsys, monkeypatch):
    return lambda *words: call(capsys, monkeypatch, *words)


def test_rules_and_decoders_are_listed(specsim):
    from specsim import DECODERS, RULES

    for command, known in (("rules", RULES), ("decoders", DECODERS)):
        status, out, _ = specsim(command, "--json")
        assert status == 0
        assert [row["name"] for row in json.loads(out)[command]] == list(known)
        status, out, _ = specsim(command)
        assert status == 0 and all(name in out for name in known)


def test_listing_shows_formulas_whole(specsim):
    """Brackets in a formula are text, not markup."""
    assert "norm[p - q]+" in specsim("rules")[1]


def test_law_of_a_lossless_decoder_is_exactly_zero(specsim):
    status, out, _ = specsim(
        "law", "--target", TARGET, "--draft", DRAFT, "--decoder", "Chain(lookahead=2)", "--exact", "--json"
    )
    content = json.loads(out)
    assert status == 0 and content["schema"] == "specsim.law/1"
    assert content["tv_exact"] == "0" and content["tv"] == 0 and content["mass"] == 1
    assert len(content["law"]) == len(content["law_exact"]) == 3**4
    for key in ("expected_calls", "expected_accepted", "acceptance_by_slot"):
        assert content[key]


def test_law_says_a_biased_rule_is_biased(specsim):
    words = ("law", "--target", TARGET, "--draft", DRAFT, "--decoder", "Chain(2)", "--rule", "Lenient(2.0)", "--exact")
    exact = json.loads(specsim(*words, "--json")[1])
    numerator, denominator = map(int, exact["tv_exact"].split("/"))
    floats = json.loads(specsim(*words[:-1], "--json")[1])
    assert exact["tv"] == numerator / denominator > 0.01
    assert abs(floats["tv"] - exact["tv"]) < 1e-12 and "tv_exact" not in floats
    status, out, _ = specsim(*words)
    assert status == 0 and exact["tv_exact"] in out


def test_infinite_divergence_is_json(specsim, tmp_path):
    """A rule that emits off support has KL inf, for which JSON has no number."""
    laws = {"vocab": 2, "laws": [["1", "0"]]}
    (tmp_path / "t.json").write_text(json.dumps(laws))
    (tmp_path / "d.json").write_text(json.dumps({"vocab": 2, "laws": [["1/2", "1/2"]]}))
    (tmp_path / "all.py").write_text(
        "from specsim import Verdict\nfrom specsim.arrays import number\n"
        "def Everything():\n    return lambda draft, target, position: Verdict(0 * draft + number(1, draft), target)\n"
    )
    out = specsim(
        "law",
        "--target",
        str(tmp_path / "t.json"),
        "--decoder",
        "Jacobi(window=1)",
        "--rule",
        f"{tmp_path}/all.py:Everything()",
        "--json",
    )[1]
    content = json.loads(out)
    assert content["kl"] == "inf" and content["tv"] == 0.5


BAD = {
    "unknown decoder": (("--target", TARGET, "--decoder", "Chan"), "Chan"),
    "unknown field": (("--target", TARGET, "--decoder", "Jacobi(windw=2)"), "windw"),
    "window below 1": (("--target", TARGET, "--decoder", "Jacobi(window=0)"), "window = 0"),
    "lookahead below 1": (("--target", TARGET, "--decoder", "Chain(lookahead=-1)"), "lookahead = -1"),
    "no draft": (("--target", TARGET, "--decoder", "Chain"), "draft"),
    "rule where none is taken": (("--target", TARGET, "--decoder", "Race", "--rule", "Strict"), "takes no rule"),
    "missing file": (("--target", "nowhere.json", "--decoder", "Autoregressive"), "nowhere.json"),
    "too long": (("--target", TARGET, "--decoder", "Autoregressive", "--length", "9"), "9"),
    "eos out of range": (("--target", TARGET, "--decoder", "Autoregressive", "--eos", "7"), "7"),
    "window beyond reason": (("--target", TARGET, "--decoder", "Jacobi(window=10000000)"), "10000000"),
    "race of nothing": (("--target", TARGET, "--decoder", "Race(None)"), "does not race yet"),
    "a rule for a decoder": (("--target", TARGET, "--decoder", "Race(3)"), "does not race yet"),
    "no memory": (("--target", TARGET, "--decoder", "Autoregressive", "--memory", "nan"), "memory nan"),
    "overflow": (("--target", TARGET, "--decoder", "Jacobi(2)", "--rule", "Annealed(nu=-1e308)"), "nu = -1e+308"),
    "usage": (("--target", TARGET, "--decoder", "Autoregressive", "--length", "x"), "--length"),
    "endless file": (("--target", "/dev/zero", "--decoder", "Autoregressive"), "regular file"),
    "does not fit": (("--target", TARGET, "--decoder", "Jacobi(2)", "--memory", "0.00001"), "would fit"),
}


@pytest.mark.parametrize(("words", "named"), BAD.values(), ids=list(BAD))
def test_bad_input_is_one_clear_line(specsim, words, named):
    status, out, err = specsim("law", *words)
    assert status == 2 and out == ""
    assert err.startswith("error:") and err.count("\n") == 1 and named in err and "Traceback" not in err


LAWS = {
    "sum": ({"vocab": 2, "laws": [[0.3, 0.71]]}, "1.01"),
    "negative": ({"vocab": 2, "laws": [[1.5, -0.5]]}, "-0.5"),
    "shape": ({"vocab": 2, "laws": [[0.5, 0.5], [[0.5, 0.5]]]}, "laws[1]"),
    "text": ({"vocab": 2, "laws": [["a half", "1/2"]]}, "a half"),
    "vocab": ({"vocab": 3, "laws": [[0.5, 0.5]]}, "3 numbers"),
    "no laws": ({"vocab": 2}, "laws"),
    "huge": ({"vocab": 2, "laws": [["1e999", "0"]]}, "beyond 1e300"),
    "huge exponent": ({"vocab": 2, "laws": [["1e-99999999", "1"]]}, "1e-99999999"),
    "nested too deep": ({"vocab": 2, "laws": [[[[0.5, 0.5]]]]}, "nested"),
    "codebook": ({"vocab": 2, "laws": [[0.5, 0.5]], "codebook": [[1], [1, 2]]}, "same length"),
    "zero denominator": ({"vocab": 2, "laws": [["1/0", "1"]]}, "1/0"),
}


@pytest.mark.parametrize(("content", "named"), LAWS.values(), ids=list(LAWS))
def test_bad_tables_are_named(specsim, tmp_path, content, named):
    path = tmp_path / "table.json"
    path.write_text(json.dumps(content))
    status, _, err = specsim("law", "--target", str(path), "--decoder", "Autoregressive")
    assert status == 2 and str(path) in err and named in err and err.count("\n") == 1


ROGUES = {
    "ends the program": "raise SystemExit(0)",
    "raises": "raise ZeroDivisionError('by design')",
    "not a verdict": "return 3",
    "not a number": "return Verdict(0 * draft + float('nan'), target)",
    "above 1": "return Verdict(0 * draft + 2, target)",
    "no law": "return Verdict(0 * draft, 2 * target)",
    "complex": "return Verdict(0 * draft + 0.5j, target)",
}


@pytest.mark.parametrize("command", ["law", "run", "check"])
@pytest.mark.parametrize("body", ROGUES.values(), ids=list(ROGUES))
def test_a_rule_that_is_none_is_refused_by_every_command(specsim, tmp_path, body, command):
    """Exit 2 before anything is computed or written, also where the rule would end the program with status 0."""
    (tmp_path / "rogue.py").write_text(
        f"from specsim import Verdict\nclass R:\n    def __call__(self, draft, target, position):\n        {body}\n"
    )
    rule, out = f"{tmp_path}/rogue.py:R", tmp_path / "out"
    words = {
        "law": ("law", "--target", TARGET, "--decoder", "Jacobi(2)", "--rule", rule),
        "run": ("run", "--decoder", "Jacobi(4)", "--images", "1", "--out", str(out), "--rule", rule),
        "check": ("check", rule, "--expect", "lossless"),
    }
    status, stdout, err = specsim(*words[command])
    assert status == 2 and stdout == "" and err.startswith("error:") and err.count("\n") == 1
    assert not out.exists()


def test_a_rule_that_prints_does_not_spoil_the_json(specsim, tmp_path):
    (tmp_path / "loud.py").write_text(
        "from specsim import Strict\nprint('loaded')\nclass R:\n    def __call__(self, *laws):\n"
        "        print('asked')\n        return Strict()(*laws)\n"
    )
    for words in (("law", "--target", TARGET, "--decoder", "Jacobi(2)", "--rule"), ("check",)):
        status, out, err = specsim(*words, f"{tmp_path}/loud.py:R", "--json")
        assert status == 0 and json.loads(out) and "asked" in err


def test_a_constructor_that_makes_nothing_is_no_rule(specsim, tmp_path):
    (tmp_path / "none.py").write_text("class R:\n    def __new__(cls):\n        return None\n")
    status, _, err = specsim("law", "--target", TARGET, "--decoder", "Jacobi(2)", "--rule", f"{tmp_path}/none.py:R")
    assert status == 2 and "gave None" in err


def test_what_cannot_be_printed_is_an_error():
    """A full disk behind stdout: exit 2 and one line, not a status that says the rule failed."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "specsim.cli", "rules"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2 and done.stderr.startswith("error:") and "Traceback" not in done.stderr


def test_no_command_shows_the_help(specsim):
    status, out, err = specsim()
    assert status == 2 and "Commands" in out and err == ""


@pytest.mark.parametrize("words", [["--help"], ["rules"], ["rules", "--json"]])
def test_a_reader_that_goes_away_is_no_error(words):
    """`specsim rules | head -1` ends in silence."""
    done = subprocess.Popen(
        [sys.executable, "-m", "specsim.cli", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    done.stdout.close()
    assert done.stderr.read() == b"" and done.wait() in (0, 141)
    done.stderr.close()


def test_an_interrupt_ends_in_silence_with_130(tmp_path):
    """And leaves nothing half-written."""
    words = ["run", "--decoder", "Autoregressive", "--images", "5000", "--out", str(tmp_path / "o")]
    line = [sys.executable, "-m", "specsim.cli", *words]
    # A shell's background job ignores interrupts, and so would whatever it starts.
    awake = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    done = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=awake)
    time.sleep(5)  # it may still be starting: an interrupt is silent then as well
    assert done.poll() is None
    done.send_signal(signal.SIGINT)
    out, err = done.communicate(timeout=30)
    assert (done.returncode, out, err) == (130, b"", b"") and not (tmp_path / "o").exists()


def test_version(specsim):
    from specsim import __version__

    assert specsim("--version")[:2] == (0, f"specsim {__version__}\n")


def test_a_failed_expectation_is_said(specsim):
    status, _, err = specsim("check", "Lenient(1.3)", "--expect", "lossless")
    assert status == 1 and "expected lossless" in err and "biased" in err


def test_decimals_are_read_as_written_and_renormalising_is_said(specsim, tmp_path):
    path = tmp_path / "table.json"
    path.write_text('{"vocab": 2, "laws": [[0.1, 0.9], [[0.333333333333, 0.666666666666], [0.5, 0.5]]]}')
    out = specsim("law", "--target", str(path), "--decoder", "Autoregressive", "--exact", "--json")[1]
    content = json.loads(out)
    assert content["renormalised_rows"] == 1 and content["law_exact"][0] == "1/30"


def test_one_token_vocabulary_and_long_windows_are_legal(specsim, tmp_path):
    path = tmp_path / "table.json"
    path.write_text('{"vocab": 1, "laws": [[1], [[1]]]}')
    for decoder in ("Autoregressive", "Jacobi(window=7)", "Jacobi(window=1, continuation='gumbel')", "Race(Jacobi(3))"):
        out = specsim("law", "--target", str(path), "--decoder", decoder, "--exact", "--json")[1]
        assert json.loads(out)["law_exact"] == ["1"]


def test_new_rule_passes_and_is_not_overwritten(specsim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, _ = specsim("new-rule", "MyRule")
    assert status == 0 and "myrule.py" in out
    assert specsim("check", "myrule.py:MyRule")[0] == 0
    assert specsim("check", "myrule.py:MyRule(gamma=1.5)", "--expect", "on-line")[0] == 0
    assert specsim("check", "myrule.py:MyRule", "--expect", "lossless")[0] == 1
    before = (tmp_path / "myrule.py").read_text()
    assert specsim("new-rule", "MyRule")[0] == 2 and (tmp_path / "myrule.py").read_text() == before
    assert specsim("new-rule", "not a name")[0] == 2


IMAGES = ("compare", "Strict", "--model", "fashion")
LONG = "n" * 300
REFUSED = {
    "no size, sampled": (("cost", "--draft-cost", "0.1", "--model", "fashion", "--largest", "0"), "largest = 0"),
    "no size": (("cost", "--draft-cost", "0.1", "--largest", "0"), "largest = 0"),
    "no seeds": ((*IMAGES, "--seeds", ""), "seeds = []"),
    "memory while sampling": ((*IMAGES, "--memory", "3"), "--memory says nothing with --model"),
    "pilot without a goal": ((*IMAGES, "--pilot", "3"), "--pilot says nothing without a goal"),
    "compare, half of the tables": (("compare", "Strict", "--target", TARGET), "needs a draft"),
    "cost, half of the tables": (("cost", "--draft-cost", "0.1", "--target", TARGET), "needs a draft"),
    "cost, the other half": (("cost", "--draft-cost", "0.1", "--draft", DRAFT), "without --target"),
    "compare, a goal too far": (("compare", "Lenient()", "--at-calls", "0.5", "--out", "out"), "no rule reaches 0.5"),
    "cost, one too many": (("cost", "--draft-cost", "1", "--images", "3", "--out", "out"), "--images says nothing"),
    "run, a bad class": (("run", "--decoder", "Jacobi(4)", "--label", "77", "--out", "out"), "label = 77"),
    "compare, a name taken": (("compare", "Strict", "--out", "taken"), "compare.md is not a regular file"),
    "cost, a name taken": (("cost", "--draft-cost", "0.1", "--out", "taken"), "cost.png is not a regular file"),
    "new-rule, a long name": (("new-rule", "X", "--out", f"{LONG}.py"), "File name too long"),
    "tabulate, a long name": (("tabulate", "--model", "digits", "--out", LONG), "File name too long"),
    "run, long laws": (("run", "--decoder", "Jacobi(4)", "--out", "out", "--save-laws", LONG), "File name too long"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "named"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_refused_leaves_nothing_behind(specsim, tmp_path, monkeypatch, words, named):
    monkeypatch.chdir(tmp_path)
    for name in ("compare.md", "cost.png"):
        (tmp_path / "taken" / name).mkdir(parents=True)
    status, out, err = specsim(*words)
    assert status == 2 and out == "" and named in err and err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken"] and len(list((tmp_path / "taken").iterdir())) == 2


@pytest.mark.parametrize(("rule", "expect", "status"), [
    ("Strict", "lossless", 0), ("Strict", "biased", 1), ("Strict", "on-line", 0), ("Lenient(1.3)", "biased", 0),
    ("Lenient(1.3)", "lossless", 1), ("Lenient(0.8)", "on-line", 1), ("Strict", "perfect", 2), ("Strickt", "biased", 2),
])  # fmt: skip
def test_check_exit_status(specsim, rule, expect, status):
    assert specsim("check", rule, "--expect", expect)[0] == status


def test_check_json(specsim):
    status, out, _ = specsim("check", "Additive(0.1)", "--json")
    assert status == 0 and json.loads(out)["schema"].startswith("specsim.check/")


def test_usage_errors_exit_2(specsim):
    assert specsim("law")[0] == 2
    assert specsim("no-such-command")[0] == 2


def test_the_installed_command():
    """The entry point itself, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "specsim.cli", "rules", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["rules"]
