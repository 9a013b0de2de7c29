"""The head's training: its losses by hand, what a guess may see, the script from end to end, and what it refuses."""

from __future__ import annotations

import math
import shutil
from dataclasses import asdict, replace

import pytest
import torch

from gpu_eval import store, train_head, training
from gpu_eval.fashion import HEAD, WEIGHTS, load_fashion
from gpu_eval.head import Head, Losses, losses, shifted
from gpu_eval.labelled import Labelled
from gpu_eval.train_head import RECIPE, features_of, losses_of, main
from gpu_eval.transformer import Config, Transformer
from gpu_eval.yardstick.independent import encoded
from tests.gpu_eval.test_training import same, stopping, write_data

FLOAT32_ROUNDING = 1e-6  # of losses about 1; 1e-7 seen
HEADER_ROUNDING = 6e-5  # figures in a header have four digits after the point
SMALL = replace(RECIPE, batch=8)
STEPS = 3
TINY = Config(7, grid=3, classes=2, layers=1, heads=2, width=16, ffn_multiple=8)


def test_losses_by_hand():
    """Two slots, two numbers a feature, which are the logits themselves.  Smooth L1: d - 1/2 from d = 1 on, else
    d^2 / 2; cross-entropy in nats of the law of the guess under that of the feature."""
    feature = torch.tensor([[[0.0, math.log(3)], [0.0, 0.0]]])  # laws 1/4, 3/4 and 1/2, 1/2
    guess = torch.tensor([[[0.0, 0.0], [math.log(2) / 2, -math.log(2) / 2]]])  # laws 1/2, 1/2 and 2/3, 1/3
    found = losses(guess, feature, torch.nn.Identity())
    regression = (math.log(3) - 1 / 2 + 2 * (math.log(2) / 2) ** 2 / 2) / 4
    tokens = (math.log(2) + (math.log(3 / 2) + math.log(3)) / 2) / 2
    assert float(found.regression) == pytest.approx(regression, abs=FLOAT32_ROUNDING)
    assert float(found.tokens) == pytest.approx(tokens, abs=FLOAT32_ROUNDING)
    assert float(found.total) == pytest.approx(regression + 0.1 * tokens, abs=FLOAT32_ROUNDING)


def test_the_feature_before_slot_0_is_0():
    features = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    assert shifted(features).tolist() == [[[0, 0], [1, 2], [3, 4]], [[0, 0], [7, 8], [9, 10]]]


def tiny():
    """A target and a head with random weights of deviation 1/2: everything that may act does."""
    torch.manual_seed(2)
    target = Transformer(TINY).requires_grad_(False)
    head = Head(TINY)
    with torch.no_grad():
        for weight in (*target.parameters(), *head.parameters()):
            weight.normal_(std=0.5)
    return head, target


def guesses(head, target, tokens, labels=(0, 1)):
    """What the head makes of all slots while its losses are computed."""
    found = []
    hook = head.register_forward_hook(lambda *some: found.append(some[-1].detach()))
    try:
        losses_of(head, target, tokens, torch.tensor(labels), lambda some: some)
    finally:
        hook.remove()
    return found[0]


def changed(some, other):
    """Slots at which every row differs, and that the other slots of all rows are equal bit for bit."""
    differs = (some != other).any(-1)
    assert (differs == differs[0]).all()
    return differs[0].nonzero().flatten().tolist()


def check_later_tokens_are_not_seen():
    head, target = tiny()
    tokens = torch.randint(7, (2, 9), generator=torch.Generator().manual_seed(3))
    plain = guesses(head, target, tokens)
    assert changed(plain, guesses(head, target, tokens, (1, 0))) == list(range(9))
    for slot in range(9):  # the vector of slot t is token t - 1; no slot holds the last token
        other = torch.where(torch.arange(9) >= slot, (tokens + 1) % 7, tokens)
        assert changed(plain, guesses(head, target, other)) == list(range(slot + 1, 9))


def check_a_feature_is_seen_by_later_slots_only(patch):
    head, target = tiny()
    tokens = torch.randint(7, (2, 9), generator=torch.Generator().manual_seed(4))
    plain = guesses(head, target, tokens)
    for slot in range(9):

        def other(*some, slot=slot):
            vectors, features, slots = features_of(*some)
            return vectors, torch.where((slots == slot)[..., None], features + 1, features), slots

        with patch.context() as inner:
            inner.setattr(train_head, "features_of", other)
            found = guesses(head, target, tokens)
        assert changed(plain, found) == list(range(slot + 1, 9))


