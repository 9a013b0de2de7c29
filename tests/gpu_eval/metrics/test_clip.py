"""CLIP score: a tiny random CLIP model in its real file formats, the formula against torchmetrics, long captions."""

import json

import numpy as np
import pytest
import torch
from torchmetrics.multimodal.clip_score import CLIPScore

from gpu_eval.metrics import clip as clip_module
from gpu_eval.metrics.clip import Answers, clip_score, cosines_of, load_clip, pair_scores
from gpu_eval.metrics.images import images_of
from gpu_eval.prompts import read_prompts
from specsim.errors import SpecsimError

CPU = torch.device("cpu")
ROUNDING = 1e-4  # float32 embeddings, scores up to 100
MOST = 12  # tokens of a caption
SIDE = 16
TEXTS = ["a cat", "two dogs", "a bus", "the sea", "a red cup", "snow"]
LONG = "abcdefghijklmnop"  # a token a letter, more than fit


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Everything a CLIP model's folder holds, as transformers writes it."""
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPTokenizer

    where = tmp_path_factory.mktemp("clip")
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = ["<|startoftext|>", "<|endoftext|>", *letters, *(letter + "</w>" for letter in letters)]
    CLIPTokenizer(vocab={word: index for index, word in enumerate(words)}, merges=[]).save_pretrained(where)
    size = {"shortest_edge": SIDE}
    CLIPImageProcessorPil(size=size, crop_size={"height": SIDE, "width": SIDE}).save_pretrained(where)
    part = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = part | {"vocab_size": len(words), "max_position_embeddings": MOST, "bos_token_id": 0, "eos_token_id": 1}
    vision = part | {"image_size": SIDE, "patch_size": 8}
    torch.manual_seed(0)
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)).save_pretrained(where)
    return where


@pytest.fixture(scope="module")
def clip(folder):
    return load_clip(folder, CPU)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    path = tmp_path_factory.mktemp("images") / "x.npz"
    np.savez(path, images=np.random.default_rng(1).integers(0, 256, (len(TEXTS), 20, 24, 3), dtype=np.uint8))
    return images_of(path)


def prompts(tmp_path, texts):
    path = tmp_path / "prompts.txt"
    path.write_text("\n".join(texts))
    return read_prompts(path)


@torch.no_grad()
def cosines(clip, images, texts):
    """From the model's own forward pass: logits are cosines times the scale."""
    tokens = clip.prepared.tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=MOST)
    (batch,) = images.batches(50)
    pixels = clip.prepared.pixels(images=list(batch), return_tensors="pt")["pixel_values"]
    answer = clip.model(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"], pixel_values=pixels)
    return (answer.logits_per_image.diagonal() / clip.model.logit_scale.exp()).double().numpy()


def test_the_score_is_the_formula_and_torchmetrics(clip, images, tmp_path):
    found, wanted = clip_score(clip, images, prompts(tmp_path, TEXTS)), cosines(clip, images, TEXTS)
    assert found["value"] == pytest.approx(np.maximum(100 * wanted, 0).mean(), abs=ROUNDING)
    assert found["torchmetrics"] == pytest.approx(max(100 * wanted.mean(), 0), abs=ROUNDING)
    assert found["below_zero"] == (wanted < 0).sum()
    assert found["interval"][0] <= found["value"] <= found["interval"][1]


def test_some_pairs_are_below_zero_and_torchmetrics_cuts_late(clip, images, tmp_path):
    """Else the test above would tell no cut from another."""
    found = clip_score(clip, images, prompts(tmp_path, TEXTS))
    assert 0 < found["below_zero"] < len(TEXTS) and found["value"] > found["torchmetrics"] + 100 * ROUNDING


def test_loading_is_quiet_and_leaves_the_loggers_as_they_were(folder, capfd):
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load_clip(folder, CPU)
    assert capfd.readouterr() == ("", "") and (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_scores_of_known_vectors():
    rows = np.array([[3.0, 4.0], [1.0, 0.0], [1.0, 1.0]]), np.array([[6.0, 8.0], [0.0, 2.0], [-1.0, -1.0]])
    assert cosines_of(*rows) == pytest.approx([1, 0, -1])
    assert pair_scores(cosines_of(*rows)) == pytest.approx([100, 0, 0])


def test_batches_change_nothing(clip, images, tmp_path, monkeypatch):
    whole = clip_score(clip, images, prompts(tmp_path, TEXTS))
    monkeypatch.setattr(clip_module, "BATCH", 4)
    found = clip_score(clip, images, prompts(tmp_path, TEXTS))
    assert found["value"] == pytest.approx(whole["value"], abs=ROUNDING)
    assert found["torchmetrics"] == pytest.approx(whole["torchmetrics"], abs=ROUNDING)


def text_embeddings(clip, cut):
    """Embeddings of two long captions that differ early on."""
    answers = Answers(clip.model)
    with torch.no_grad():
        if cut:
            tokens = clip.prepared(text=[LONG, LONG[::-1]])
            return answers.get_text_features(tokens["input_ids"], tokens["attention_mask"])
        metric = CLIPScore(
            model_name_or_path=lambda: (answers, lambda text, **rest: clip.prepared.tokenizer(text, **rest))
        )
        with pytest.warns(UserWarning, match="longer than"):
            metric.update([LONG], [LONG[::-1]])
        return torch.cat(answers.texts)


def test_long_captions_keep_their_end_which_torchmetrics_cuts_off(clip):
    kept, lost = text_embeddings(clip, cut=True), text_embeddings(clip, cut=False)
    assert (kept[0] - kept[1]).norm() > 100 * ROUNDING
    assert torch.equal(lost[0], lost[1]), "both are the embedding of the start token"


def test_torchmetrics_alone_takes_no_folder_and_no_model_of_today(folder, clip, images):
    with pytest.raises(ValueError, match="Invalid model_name_or_path"):
        CLIPScore(model_name_or_path=str(folder))
    (batch,) = images.batches(50)
    metric = CLIPScore(model_name_or_path=lambda: (clip.model, clip.prepared))
    with pytest.raises(AttributeError, match="norm"):
        metric.update(batch, TEXTS)


@pytest.mark.parametrize(
    ("texts", "said"), [(TEXTS[:5], "5 for 6 images"), (["0-5"], "holds class labels; a CLIP score needs texts")]
)
def test_prompts_that_do_not_fit(clip, images, tmp_path, texts, said):
    with pytest.raises(SpecsimError, match=said):
        clip_score(clip, images, prompts(tmp_path, texts))


def test_folders_that_are_no_model(tmp_path, folder):
    with pytest.raises(SpecsimError, match=r"no folder with a config\.json"):
        load_clip(tmp_path, CPU)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "clip"}))
    torch.save({}, tmp_path / "pytorch_model.bin")  # a pickle, which is not read
    with pytest.raises(SpecsimError, match="holds no CLIP model") as caught:
        load_clip(tmp_path, CPU)
    assert "\n" not in str(caught.value)
