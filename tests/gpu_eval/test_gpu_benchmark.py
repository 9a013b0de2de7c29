"""The benchmark for a GPU, run small on the CPU: all of it runs, and what it says follows from what it measured."""

import contextlib
import io
import json
import time
import warnings

import pytest
import torch

from benchmarks import gpu
from benchmarks.gpu_parts import batches
from benchmarks.gpu_parts import bench as benches
from benchmarks.gpu_parts.bench import NO_TIME, Bench, Part
from benchmarks.gpu_parts.calls import PUBLISHED, fitting, label
from benchmarks.gpu_parts.sizes import SIZES, llama, shrunk, some_tokens
from benchmarks.gpu_parts.steps import Series, System, calls_from, prefill, systems
from benchmarks.gpu_parts.table import problems
from benchmarks.gpu_parts.waits import WORDS, counting
from gpu_eval.transformer import Transformer
from specsim import Autoregressive, Chain, Jacobi

CPU = torch.device("cpu")
ROUNDING = 1e-12  # float64 products and quotients of the same numbers
NAMED = 0.02  # names round the number of parameters


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(the result, what was printed) of a small run."""
    path, printed = tmp_path_factory.mktemp("gpu") / "gpu.json", io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert gpu.main(["--small", "--device", "cpu", "--out", str(path)]) == 0
    return json.loads(path.read_text()), printed.getvalue()


def test_nothing_fails(done):
    found, printed = done
    assert list(problems(found["parts"])) == ["forward, cuda_graph: skipped: a CPU has no CUDA graphs"]
    assert "forward, cuda_graph: skipped" in printed


def test_the_result_says_where_it_comes_from(done):
    found, _ = done
    assert found["schema"] == gpu.SCHEMA and found["small"] and found["device"] == "cpu"
    assert found["versions"]["torch"] == torch.__version__ and "commit" in found
    assert list(found["parts"]) == [part.name for part in gpu.PARTS]
    assert 0 < sum(part["seconds"] for part in found["parts"].values()) <= found["seconds"]


def test_every_check_holds_and_every_system_is_timed(done):
    found, _ = done
    for name in ("parity", "race", "waits"):
        checks = [part for part in found["parts"][name].values() if isinstance(part, dict) and "holds" in part]
        assert checks and all(part["holds"] for part in checks)
    for size in SIZES:
        timed = found["parts"][size.name]["systems"]
        assert list(timed) == [system.name for system in systems(1)]
        for name, system in timed.items():
            places = [system[place]["seconds_per_call"] for place in system["extrapolated_from"]]
            assert len(places) == 3 and system["seconds_per_call"] == pytest.approx(sum(places) / 3)
            parts = system["in_forwards"]
            assert min(parts["target"], parts["rest"]) > 0 and (parts["draft"] > 0) == (name in ("SD", "ledger"))


def test_a_product_is_the_product_of_its_factors(done):
    found, printed = done
    timed = {size.name: found["parts"][size.name]["systems"] for size in SIZES}
    for row in found["products"]:
        each = timed[row["size"]][row["system"]]["seconds_per_call"]
        plain = timed[row["size"]]["AR"]["seconds_per_call"]
        assert row["cost_factor"] == pytest.approx(plain / each, rel=ROUNDING)
        assert row["call_factor"] == pytest.approx(row["plain_calls"] / row["calls"], rel=ROUNDING)
        assert row["speed_up"] == pytest.approx(row["cost_factor"] * row["call_factor"], rel=ROUNDING)
        assert row["seconds_per_image"] == pytest.approx(each * row["calls"], rel=ROUNDING)
        assert row["calls_from"] in printed
    sources = {(row["size"], row["system"], row["calls_from"]) for row in found["products"]}
    assert {(some.size, some.system, some.source) for some in PUBLISHED} <= sources
    assert {(size.name, name) for size in SIZES for name in ("AR", "SD", "ledger")} <= {some[:2] for some in sources}


def test_calls_of_the_shipped_model_are_counted(done):
    counted = done[0]["parts"]["calls"]
    assert counted["AR"]["calls"] == counted["AR"]["tokens"] == 49
    assert all(counted[label(name, 16)]["calls"] < 49 for name in ("SD", "SJD", "SCD-MC", "SCD-GS", "CSD", "ledger"))
    assert {fitting(size.window) for size in SIZES} == {16, 32, 49}


def fill(bench, record, left):
    record["item"] = {"value": 1}


def fail(bench, record, left):
    record["item"] = {"value": 1}
    benches.attempt(record, "other", left, lambda: 1 / 0)
    raise ValueError("the driver\nis gone")


def dawdle(bench, record, left):
    record["item"] = {"value": 1}
    time.sleep(60)


def measured(parts, budget, path):
    """The result of these parts."""
    gpu.measure(Bench(CPU, True, {}), time.monotonic(), budget, path, tuple(parts))
    return json.loads(path.read_text())["parts"]


def test_a_part_that_fails_is_recorded_and_the_others_go_on(tmp_path, capsys):
    found = measured([Part("one", 0.3, fill), Part("two", 0.3, fail), Part("three", 0.4, fill)], 60, tmp_path / "o")
    assert found["two"]["error"] == "ValueError: the driver is gone" and found["two"]["item"] == {"value": 1}
    assert found["two"]["other"] == {"error": "ZeroDivisionError: division by zero"}
    assert found["one"]["item"] == found["three"]["item"] == {"value": 1}
    printed = capsys.readouterr().out
    assert "two: error: ValueError: the driver is gone" in printed and "two, other: error: ZeroDivision" in printed


def test_a_real_part_may_fail(tmp_path, monkeypatch, capsys):
    """As it would without some of its files: the table is still made."""
    from benchmarks.gpu_parts import calls

    monkeypatch.setattr(calls, "load_fashion", lambda device: 1 / 0)
    parts = [part for part in gpu.PARTS if part.name in ("calls", SIZES[0].name)]
    found = measured(parts, 400, tmp_path / "o")
    assert found["calls"]["error"].startswith("ZeroDivisionError") and found[SIZES[0].name]["systems"]["SJD"]
    assert "calls: error" in capsys.readouterr().out


def test_a_part_without_time_is_skipped(tmp_path):
    found = measured([Part("one", 0.5, fill), Part("two", 0.5, fill)], 0, tmp_path / "o")
    assert found == {"one": {"skipped": NO_TIME}, "two": {"skipped": NO_TIME}}


def test_a_part_that_takes_too_long_is_stopped_and_the_next_one_runs(tmp_path):
    found = measured([Part("one", 0.1, dawdle), Part("two", 0.9, fill)], 3, tmp_path / "o")
    assert found["one"]["stopped"] == NO_TIME and found["one"]["item"] == found["two"]["item"] == {"value": 1}
    assert found["one"]["seconds"] < 3


def test_what_a_part_leaves_goes_to_the_later_ones(tmp_path):
    seen = []
    parts = [Part("one", 0.5, fill), Part("two", 0.5, lambda bench, record, left: seen.append(left()))]
    measured(parts, 100, tmp_path / "o")
    assert 90 < seen[0] <= 100


def test_results_are_written_after_every_part(tmp_path):
    seen, path = [], tmp_path / "o"
    parts = [Part("one", 0.5, fill), Part("two", 0.5, lambda *_: seen.append(json.loads(path.read_text())["parts"]))]
    measured(parts, 100, path)
    assert seen[0]["one"]["item"] == {"value": 1} and "two" not in seen[0]
    assert [file.name for file in tmp_path.iterdir()] == ["o"]


def test_an_item_without_time_is_skipped():
    record = {}
    benches.attempt(record, "late", lambda: -1.0, lambda: 1 / 0)
    assert record == {"late": {"skipped": NO_TIME}}


@pytest.mark.parametrize("words", [[], ["--device", "cuda"], ["--device", "cpu"], ["--device", "cuda", "--small"]])
def test_without_a_device_nothing_is_measured(words, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main([*words, "--out", str(tmp_path / "o")]) == 0
    assert capsys.readouterr().out == gpu.NOTHING + "\n" and not list(tmp_path.iterdir())


def test_the_shares_are_the_whole_time():
    assert sum(part.share for part in gpu.PARTS) == pytest.approx(1, rel=ROUNDING)
    assert gpu.BUDGET < 8 * 60


@pytest.mark.parametrize("decoder", [Autoregressive(), Chain(2), Jacobi(3, "gumbel")], ids=repr)
def test_calls_begin_where_they_are_told_to(decoder):
    size = shrunk(SIZES[2])
    models = [Recorded(size.model(size.build(size, size.target, CPU)(1), ahead)) for ahead in (0, 1)]
    tokens, looks = some_tokens(size, 1, CPU), []
    for model in models:
        prefill(model, tokens, 5)
        model.starts.clear()
    calls_from(System("one", decoder), tuple(models), tokens, 5, 2, lambda: looks.append(1))
    assert len(looks) == len(models[0].starts) == 2 and models[0].starts[0] == 5 < models[0].starts[1]
    assert models[1].starts[:1] == ([5] if decoder.needs_draft else [])


class Recorded:
    """A model that remembers where it was asked."""

    def __init__(self, model):
        self.model, self.starts = model, []

    def __getattr__(self, name):
        return getattr(self.model, name)

    def __call__(self, tokens, start, count):
        self.starts.append(int(start[0]))
        return self.model(tokens, start, count)


def test_a_number_that_is_read_counts_as_a_wait():
    with counting(CPU) as (total, _):
        before = total()
        torch.ones(()).item()
        assert (before, total()) == (0, 1)


def test_on_cuda_every_warning_of_a_wait_counts_and_is_named(monkeypatch):
    modes = []
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 0)
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)
    with counting(torch.device("cuda")) as (total, lines):
        for _ in range(2):
            warnings.warn(f"{WORDS} (Triggered somewhere)", stacklevel=1)
        warnings.warn("another matter", stacklevel=1)
        assert total() == 2 and list(lines().values()) == [2] and "test_gpu_benchmark.py:" in next(iter(lines()))
    assert modes == ["warn", 0]


def test_batches_end_where_memory_does(monkeypatch):
    def crowded(system, models, watches, tokens, at, bench):
        if len(tokens) > 2:
            raise torch.OutOfMemoryError("no room for 8 GiB")
        return Series([0.5], [], [])

    monkeypatch.setattr(batches, "series", crowded)
    record = {}
    batches.batches(Bench(CPU, True, {}), record, lambda: 60.0)
    assert list(record) == ["1", "largest", "2", "4"] and record["largest"] == 2
    assert record["2"]["seconds_per_call_and_image"] == 0.25
    assert record["4"] == {"error": "OutOfMemoryError: no room for 8 GiB"}


NAMES = [(SIZES[0], 0.775e9, 0), (SIZES[1], 7e9, 102400), (SIZES[2], 7e9, 65536 - 8192), (SIZES[3], 4e9, 0)]
"""Parameters by the name, and text tokens, whose embedding and head are left out."""


@pytest.mark.parametrize(("size", "named", "texts"), NAMES, ids=[size.name for size in SIZES])
def test_sizes_are_those_they_are_named_for(size, named, texts):
    with torch.device("meta"):
        if size.build is llama:
            shape = size.target
            attention = shape.width**2 * (2 + 2 * shape.kv_heads / shape.heads)
            count = shape.layers * (attention + 3 * shape.width * shape.ffn) + 2 * (size.vocab + texts) * shape.width
        else:
            count = sum(weight.numel() for weight in Transformer(size.target).parameters())
    assert count == pytest.approx(named, rel=NAMED)
