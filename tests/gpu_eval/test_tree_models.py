"""Trees of drafts on real networks: one forward, each node after its own way and nothing else."""

from dataclasses import replace

import pytest
import torch

from gpu_eval import nodes as nodes_file
from gpu_eval.cache import Cached
from gpu_eval.fashion import load_fashion
from gpu_eval.leaves import Leaves
from gpu_eval.network import ImageModel
from gpu_eval.nodes import Nodes
from gpu_eval.processing import Processing
from specsim import Autoregressive, DynamicTree, Lenient, Race, Strict, Tree, sample
from specsim.decoders.tree_round import all_laws
from specsim.decoding import Rows
from specsim.errors import SpecsimError
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


def test_a_tree_costs_one_forward_of_its_nodes_and_one_slot():
    """Nodes that became final are moved, not read again; what was replaced is read."""
    model, seen = fashion_model(), []
    model.model.network.net.layers[0].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].shape[1]))
    tokens, start = torch.zeros(3, 49, dtype=torch.int64), torch.tensor([4, 4, 4])
    nodes = torch.arange(BRANCHES.size).expand(3, -1)
    model(tokens, start, 1)
    model.tree(tokens, start, nodes, BRANCHES)  # makes room, reads all again
    tokens[:, 4:8] = torch.tensor(
        [[2, 6, 9, 9], [1, 4, 7, 9], [3, 9, 9, 9]]
    )  # two, three, one of its nodes, and others
    model.tree(tokens, start + torch.tensor([3, 4, 2]), nodes, BRANCHES)
    model.tree(tokens, start + torch.tensor([3, 4, 4]), nodes, BRANCHES)  # the third row went past the tree by two
    assert seen == [5, 5 + len(PATHS), 1 + len(PATHS), 2 + len(PATHS)]


def moves_the_sibling(self, tokens, length):
    """A wrong way: the elder sibling's keys."""
    nodes, count = KEPT(self, tokens, length)
    return torch.where(nodes > 1, nodes - 1, nodes), count


def moves_too_far(self, tokens, length):
    """Keys of a node that the tokens did not go to."""
    deepest = torch.full_like(self.start, BRANCHES.depth)
    return self.way[:, -1], torch.minimum(deepest, length - 1 - self.start)


KEPT = Leaves.kept


@pytest.mark.parametrize("kept", [moves_the_sibling, moves_too_far], ids=lambda m: m.__name__)
def test_wrong_keys_moved_are_seen(kept, monkeypatch):
    monkeypatch.setattr(Leaves, "kept", kept)
    with pytest.raises(AssertionError):
        test_laws_after_nodes_that_became_final(fashion_model, 1.0)


@pytest.mark.parametrize("guidance", [1.0, 2.0])
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_laws_after_nodes_that_became_final(make, guidance):
    """Rows go different ways of a tree, or none, or have other tokens before it; then windows and trees follow."""
    tree, plain = make(guidance), NodeByNode(make(guidance, cached=False))
    draws = torch.Generator().manual_seed(3)
    tokens, start = torch.randint(tree.vocab, (3, tree.length), generator=draws), torch.zeros(3, dtype=torch.int64)
    for round in range(8):
        nodes = torch.randint(tree.vocab, (3, BRANCHES.size), generator=draws)
        found, wanted = (all_laws(model, Rows(tokens, start), nodes, BRANCHES) for model in (tree, plain))
        inside = start[:, None] + torch.as_tensor(BRANCHES.level) < tree.length
        assert (found - wanted).abs().amax(-1)[inside].max() < ROUNDING
        rows = []
        for row, node in enumerate(torch.randint(BRANCHES.size, (3,), generator=draws).tolist()):
            way = [step for step in BRANCHES.way[node].tolist() if step]
            first = int(start[row])
            kept = torch.cat([tokens[row, :first], nodes[row, way], torch.tensor([round])])[: tree.length]
            rows.append(torch.cat([kept, tokens[row, len(kept) :]]))
            start[row] = len(kept) if len(kept) < tree.length - 1 else 0
        tokens = torch.stack(rows)
        if round == 3:
            tokens[1, 0] = (tokens[1, 0] + 1) % tree.vocab
        if round % 3 == 1:
            first = (start - 2).clamp(min=0)
            assert (tree(tokens, first, 3) - plain(tokens, first, 3)).abs().max() < ROUNDING


@pytest.mark.parametrize("decoder", [Tree(PATHS), Tree(PATHS, "independent"), DynamicTree(3, 3, 8)], ids=repr)
def test_trees_keep_the_promise_of_asking_in_order(decoder):
    """A verifier computes no slot before the tree's, a draft one: no call has to wait to learn how many."""
    models = fashion_model(), fashion_model(draft=True)
    promised = [Cached(replace(model.model, checked=False), ahead=ahead) for ahead, model in enumerate(models)]
    found = sample(decoder, *promised, Lenient(1.5), rows=3, seed=4)
    assert torch.equal(found.tokens, sample(decoder, *models, Lenient(1.5), rows=3, seed=4).tokens)
    broken = Cached(replace(models[1].model, checked=False), ahead=0)
    with pytest.raises(SpecsimError, match="changed more tokens than its cache was told"):
        sample(decoder, models[0], broken, Lenient(9.0), rows=3, seed=4)
