"""Tables of real models: what is written down is what the model says, along real prefixes, and rounding is admitted."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import specsim
from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.run import Plan, decode
from gpu_eval.tabulate.groups import centroids, partition
from gpu_eval.tabulate.image_model import member, token_use
from gpu_eval.tabulate.plan import TablePlan
from gpu_eval.tabulate.rounding import apportion, enough
from gpu_eval.tabulate.sources import tabulate
from specsim.arrays import total_variation

TOYS = Path(specsim.__file__).parent / "toys"
FLOAT64_ROUNDING = 1e-8  # laws of a four-layer network in float64, and a stated distance to 9 decimals
SHORT = TablePlan("fashion", vocab=3, length=3)


@pytest.fixture(scope="module")
def model():
    return load_fashion(dtype=torch.float64)


@pytest.fixture(scope="module")
def short():
    return tabulate(SHORT)


# -- the laws are the model's ----------------------------------------------------------------------------------------


def model_law(net, label, tokens):
    """The law after `tokens` from the bare network: all slots at once, no cache, no processing."""
    slots = torch.arange(len(tokens) + 1)[None]
    ids = torch.tensor([[*tokens, 0]])
    with torch.no_grad():
        return net(net.embed(ids, torch.tensor([label]), slots), slots)[0, -1].softmax(-1).tolist()


def moved(model, done):
    """Largest TV between a law of the table and the model's law after its representative, summed code by code."""
    about, largest = done.about, {}
    for role, net in (("target", model.target_net), ("draft", model.draft_net)):
        distances = []
        for n, prefixes in enumerate(about["representatives"]):
            for written, prefix in zip(getattr(done, role).at_length(n).tolist(), prefixes, strict=True):
                law = model_law(net, about["label"], about["beginning"] + prefix)
                sums = [sum(law[code] for code in group) for group in about["members"]]
                distances.append(sum(abs(float(a) - b) for a, b in zip(written, sums, strict=True)) / 2)
        largest[role] = max(distances)
    return largest


def faults(model, done):
    """What is wrong with a tabulated image model, in words."""
    about, found = done.about, []
    flat = sorted(itertools.chain(*about["members"]))
    if flat != list(range(512)) or not all(about["members"]):
        found.append("the groups are no partition")
    if [list(map(len, about["members"])), len(about["beginning"])] != [about["group_sizes"], about["start"]]:
        found.append("sizes")
    group = {code: g for g, ids in enumerate(about["members"]) for code in ids}
    for n, prefixes in enumerate(about["representatives"]):
        if [tuple(group[code] for code in prefix) for prefix in prefixes] != list(
            itertools.product(range(3), repeat=n)
        ):
            found.append("a representative is outside its groups")
    for shorter, longer in itertools.pairwise(about["representatives"]):
        if [prefix[:-1] for prefix in longer] != [prefix for prefix in shorter for _ in range(3)]:
            found.append("a representative does not continue the one before")
    for role, distance in moved(model, done).items():
        if abs(distance - about["rounding_moved_tv"][role]) > FLOAT64_ROUNDING:
            found.append(f"{role} laws")
    for table in (done.target, done.draft):
        if any(sum(law) != 1 or any(1000 % x.denominator for x in law) for law in table.laws.tolist()):
            found.append("sums or denominators")
    return found


def test_the_laws_are_the_models_summed_over_groups(model, short):
    assert faults(model, short) == []
    assert short.about["rounding_moved_tv"]["target"] < 3 / 1000


def turned(table):
    return replace(table, laws=np.concatenate([table.laws[:1], table.laws[:0:-1]]))


def edited(done, **changes):
    return replace(done, about=done.about | changes)


def swapped_representatives(done):
    levels = done.about["representatives"]
    return edited(done, representatives=[levels[0], levels[1][::-1], levels[2]])


def stray_member(done):
    first, *others = done.about["members"]
    return edited(done, members=[first + others[0][:1], *others])


MUTANTS = {
    "draft laws at other prefixes": (lambda d: replace(d, draft=turned(d.draft)), "draft laws"),
    "draft for target": (lambda d: replace(d, target=d.draft), "target laws"),
    "groups permuted": (lambda d: edited(d, members=d.about["members"][::-1]), "target laws"),
    "groups permuted in the draft": (lambda d: replace(d, draft=replace(d.draft, laws=d.draft.laws[:, ::-1])), "draft"),
    "another class": (lambda d: edited(d, label=6), "target laws"),
    "another beginning": (lambda d: edited(d, beginning=d.about["beginning"][::-1]), "target laws"),
    "rounding understated": (lambda d: edited(d, rounding_moved_tv={"target": 0, "draft": 0}), "target laws"),
    "representatives swapped": (swapped_representatives, "outside"),
    "a code in two groups": (stray_member, "partition"),
    "not normalised": (lambda d: replace(d, target=replace(d.target, laws=d.target.laws * 2)), "sums"),
}


@pytest.mark.parametrize(("mutant", "fault"), MUTANTS.values(), ids=list(MUTANTS))
def test_mutants_are_caught(model, short, mutant, fault):
    assert fault in " ".join(faults(model, mutant(short)))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_beginning_is_that_of_the_picture_which_run_decodes(model, seed):
    image = decode(Plan("fashion", specsim.Autoregressive(), images=1, label=5, seed=seed), model)
    done = tabulate(TablePlan("fashion", vocab=3, length=1, seed=seed))
    assert done.about["beginning"] == image.tokens[0, :24].tolist()


