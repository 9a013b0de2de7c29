"""Weight files of every form load back; whatever is wrong with one is a single line, and no pickle is ever run."""

import json
import pickle
from argparse import Namespace
from collections import OrderedDict

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from gpu_eval.models.checkpoints import fill, folder, read_weights
from specsim.errors import SpecsimError


def small(seed=0, wide=3):
    """Two layers, a buffer of integers and one of booleans."""
    torch.manual_seed(seed)
    module = nn.Sequential(nn.Linear(wide, 4), nn.LayerNorm(4))
    module.register_buffer("steps", torch.tensor(seed + 5))
    module.register_buffer("mask", torch.tensor([True, False]))
    return module


def state():
    return {key: tensor.clone() for key, tensor in small(1).state_dict().items()}


def same(found, expected):
    return found.keys() == expected.keys() and all(torch.equal(found[key], expected[key]) for key in found)


def says(path, *words):
    """The error of reading `path`: one line that names the path and has the words."""
    with pytest.raises(SpecsimError) as error:
        read_weights(path)
    text = str(error.value)
    assert "\n" not in text and str(path) in text and len(text) < len(str(path)) * 2 + 400
    for word in words:
        assert word in text
    return text


def sharded(path):
    """The state in two shards with an index; gives the weight map."""
    tensors = state()
    places = {key: f"model-0000{1 + (key[0] == '1')}-of-00002.safetensors" for key in tensors}
    for shard in set(places.values()):
        save_file({key: tensors[key] for key in tensors if places[key] == shard}, path / shard)
    write_index(path, places)
    return places


def write_index(path, places):
    (path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))


OTHERS = {"optimizer": {"state": {0: torch.ones(2)}, "param_groups": [{"lr": 1e-4}]}, "steps": 7}
OTHERS["args"] = Namespace(lr=1e-4, betas=(0.9, 0.95), model="GPT-B", ema=True)


@pytest.mark.parametrize("ending", [".pt", ".pth", ".bin"])
@pytest.mark.parametrize("under", [None, "model", "module", "state_dict", "ema"])
def test_torch_files_in_every_layout(tmp_path, ending, under):
    path, tensors = tmp_path / f"weights{ending}", small(1).state_dict()
    torch.save(tensors if under is None else {**OTHERS, under: tensors}, path)
    assert same(read_weights(path), state())


def test_the_model_comes_before_its_average_and_a_key_called_model_is_a_key(tmp_path):
    path = tmp_path / "weights.pt"
    torch.save({"ema": small(2).state_dict(), "model": state()}, path)
    assert same(read_weights(path), state())
    torch.save({"model": torch.ones(2), "other": torch.zeros(1)}, path)
    assert read_weights(path).keys() == {"model", "other"}


def test_parameters_are_read_as_tensors_and_files_older_than_zips_too(tmp_path):
    path = tmp_path / "weights.pt"
    torch.save({key: nn.Parameter(torch.ones(2)) for key in "ab"}, path)
    assert [type(tensor) for tensor in read_weights(path).values()] == [torch.Tensor] * 2
    torch.save(state(), path, _use_new_zipfile_serialization=False)
    assert same(read_weights(path), state())


@pytest.mark.parametrize("ending", [".pt", ".safetensors"])
def test_a_file_is_mapped_not_read(tmp_path, ending):
    path = tmp_path / f"weights{ending}"
    (torch.save if ending == ".pt" else save_file)({"a": torch.ones(1000)}, path)
    tensor = read_weights(path)["a"]
    whole = path.read_bytes()
    at = whole.index(torch.ones(1000).numpy().tobytes())
    with path.open("r+b") as file:  # not touched since it was mapped, so the new value is seen
        file.seek(at)
        file.write(torch.full((1,), 7.0).numpy().tobytes())
    assert tensor[0] == 7


def test_safetensors_files_and_folders(tmp_path):
    save_file(state(), tmp_path / "model.safetensors")
    assert same(read_weights(tmp_path / "model.safetensors"), state())
    assert same(read_weights(tmp_path), state())


def test_a_folder_of_shards_reads_what_its_index_names(tmp_path):
    places = sharded(tmp_path)
    assert len(set(places.values())) == 2 and same(read_weights(tmp_path), state())
    places.pop("steps")
    write_index(tmp_path, places)
    assert same(read_weights(tmp_path), {key: tensor for key, tensor in state().items() if key != "steps"})