def test_a_guess_sees_tokens_and_features_before_its_slot_only(monkeypatch):
    check_later_tokens_are_not_seen()
    check_a_feature_is_seen_by_later_slots_only(monkeypatch)


def test_a_mask_that_shows_everything_is_seen(monkeypatch):
    plain = Transformer.standing

    def standing(*some):
        place = plain(*some)
        return place._replace(mask=torch.ones_like(place.mask))

    monkeypatch.setattr(Transformer, "standing", standing)
    with pytest.raises(AssertionError):
        check_later_tokens_are_not_seen()


def test_a_feature_that_gives_its_own_guess_away_is_seen(monkeypatch):
    monkeypatch.setattr(train_head, "shifted", lambda features: features)
    with pytest.raises(AssertionError):
        check_a_feature_is_seen_by_later_slots_only(monkeypatch)


def test_only_the_head_learns():
    head, target = tiny()
    tokens = torch.randint(7, (2, 9), generator=torch.Generator().manual_seed(5))
    losses_of(head, target.requires_grad_(True), tokens, torch.tensor([0, 1]), lambda some: some).regression.backward()
    assert all(bool((weight.grad != 0).any()) for weight in head.parameters())
    assert all(weight.grad is None for weight in target.parameters())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(train_head, "RECIPE", SMALL)


def run(data, out, *more, steps=STEPS):
    return main(["--data", str(data), "--out", str(out), "--steps", str(steps), "--threads", "1", *more])


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("head") / "head.safetensors"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_head, "RECIPE", SMALL)
        patch.setattr(train_head, "CHUNK", 16)  # the last of 40 test images are fewer
        assert run(data, out) == 0
    return out


@pytest.fixture(scope="module")
def retrained(tmp_path_factory):
    """The shipped files with another target, of the same sizes."""
    folder = tmp_path_factory.mktemp("other")
    shutil.copytree(WEIGHTS, folder, dirs_exist_ok=True)
    tensors, notes = store.read(WEIGHTS / "target.safetensors", "fashion.target")
    other = tensors | {"output.weight": -tensors["output.weight"]}
    store.write(folder / "target.safetensors", "fashion.target", other, notes)
    return folder


@torch.no_grad()
def written_out(head, net, tokens, labels):
    """Both losses from their formulas: [2]."""
    slots = torch.arange(49).expand(len(tokens), -1)
    vectors = net.embed(tokens, labels, slots)
    features = net.norm(net.hidden(vectors, slots))
    before = torch.cat([torch.zeros_like(features[:, :1]), features[:, :-1]], 1)
    guess = head(vectors, before, net.standing(slots, slots, None))
    distance = (guess - features).abs()
    regression = torch.where(distance < 1, distance**2 / 2, distance - 1 / 2).mean()
    law = Labelled(net, labels).logits(tokens[:, :-1], slots).softmax(-1)
    return regression, -(law * net.output(guess).softmax(-1).log()).sum(-1).mean()


def test_the_file_tells_how_it_was_made_and_loads_as_a_draft(trained, data):
    assert list(trained.parent.iterdir()) == [trained]
    tensors, notes = store.read(trained, HEAD)
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    assert notes["recipe"] == asdict(replace(SMALL, steps=STEPS)) and len(notes["losses"]) == STEPS
    fashion = load_fashion().with_head(trained.parent)
    assert notes["parameters"] == sum(weight.numel() for weight in fashion.head.parameters())
    assert asdict(fashion.head.config) == notes["config"] == asdict(fashion.target_net.config)
    tests = encoded(fashion.tokenizer, data, "t10k")
    regression, nats = written_out(fashion.head, fashion.target_net, *tests)
    assert notes["test_regression"] == pytest.approx(float(regression), abs=HEADER_ROUNDING)
    assert notes["test_nats"] == pytest.approx(float(nats), abs=HEADER_ROUNDING)


def test_what_is_shown_in_training_is_disturbed_as_published(data, tmp_path, monkeypatch):
    """Uniform noise from -.1 to .1; a tenth of the labels are no class.  Shares of n draws lie within 6 standard
    deviations, which by chance (2e-9 each) they leave never: the seed is fixed."""
    seen = []

    def watched(head, target, tokens, labels, disturb):
        seen.append((labels, disturb(torch.zeros(len(labels), 49, 4))))
        anything = sum(weight.sum() for weight in head.parameters())
        return Losses(0 * anything, 0 * anything)

    monkeypatch.setattr(train_head, "losses_of", watched)
    monkeypatch.setattr(train_head, "RECIPE", replace(RECIPE, batch=5000))
    assert run(data, tmp_path / "head", steps=1) == 0
    (labels, noise), (_, undisturbed) = seen
    assert float(noise.abs().max()) <= 0.1 and not undisturbed.any()
    quarters = torch.histc(noise.flatten(), 4, -0.1, 0.1) / noise.numel()
    assert ((quarters - 1 / 4).abs() < 6 * math.sqrt(3 / 16 / noise.numel())).all()
    share = float((labels == 10).double().mean())
    assert abs(share - 0.1) < 6 * math.sqrt(0.09 / len(labels))


