"""Prompts: every format told apart by its content, and what is refused."""

import json
from collections import Counter

import pytest
from scipy import stats

from gpu_eval.prompts import Prompt, choose, read_prompts
from specsim.errors import SpecsimError

FALSE_ALARM = 1e-4  # chance that a fair choice fails the test of its frequencies
PARTI = 'Prompt\tCategory\tChallenge\tNote\nbond\tAbstract\tBasic\tBiology\n\n"H I" on a wall\tWorld\tComplex\t\n'
NOTES = [
    {"image_id": 9, "id": 70, "caption": "a late caption"},
    {"image_id": 9, "id": 12, "caption": " two cats \n on a mat "},
    {"image_id": 4, "id": 50, "caption": "a bus"},
    {"image_id": 4, "id": 3, "caption": "  "},
    {"image_id": 9, "id": 12, "caption": "the same id again"},
]


def texts(found):
    return [prompt.text for prompt in found]


def labels(found):
    return [prompt.label for prompt in found]


def file_of(tmp_path, content, name="prompts"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_coco_has_one_caption_an_image(tmp_path):
    path = file_of(tmp_path, json.dumps({"info": {}, "annotations": NOTES}))
    found = read_prompts(path)
    assert texts(found) == ["a bus", "two cats on a mat"]
    assert [prompt.source for prompt in found] == [f"{path}, image 4", f"{path}, image 9"]
    assert labels(found) == [None, None]


def test_a_table_keeps_quotation_marks_and_counts_lines(tmp_path):
    """A prompt may begin with a quoted word, which a reader of quoted cells takes apart."""
    path = file_of(tmp_path, PARTI)
    assert read_prompts(path) == [
        Prompt("bond", None, f"{path}, line 2"),
        Prompt('"H I" on a wall', None, f"{path}, line 4"),
    ]
    moved = file_of(tmp_path, "Category\tPrompt\nAbstract\tbond\n", "moved")
    assert texts(read_prompts(moved)) == ["bond"]


def test_lines_and_labels(tmp_path):
    assert texts(read_prompts(file_of(tmp_path, "a cat\n\n  a dog  \n7\n"))) == ["a cat", "a dog", "7"]
    assert labels(read_prompts(file_of(tmp_path, "0-2, 207\n88\n"))) == [0, 1, 2, 207, 88]
    assert labels(read_prompts("207,88")) == [207, 88] and labels(read_prompts("0-9")) == list(range(10))
    assert read_prompts("a cat on a mat") == [Prompt("a cat on a mat", None, "text")]
    assert texts(read_prompts("cat")) == ["cat"]


@pytest.mark.parametrize("content", [PARTI, json.dumps({"annotations": NOTES}, indent=1), "a cat\na dog\n", "1-3\n5\n"])
def test_a_byte_order_mark_and_carriage_returns_change_nothing(tmp_path, content):
    path = file_of(tmp_path, content)
    plain = read_prompts(path)
    path.write_bytes(b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode())
    assert read_prompts(path) == plain


def test_the_name_of_a_file_decides_nothing(tmp_path):
    for name in ("x.json", "x.tsv", "x.txt"):
        assert texts(read_prompts(file_of(tmp_path, PARTI, name))) == ["bond", '"H I" on a wall']


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no prompt"),
        ("\n \n", "holds no prompt"),
        ('{"annotations": []}', "holds no prompt"),
        ("Prompt\tCategory\n\t\n", "holds no prompt"),
        ("caf\xe9".encode("latin-1"), "not UTF-8 text: byte 3"),
        ("a cat".encode("utf-16"), "not UTF-8 text: byte 0"),
        ('{"annotations": [\n{"id": 1,}\n]}', "not JSON: line 2"),
        ('{"images": []}', 'no list "annotations"'),
        ('{"annotations": [{"image_id": 1, "id": 2}]}', 'annotation 0 .* needs "caption"'),
        ('{"annotations": [7]}', 'annotation 0 is 7: it needs "image_id"'),
        ('{"annotations": [{"image_id": true, "id": 2, "caption": "a"}]}', 'needs "image_id", a number'),
        ("Text\tCategory\nbond\tAbstract\n", 'line 1: the columns .*"Prompt"'),
        ("Category\tPrompt\nAbstract\n", "line 2 has 1 columns"),
        ("9-0\n", "line 1: 9-0 must run upwards"),
        ("0-99999999\n", "must run upwards, over at most"),
        ("12345678901\n", "too large"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, content, said):
    path = file_of(tmp_path, content)
    with pytest.raises(SpecsimError, match=said) as caught:
        read_prompts(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["captions_val2017.json", "data/prompts", "", "  "])
def test_a_mistyped_path_is_no_prompt(text):
    with pytest.raises(SpecsimError, match="is no file"):
        read_prompts(text)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(SpecsimError, match="cannot read"):
        read_prompts(tmp_path)


def test_a_very_long_text_is_a_text():
    assert texts(read_prompts("cat " * 5000)) == [("cat " * 5000).strip()]


def test_a_choice_is_without_replacement_and_follows_from_the_seed():
    prompts = read_prompts("0-99")
    chosen = choose(prompts, 60, seed=3)
    assert len(set(labels(chosen))) == 60 and labels(chosen) != sorted(labels(chosen))
    assert choose(prompts, 60, seed=3) == chosen == choose(prompts, 100, seed=3)[:60]
    assert choose(prompts, 60, seed=4) != chosen


def test_every_prompt_is_chosen_as_often():
    prompts = read_prompts("0-4")
    found = Counter(label for seed in range(400) for label in labels(choose(prompts, 2, seed)))
    counts = [found[label] for label in range(5)]
    # Two of five without replacement: the variance of a count is below that of independent draws.
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("count", "seed", "said"), [(0, 0, "1 to 3"), (4, 0, "1 to 3"), (2.0, 0, "1 to 3"), (1, -1, "seed")]
)
def test_a_choice_that_cannot_be_made(count, seed, said):
    with pytest.raises(SpecsimError, match=said):
        choose(read_prompts("0-2"), count, seed)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('["a cat",\n"a dog"]', 'has no list "annotations"'),
        ("[" * 200_000, "not JSON"),
        ('{"annotations": [{"image_id": 1, "id": 1, "caption": "a \\ud800 b"}]}', "is no whole text"),
        (",".join(["0-999998"] * 50), "more than 1000000 labels"),
    ],
    ids=["a list", "deep", "half a character", "many labels"],
)
def test_what_is_no_prompt_is_said(tmp_path, content, said):
    (tmp_path / "p").write_text(content)
    with pytest.raises(SpecsimError, match=said):
        read_prompts(tmp_path / "p")


def test_a_path_with_a_space_is_no_prompt_and_a_bracket_is_one(tmp_path):
    for spec in ("my captions.json", "no such file.txt", "a caf\udce9"):
        with pytest.raises(SpecsimError, match=r"looks like a path|no whole text"):
            read_prompts(spec)
    (tmp_path / "p").write_text("{red} car\n[1girl] solo\n")
    assert [prompt.text for prompt in read_prompts(tmp_path / "p")] == ["{red} car", "[1girl] solo"]