class Trap:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


TRAPPED = {
    "bare": lambda trap: trap,
    "value": lambda trap: {**state(), "extra": trap},
    "beside": lambda trap: {"model": state(), "extra": trap},
    "arguments": lambda trap: {"model": state(), "args": Namespace(hook=trap)},
    "key": lambda trap: {"model": state(), "extra": [(trap,)]},
}


@pytest.mark.parametrize("write", ["zip", "legacy", "pickle"])
@pytest.mark.parametrize("place", TRAPPED)
def test_a_pickle_is_refused_by_the_name_of_what_it_calls_and_never_run(tmp_path, write, place):
    path, made = tmp_path / "weights.pt", tmp_path / "made"
    trapped = TRAPPED[place](Trap(made))
    if write == "pickle":
        trapped = {"extra": Trap(made)} if place != "bare" else trapped
        path.write_bytes(pickle.dumps(trapped, protocol=2))
    else:
        torch.save(trapped, path, _use_new_zipfile_serialization=write == "zip")
    text = says(path, "pickles are never loaded")
    assert "open" in text and "weights_only" not in text and not made.exists()


def test_the_trap_of_these_tests_works(tmp_path):
    pickle.loads(pickle.dumps(Trap(tmp_path / "made"))).close()
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("held", [Trap, nn.Linear(2, 2), OrderedDict(a=range(3))], ids=["class", "module", "range"])
def test_other_classes_are_refused_too(tmp_path, held):
    torch.save({"model": state(), "held": held}, tmp_path / "weights.pt")
    says(tmp_path / "weights.pt", "pickles are never loaded")


def test_a_class_stays_refused_after_a_file_with_arguments_was_read(tmp_path):
    torch.save({"model": state(), "args": Namespace(a=1)}, tmp_path / "weights.pt")
    before = set(torch.serialization.get_safe_globals())
    read_weights(tmp_path / "weights.pt")
    assert set(torch.serialization.get_safe_globals()) == before and Namespace not in before


BROKEN = {
    "empty": (b"", "is empty"),
    "html": (b"\n<!DOCTYPE html><html><body>Not found</body></html>", "is a web page"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "is a git-lfs pointer"),
    "garbage": (bytes(range(7, 250)) * 3, "is not a whole"),
    "text": (b"Entry not found", "is not a whole"),
    "zip magic": (b"PK\x03\x04" + bytes(200), "is not a whole"),
    "pickle magic": (b"\x80\x02", "is not a whole"),
}


@pytest.mark.parametrize("ending", [".pt", ".safetensors"])
@pytest.mark.parametrize("kind", BROKEN)
def test_files_that_hold_no_weights(tmp_path, ending, kind):
    content, words = BROKEN[kind]
    (tmp_path / f"weights{ending}").write_bytes(content)
    says(tmp_path / f"weights{ending}", words)


@pytest.mark.parametrize("ending", [".pt", ".safetensors"])
def test_a_file_cut_anywhere_is_refused(tmp_path, ending):
    path = tmp_path / f"weights{ending}"
    (torch.save if ending == ".pt" else save_file)(state(), path)
    whole = path.read_bytes()
    for share in (0.01, 0.3, 0.6, 0.9, 0.999):
        path.write_bytes(whole[: max(1, int(share * len(whole)))])
        says(path, "is not a whole")


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({}, "need a state dict"),
        ([torch.ones(2)], "need a state dict"),
        (torch.ones(2), "need a state dict"),
        ({"model": {}}, "under 'model', holds {}"),
        ({"a": torch.ones(2), "epoch": 3}, "a int at key 'epoch'"),
        ({"model": {"a": [torch.ones(2)]}}, "a list at key 'a'"),
        ({3: torch.ones(2)}, "at key 3"),
        ({"a": torch.eye(2).to_sparse()}, "a Tensor at key 'a'"),
        ({"a": torch.ones(2, device="meta")}, "a Tensor at key 'a'"),
    ],
)
def test_torch_files_that_hold_no_state_dict(tmp_path, held, words):
    torch.save(held, tmp_path / "weights.pt")
    says(tmp_path / "weights.pt", words)