def test_what_is_measured_is_what_is_written(data, tmp_path, monkeypatch):
    measured = {}

    def watched(head, *_):
        measured.update((name, weight.clone()) for name, weight in head.state_dict().items())
        return torch.zeros(2)

    monkeypatch.setattr(train_head, "tested", watched)
    assert run(data, tmp_path / "head", steps=1) == 0
    written, _ = store.read(tmp_path / "head", HEAD)
    assert same(measured, {name: weight.float() for name, weight in written.items()})


@pytest.mark.parametrize("name", ["head.safetensors", "head.state"])
def test_a_stopped_training_goes_on_to_the_same_file(name, trained, data, tmp_path, monkeypatch):
    out = tmp_path / name
    with monkeypatch.context() as patch:
        patch.setattr(training, "KEPT", 2)
        patch.setattr(train_head, "losses_of", stopping(losses_of, 2))
        assert run(data, out) == 2  # whatever goes wrong is one line
    assert list(tmp_path.iterdir()) == [tmp_path / f"{name}.state"]
    counted = []
    monkeypatch.setattr(train_head, "losses_of", lambda *some: counted.append(1) or losses_of(*some))
    assert run(data, out) == 0 and len(counted) == 1 + 1  # the last step, and the test images
    assert list(tmp_path.iterdir()) == [out]
    first, again = (store.read(path, HEAD) for path in (trained, out))
    assert same(first[0], again[0]) and first[1] | {"seconds": 0} == again[1] | {"seconds": 0}


def test_a_training_on_another_target_is_not_gone_on_with(data, retrained, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(training, "KEPT", 2)
        patch.setattr(train_head, "losses_of", stopping(losses_of, 2))
        assert run(data, tmp_path / "head") == 2
    kept = (tmp_path / "head.state").read_bytes()
    assert run(data, tmp_path / "head", "--target", str(retrained)) == 2
    assert "by another recipe" in capsys.readouterr().err
    assert (tmp_path / "head.state").read_bytes() == kept and not (tmp_path / "head").exists()


def test_a_finished_head_is_not_trained_again(trained, data, capsys):
    before = trained.stat().st_mtime_ns
    assert run(data, trained) == 0
    assert "is finished" in capsys.readouterr().out and trained.stat().st_mtime_ns == before


def refused(capsys, words, status):
    error = capsys.readouterr().err
    assert status == 2 and error.startswith("error: ") and error.count("\n") == 1
    assert words in error and "Error:" not in error  # no error that nobody foresaw


def test_a_file_that_is_there_is_not_written_over(trained, data, retrained, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(train_head, "WEIGHTS", retrained)  # where a file goes when --out is not given
    shipped, mine = retrained / "head.safetensors", trained.read_bytes()
    before = shipped.read_bytes()
    words = "another recipe or for another target"
    refused(capsys, words, main(["--data", str(data), "--steps", "1", "--threads", "1"]))
    refused(capsys, words, run(data, trained, "--target", str(WEIGHTS), steps=STEPS + 1))
    refused(capsys, words, run(data, trained, "--target", str(retrained)))
    refused(capsys, "is of kind 'fashion.draft'", run(data, retrained / "draft.safetensors"))
    (tmp_path / "text").write_text("text")
    refused(capsys, "not a whole safetensors file", run(data, tmp_path / "text"))
    assert shipped.read_bytes() == before and trained.read_bytes() == mine
    assert (tmp_path / "text").read_text() == "text"


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--steps", "0", "--steps is 0: give at least 1"),
        ("--steps", "-3", "--steps is -3: give at least 1"),
        ("--threads", "0", "--threads is 0: give at least 1"),
        ("--data", "{folder}/none", "no file"),
        ("--target", "{folder}/none", "no file"),
        ("--out", "{folder}/file/head", "is not a directory"),
        ("--out", "{folder}", "is not a regular file"),
        ("--out", "", "it names no file"),
    ],
)
def test_bad_usage_is_one_line_before_any_work(option, value, words, data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(train_head, "fit", lambda *_: pytest.fail("trained"))
    (tmp_path / "file").write_text("")
    status = run(data, tmp_path / "head", option, value.format(folder=tmp_path))
    refused(capsys, words, status)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
