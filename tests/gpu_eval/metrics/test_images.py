"""Sets of images: folders and arrays, in order, as 8-bit colours; what is refused."""

import numpy as np
import pytest
import torch
from PIL import Image

from gpu_eval.metrics.images import images_of
from specsim.errors import SpecsimError


def picture(seed, *shape):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def all_of(images, most=50):
    return list(images.batches(most))


def test_a_folder_in_the_order_of_numbers(tmp_path):
    for number in (10, 2, 1):
        Image.fromarray(np.full((3, 4), number, np.uint8)).save(tmp_path / f"image_{number}.png")
    (tmp_path / "notes.txt").write_text("no picture")
    (batch,) = all_of(images_of(tmp_path))
    assert batch.dtype == torch.uint8 and batch.shape == (3, 3, 3, 4)
    assert batch[:, 0, 0, 0].tolist() == [1, 2, 10]


def test_a_batch_ends_where_the_size_changes(tmp_path):
    for index, size in enumerate([(4, 4), (4, 4), (4, 4), (2, 6), (4, 4)]):
        Image.fromarray(picture(index, *size, 3)).save(tmp_path / f"{index}.png")
    assert [tuple(batch.shape) for batch in all_of(images_of(tmp_path), most=2)] == [
        (2, 3, 4, 4), (1, 3, 4, 4), (1, 3, 2, 6), (1, 3, 4, 4)
    ]  # fmt: skip


def test_grey_colour_and_palette_pictures_are_what_they_show(tmp_path):
    colour, grey = picture(0, 5, 6, 3), picture(1, 5, 6)
    Image.fromarray(colour).save(tmp_path / "0.png")
    Image.fromarray(grey).save(tmp_path / "1.png")
    Image.fromarray(grey).convert("P").save(tmp_path / "2.png")
    Image.fromarray(grey).convert("RGBA").save(tmp_path / "3.png")  # opaque
    (batch,) = all_of(images_of(tmp_path))
    assert np.array_equal(batch[0].numpy(), colour.transpose(2, 0, 1))
    for index in (1, 2, 3):
        assert np.array_equal(batch[index].numpy(), np.broadcast_to(grey, (3, 5, 6)))


@pytest.mark.parametrize("key", ["images", "arr_0"])
@pytest.mark.parametrize("shape", [(3, 5, 6), (3, 5, 6, 1), (3, 5, 6, 3)])
def test_arrays(tmp_path, key, shape):
    array = picture(0, *shape)
    np.savez(tmp_path / "x.npz", **{key: array, "labels": np.arange(3)})
    (batch,) = all_of(images_of(tmp_path / "x.npz"))
    wide = np.broadcast_to(array.reshape(3, 5, 6, -1), (3, 5, 6, 3))
    assert np.array_equal(batch.numpy(), wide.transpose(0, 3, 1, 2))


def test_floats_are_rounded_as_a_picture_file_rounds_them(tmp_path):
    floats = np.array([[[0.0, 1.0, 0.999, 0.5 / 255, 1.6 / 255]]], np.float32)
    np.savez(tmp_path / "x.npz", images=floats)
    (batch,) = all_of(images_of(tmp_path / "x.npz"))
    assert batch[0, 0, 0].tolist() == [0, 255, 255, 0, 2]
    assert (torch.from_numpy(floats) * 255).byte()[0, 0].tolist() == [0, 255, 254, 0, 1], "torchmetrics cuts them"


def save(folder, name, image):
    image.save(folder / name)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda folder: None, "holds no picture"),
        (lambda folder: (folder / "0.png").write_bytes(b"no picture"), "cannot read picture .*0.png"),
        (lambda folder: save(folder, "0.png", Image.new("RGBA", (2, 2), (1, 2, 3, 7))), "partly transparent"),
        (lambda folder: save(folder, "0.png", Image.new("I;16", (2, 2))), "8 bits a channel"),
    ],
)
def test_folders_that_are_refused(tmp_path, write, said):
    write(tmp_path)
    with pytest.raises(SpecsimError, match=said):
        all_of(images_of(tmp_path))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"pictures": picture(0, 2, 3, 3)}, "no array named images or arr_0"),
        ({"images": picture(0, 2, 3, 4, 5)}, r"has shape \(2, 3, 4, 5\)"),
        ({"images": picture(0, 4, 4)}, "has shape"),
        ({"images": picture(0, 0, 4, 4)}, "has shape"),
        ({"images": np.zeros((2, 3, 3), np.int64)}, "int64; it must be uint8"),
        ({"images": np.full((2, 3, 3), 200.0)}, "floats from 200 to 200"),
        ({"images": np.full((2, 3, 3), np.nan)}, "floats from nan"),
        ({"images": np.array([{}], dtype=object)}, "cannot read"),
    ],
)
def test_arrays_that_are_refused(tmp_path, arrays, said):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(SpecsimError, match=said):
        images_of(tmp_path / "x.npz")


def test_files_that_are_no_npz(tmp_path):
    with pytest.raises(SpecsimError, match="does not exist"):
        images_of(tmp_path / "x.npz")
    (tmp_path / "x.npz").write_bytes(b"no archive")
    with pytest.raises(SpecsimError, match=r"cannot read .*x\.npz"):
        images_of(tmp_path / "x.npz")
    np.save(tmp_path / "x.npy", picture(0, 2, 3, 3))
    with pytest.raises(SpecsimError, match="a single array"):
        images_of(tmp_path / "x.npy")
