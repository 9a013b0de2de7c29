"""Trees of drafts on real networks: one forward, each node after its own way and nothing else."""

import pytest
import torch

from gpu_eval import nodes as nodes_file
from gpu_eval.cache import Cached
from gpu_eval.fashion import load_fashion
from gpu_eval.network import ImageModel
from gpu_eval.nodes import Nodes
from gpu_eval.processing import Processing
from specsim import Autoregressive, DynamicTree, Lenient, Race, Strict, Tree, sample
from specsim.decoders.tree_round import all_laws
from specsim.decoding import Rows
from specsim.trees import Branches

ROUNDING = 1e-12  # float64 laws of a few layers, sums taken in another order
PATHS = ((0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 0, 1))
BRANCHES = Branches(PATHS)


class NodeByNode:
    """A model that reads no trees: every node is asked for as a sequence."""

    def __init__(self, model):
        self.model = model
        self.vocab, self.length, self.uniform, self.codebook = model.vocab, model.length, model.uniform, model.codebook

    def __call__(self, tokens, start, count):
        return self.model(tokens, start, count)


def fashion_model(guidance=1.0, draft=False, cached=True, rows=3):
    model = load_fashion(dtype=torch.float64)
    make = model.draft if draft else model.target
    return make(torch.arange(rows), Processing(guidance), cached=cached)


def library_model(guidance=1.0, draft=False, cached=True, rows=3):
    pytest.importorskip("transformers")
    from tests.gpu_eval.models.test_hugging_face import causal, network

    names = [*range(rows), *range(rows)] if guidance != 1 else range(rows)
    model = ImageModel(network(causal(seed=int(draft)), rows=names), Processing(guidance))
    return Cached(model) if cached else model


MODELS = {"fashion": fashion_model, "transformers": library_model}


@pytest.mark.parametrize("guidance", [1.0, 2.0])
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_a_node_has_the_law_of_its_way(make, guidance):
    """After any history, with calls for windows between trees, up to the end of the sequence."""
    tree, plain = make(guidance), NodeByNode(make(guidance, cached=False))
    draws = torch.Generator().manual_seed(0)
    tokens = torch.randint(tree.vocab, (3, tree.length), generator=draws)
    for round in range(6):
        start = torch.randint(tree.length, (3,), generator=draws)
        nodes = torch.randint(tree.vocab, (3, BRANCHES.size), generator=draws)
        branches = BRANCHES if round % 3 else BRANCHES.up_to(1)  # smaller trees after larger ones
        asked = Rows(tokens, start), nodes[:, : branches.size], branches
        found, wanted = all_laws(tree, *asked), all_laws(plain, *asked)
        inside = start[:, None] + torch.as_tensor(branches.level) < tree.length
        assert (found - wanted).abs().amax(-1)[inside].max() < ROUNDING
        window = tree(tokens, start, 2)
        assert (window - plain(tokens, start, 2)).abs().max() < ROUNDING
        kept = torch.arange(tree.length) < start[:, None]
        tokens = torch.where(kept, tokens, torch.randint(tree.vocab, tokens.shape, generator=draws))


def sees_its_elders(self, slots, start):
    """A wrong mask: a node sees every node before it, its siblings too."""
    many = self.many
    full = Nodes(self.tokens, self.slots, self.start, torch.ones(many, many).tril().bool().expand_as(self.sees))
    return MASK(full, slots, start)


def sees_the_future(self, slots, start):
    """A wrong mask: a node sees what the last slot of the call sees."""
    return MASK(self, slots, torch.ones_like(start))


def sees_no_parent(self, slots, start):
    """A wrong mask: a node sees itself and the final tokens only."""
    alone = Nodes(self.tokens, self.slots, self.start, torch.eye(self.many).bool().expand_as(self.sees))
    return MASK(alone, slots, start)


MASK = Nodes.mask


@pytest.mark.parametrize("mask", [sees_its_elders, sees_no_parent, sees_the_future], ids=lambda mask: mask.__name__)
def test_a_wrong_mask_is_seen(mask, monkeypatch):
    monkeypatch.setattr(nodes_file.Nodes, "mask", mask)
    with pytest.raises(AssertionError):
        test_a_node_has_the_law_of_its_way(fashion_model, 1.0)


def test_a_node_turned_by_its_place_is_seen(monkeypatch):
    """Its slot is its level after the final tokens, not its number."""
    plain = Cached.read_tree

    class Numbered(Branches):
        @property
        def level(self):
            return torch.arange(self.size).numpy()

    monkeypatch.setattr(Cached, "read_tree", lambda self, t, s, n, b: plain(self, t, s, n, Numbered(b.paths)))
    with pytest.raises(AssertionError):
        test_a_node_has_the_law_of_its_way(fashion_model, 1.0)


@pytest.mark.parametrize("tree", [Tree(PATHS), Tree(PATHS, "independent"), DynamicTree(3, 3, 8)], ids=repr)
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_a_race_on_a_tree_is_plain_decoding(make, tree):
    """Mask, memory and the way back to what was kept, token for token, with guidance."""
    plain = sample(Race(Autoregressive()), make(2.0, cached=False), rows=3, seed=4)
    found = sample(Race(tree), make(2.0), make(2.0, draft=True), rows=3, seed=4)
    assert torch.equal(found.tokens, plain.tokens) and found.calls.sum() < plain.calls.sum()


@pytest.mark.parametrize("tree", [Tree(PATHS), DynamicTree(2, 3, 7)], ids=repr)
@pytest.mark.parametrize("rule", [Strict(), Lenient(1.5)], ids=repr)
def test_one_forward_gives_what_many_do(rule, tree):
    pair = fashion_model(), fashion_model(draft=True)
    one = sample(tree, *pair, rule, rows=3, seed=4)
    many = sample(
        tree,
        *(NodeByNode(model) for model in (fashion_model(), fashion_model(draft=True))),
        rule,
        rows=3,
        seed=4,
    )
    assert torch.equal(one.tokens, many.tokens) and (one.calls == many.calls).all()


def test_a_tree_costs_one_forward_of_its_nodes_and_what_was_kept():
    model, seen = fashion_model(), []
    model.model.network.net.layers[0].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].shape[1]))
    tokens, start = torch.zeros(3, 49, dtype=torch.int64), torch.tensor([4, 4, 4])
    model(tokens, start, 1)
    model.tree(tokens, start, torch.zeros(3, BRANCHES.size, dtype=torch.int64), BRANCHES)  # makes room, reads all again
    model.tree(tokens, start + 3, torch.zeros(3, BRANCHES.size, dtype=torch.int64), BRANCHES)
    assert seen == [5, 5 + len(PATHS), 3 + len(PATHS)]