def test_missing_and_unknown_paths(tmp_path):
    says(tmp_path / "nothing.pt", "no file")
    says(tmp_path / "nothing", "no file")
    (tmp_path / "weights.npz").write_bytes(b"PK")
    says(tmp_path / "weights.npz", "'.npz'", ".safetensors, .pt")
    says(tmp_path, "neither model.safetensors nor", "it has weights.npz")
    save_file({}, tmp_path / "none.safetensors")
    says(tmp_path / "none.safetensors", "need a state dict")


def test_shards_that_are_missing_or_lack_keys(tmp_path):
    places = sharded(tmp_path)
    write_index(tmp_path, {**places, "absent.weight": places["0.weight"]})
    says(tmp_path, "lacks absent.weight, which the index places there")
    write_index(tmp_path, places)
    (tmp_path / places["1.weight"]).write_bytes(BROKEN["pointer"][0])
    says(tmp_path, "git-lfs pointer")
    (tmp_path / places["1.weight"]).unlink()
    says(tmp_path, f"lacks {places['1.weight']}, named in")


@pytest.mark.parametrize(
    "shard", ["../other.safetensors", "/tmp/other.safetensors", "a/b.safetensors", "..", "a\\b.safetensors", "x.pt", 3]
)
def test_shards_outside_the_folder_are_refused(tmp_path, shard):
    inside = tmp_path / "inside"
    (inside / "a").mkdir(parents=True)
    for place in (tmp_path / "other.safetensors", inside / "a" / "b.safetensors"):
        save_file({"a": torch.ones(1)}, place)
    write_index(inside, {"a": shard})
    says(inside, f"names the shard {shard!r}", "plain name")


@pytest.mark.parametrize("text", ["{", "[]", "3", "{}", '{"weight_map": []}', "[" * 100_000, "\xff"])
def test_an_index_that_is_none(tmp_path, text):
    (tmp_path / "model.safetensors.index.json").write_text(text, encoding="latin-1")
    says(tmp_path, "no index of shards")


def refused(module, tensors, *words, ignore=()):
    """The error of filling: one line with the words, and the module as it was."""
    before = {key: tensor.clone() for key, tensor in module.state_dict().items()}
    with pytest.raises(SpecsimError) as error:
        fill(module, tensors, "file.pt", ignore)
    text = str(error.value)
    assert text.startswith("file.pt: ") and "\n" not in text and same(module.state_dict(), before)
    for word in words:
        assert word in text
    return text


def test_fill_copies_in_the_types_of_the_module():
    module = small().half()
    fill(module, state(), "file.pt")
    wanted = {key: tensor.half() if tensor.is_floating_point() else tensor for key, tensor in state().items()}
    assert same(module.state_dict(), wanted)
    assert module[0].weight.dtype == torch.float16 and module[0].weight.requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_fill_gives_a_module_on_the_meta_device_the_tensors_themselves(dtype):
    with torch.device("meta"):
        module = small().to(dtype)
    tensors = {key: tensor.to(dtype) if tensor.is_floating_point() else tensor for key, tensor in state().items()}
    fill(module, tensors, "file.pt")
    assert same(module.state_dict(), tensors) and module[0].weight.requires_grad
    assert module[0].weight.data_ptr() == tensors["0.weight"].data_ptr()
    assert not any(tensor.is_meta for tensor in module.state_dict().values())


def test_fill_casts_for_the_meta_device():
    with torch.device("meta"):
        module = small().double()
    fill(module, state(), "file.pt")
    assert module[0].weight.dtype == torch.float64 and torch.equal(module[0].weight.float(), state()["0.weight"])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_ignored_keys_are_names_or_beginnings_and_never_those_of_the_module(device):
    with torch.device(device):
        module = small()
    extra = {"encoder.a": torch.ones(1), "encoder.b.c": torch.ones(1), "used": torch.ones(1)}
    fill(module, {**state(), **extra}, "file.pt", ("encoder.", "used", "0.", "steps"))
    assert same(module.state_dict(), state())
    refused(small(), {**state(), "used_too": torch.ones(1)}, "unexpected keys used_too: ", ignore=("used",))
    refused(small(), {**state(), "encoders": torch.ones(1)}, "unexpected keys encoders: ", ignore=("encoder.",))


