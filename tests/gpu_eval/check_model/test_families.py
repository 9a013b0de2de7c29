"""The example on saved weights, and the shipped families on tiny random ones, all held to the same guarantees."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

transformers = pytest.importorskip("transformers")

from gpu_eval.check_model.check import check  # noqa: E402
from gpu_eval.check_model.looks import HOLDS, INCONCLUSIVE, NOT_APPLICABLE  # noqa: E402
from gpu_eval.check_model.subject import subject_of  # noqa: E402
from gpu_eval.models.loaded import Loaded  # noqa: E402
from specsim.files import load_module  # noqa: E402
from tests.gpu_eval.check_model import mutants as m  # noqa: E402
from tests.gpu_eval.models import library_models as shared  # noqa: E402


def own(folder: Path) -> Loaded:
    module = load_module(m.EXAMPLE)
    module.tiny().save_pretrained(folder)
    named = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    shared.tokenizer(named, (), ("a", "red", "cup", "rain", "old", "stone", "two"), begins=True).save_pretrained(folder)
    return module.make(str(folder))


def janus(folder: Path) -> Loaded:
    from gpu_eval.models import janus as family
    from tests.gpu_eval.models import test_janus as tests

    tests.tiny(0).save_pretrained(folder)
    tests.tokenizer().save_pretrained(folder)
    return family.load(folder, "cpu", torch.float32)


def emu3(folder: Path) -> Loaded:
    from gpu_eval.models import emu3 as family
    from tests.gpu_eval.models import test_emu3 as tests

    tests.tiny(0).save_pretrained(folder)
    tests.tokenizer().save_pretrained(folder)
    return family.load(folder, "cpu", torch.float32, area=tests.AREA)


@pytest.mark.parametrize("make", [own, janus, emu3])
def test_a_family_holds(make: Callable[[Path], Loaded], tmp_path):
    report = check(subject_of(make(tmp_path), 2, 0))
    open_ones = [look for item in report.items for look in item.looks if look.verdict == INCONCLUSIVE]
    assert not report.failed and not open_ones
    assert {item.verdict for item in report.items} <= {HOLDS, NOT_APPLICABLE}