def test_representatives_are_drawn_anew_by_every_seed():
    one, two = (tabulate(TablePlan("fashion", 3, 2, start=0, seed=seed)).about for seed in (0, 1))
    assert one["beginning"] == two["beginning"] == [] and one["representatives"] != two["representatives"]


def test_a_shorter_table_is_the_head_of_a_longer_one(short):
    two = tabulate(replace(SHORT, length=2))
    assert (two.target.laws == short.target.laws[:4]).all() and (two.draft.laws == short.draft.laws[:4]).all()
    assert two.about["representatives"] == short.about["representatives"][:2]


def test_every_setting_changes_the_table(short):
    seen = {str(short.target.laws.tolist())}
    for change in ({"label": 6}, {"seed": 1}, {"start": 25}, {"denominator": 100}, {"processing": Processing(2.0)}):
        seen.add(str(tabulate(replace(SHORT, **change)).target.laws.tolist()))
    assert len(seen) == 6


def test_zeros_of_the_target_stay_and_their_prefixes_are_counted():
    done = tabulate(replace(SHORT, processing=Processing(top_k=2)))
    zeros = (done.target.laws == 0).any(axis=1)
    assert zeros.any() and done.about["prefixes_the_target_never_makes"] > 0
    assert "--top-k 2" in done.about["command"] and done.about["processing"]["top_k"] == 2
    reached = specsim.laws.target_mass(done.target, 1), specsim.laws.target_mass(done.target, 2)
    assert done.about["prefixes_the_target_never_makes"] == sum((mass == 0).sum() for mass in reached)


def test_a_picture_can_be_tabulated_from_its_first_token_and_one_code_a_group():
    done = tabulate(TablePlan("fashion", vocab=512, length=1, start=0))
    assert done.about["beginning"] == [] and done.about["group_sizes"] == [1] * 512
    assert done.about["denominator"] == 10**6 and (done.target.laws > 0).all()


# -- groups ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 7, 32, 511, 512])
def test_groups_are_a_partition_into_near_codes_of_like_use(model, count):
    codes, use = model.codebook.double().numpy(), token_use(model)
    groups = partition(codes, use, count)
    assert len(groups) == count and sorted(np.concatenate(groups)) == list(range(512)) and min(map(len, groups)) >= 1
    share = np.array([use[ids].sum() for ids in groups]) / use.sum()
    if count <= 32:  # one code has 3 % of the use, so more groups cannot share alike
        assert share.min() > 0.8 / count and share.max() < 1.25 / count

    def spread(groups):
        pairs = zip(groups, centroids(codes, use, groups), strict=True)
        return sum((use[ids, None] * (codes[ids] - centre) ** 2).sum() for ids, centre in pairs)

    order = np.random.default_rng(0).permutation(512)
    mixed = np.split(order, np.cumsum([len(ids) for ids in groups])[:-1])
    assert spread(groups) < (0.7 * spread(mixed) if count < 511 else spread(mixed) + 1e-9)


def test_a_member_is_drawn_as_often_as_its_law_says():
    """Evenly spaced uniforms: no chance involved, so every count is right to one draw at either end."""
    law, ids, draws = np.array([0.1, 0.0, 0.2, 0.3, 0.4]), np.array([0, 1, 3]), 4000
    even = (np.arange(draws) + 0.5) / draws
    drawn = np.bincount(member(np.tile(law, (draws, 1)), ids, np.array([1, 9, 1, 5, 1]), even), minlength=5)
    assert abs(drawn - draws * np.array([0.25, 0, 0, 0.75, 0])).max() <= 1 and drawn[[1, 2, 4]].sum() == 0
    assert member(np.array([[0, 0, 1.0]]), np.array([0, 1]), np.array([1, 2, 3]), np.array([0.5])) == [1]


# -- rounding ----------------------------------------------------------------------------------------------------------


def random_laws():
    rng = np.random.default_rng(0)
    for _ in range(300):
        vocab = int(rng.integers(2, 12))
        law = rng.dirichlet(np.full(vocab, rng.choice([0.01, 0.1, 1, 10])))
        yield np.where(rng.random(vocab) < 0.2, 0, law) if rng.random() < 0.5 and law[0] > 0.2 else law


def test_rounding_sums_exactly_keeps_the_support_and_moves_little():
    for law in random_laws():
        law = law if law.sum() > 0 else np.ones_like(law)
        for denominator in (len(law), 3 * len(law), enough(len(law))):
            units = apportion(law, denominator)
            assert units.sum() == denominator and ((units > 0) == (law > 0)).all()
            assert total_variation(units / denominator, law / law.sum()) <= len(law) / denominator


def test_rounding_gives_missing_units_to_those_that_lost_most():
    assert apportion(np.array([0.335, 0.334, 0.331]), 100).tolist() == [34, 33, 33]
    assert apportion(np.array([0.9999, 0.0001, 0.0]), 1000).tolist() == [999, 1, 0]
    assert apportion(np.array([0.25, 0.75]), 4).tolist() == [1, 3]
    assert [enough(v) for v in (2, 3, 4, 33, 34, 512)] == [1000, 1000, 10**4, 10**4, 10**5, 10**6]