def test_fill_lists_three_of_each_fault_and_counts_the_rest():
    module = nn.Sequential(*(nn.Linear(2, 2) for _ in range(4)))
    tensors = {f"{layer}.weight": torch.ones(2, 3) for layer in range(4)} | {f"x\n{n}": torch.ones(1) for n in range(5)}
    text = refused(module, tensors, "a file of another model or size")
    assert "missing keys 0.bias, 1.bias, 2.bias and 1 more; " in text
    assert "unexpected keys x 0, x 1, x 2 and 2 more; " in text
    assert (
        "wrong shapes 0.weight [2, 3] for [2, 2], 1.weight" in text and "2.weight [2, 3] for [2, 2] and 1 more" in text
    )


def test_a_transposed_or_flattened_tensor_is_of_another_shape():
    for change in (lambda tensor: tensor.T.contiguous(), lambda tensor: tensor.flatten()):
        refused(small(), {**state(), "0.weight": change(state()["0.weight"])}, "wrong shapes 0.weight")


@pytest.mark.parametrize(
    ("key", "change", "word"),
    [
        ("1.bias", lambda tensor: tensor.long(), "torch.int64, need torch.float32"),
        ("1.bias", lambda tensor: tensor.to(torch.complex64), "torch.complex64, need torch.float32"),
        ("1.bias", lambda tensor: tensor > 0, "torch.bool, need torch.float32"),
        ("steps", lambda tensor: tensor.float(), "torch.float32, need torch.int64"),
        ("steps", lambda tensor: tensor.to(torch.complex64), "torch.complex64, need torch.int64"),
        ("1.bias", lambda tensor: tensor.index_fill(0, torch.tensor(2), torch.nan), "NaN or infinity"),
        ("1.bias", lambda tensor: tensor.index_fill(0, torch.tensor(0), torch.inf), "NaN or infinity"),
        ("1.bias", lambda tensor: tensor.index_fill(0, torch.tensor(3), -torch.inf), "NaN or infinity"),
        ("1.bias", lambda tensor: tensor.double() + 1e300, "NaN or infinity as torch.float32"),
    ],
)
def test_fill_refuses_values_of_another_kind(key, change, word):
    refused(small(), {**state(), key: change(state()[key])}, f"key {key!r} holds", word)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_not_a_number_is_found_in_every_type(dtype):
    for value in (torch.nan, torch.inf):
        tensors = {key: tensor.to(dtype) if tensor.is_floating_point() else tensor for key, tensor in state().items()}
        tensors["0.weight"][1, 2] = value
        refused(small().to(dtype), tensors, "key '0.weight' holds NaN or infinity")


def test_a_value_too_large_for_half_precision_is_refused():
    refused(small().half(), {**state(), "1.bias": torch.full((4,), 1e5)}, "NaN or infinity as torch.float16")


def test_folders_have_all_that_is_wanted(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    save_file(state(), tmp_path / "model.safetensors")
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "tokenizer" / "vocab.json").write_text("{}")
    wanted = ("config.json", "*.safetensors", "tokenizer/vocab.json", "tokenizer")
    assert folder(tmp_path, wanted) == tmp_path


def test_folders_that_lack_something(tmp_path):
    with pytest.raises(SpecsimError, match=r"no folder .*nowhere"):
        folder(tmp_path / "nowhere", ("config.json",))
    with pytest.raises(SpecsimError, match=r"lacks config.json, \*.safetensors; it has nothing"):
        folder(tmp_path, ("config.json", "*.safetensors"))
    for name in "abcde":
        (tmp_path / f"{name}.txt").write_text(name)
    (tmp_path / "config.json").symlink_to(tmp_path / "gone")
    with pytest.raises(SpecsimError, match=r"lacks config.json; it has a.txt, b.txt, c.txt and 3 more"):
        folder(tmp_path, ("config.json", "a.txt"))
    with pytest.raises(SpecsimError, match=r"lacks \*.json; "):
        folder(tmp_path, ("*.json", "a.txt"))


def test_a_wanted_file_that_is_a_stand_in_is_found_early(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model-00002.safetensors").write_bytes(BROKEN["pointer"][0])
    with pytest.raises(SpecsimError, match=r"model-00002.safetensors is a git-lfs pointer"):
        folder(tmp_path, ("config.json", "*.safetensors"))
