"""The transformer against a slow second writing of its formulas, and the layout of the released code."""

import pytest
import torch

from gpu_eval.rotary import rotate, rotation_table
from gpu_eval.transformer import LLAMAGEN, Config, Transformer, blank_memory
from specsim.errors import SpecsimError

ROUNDING = 1e-12  # float64 sums of a few hundred terms of size 1, in another order
TINY = Config(vocab=11, grid=3, classes=4, layers=2, heads=2, width=16, ffn_multiple=8)


def tiny(seed: int = 0, **changes) -> Transformer:
    torch.manual_seed(seed)
    net = Transformer(Config(**{**vars(TINY), **changes})).double()
    with torch.no_grad():
        for weight in net.parameters():  # far from the small first weights, so that attention is not nearly flat
            weight.normal_(1.0 if weight.ndim == 1 else 0.0, 0.4)
    return net


def whole(net: Transformer, tokens: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    slots = torch.arange(net.config.length).expand(len(tokens), -1)
    return net(net.embed(tokens, labels, slots), slots)


def oracle(net: Transformer, tokens: torch.Tensor, label: int) -> torch.Tensor:
    """Logits [N, V] of one row: complex rotation, one head and one query at a time."""
    config, weights = net.config, net.state_dict()
    x = torch.stack([weights["cls_embedding.embedding_table.weight"][label], *weights["tok_embeddings.weight"][tokens]])
    x = x[: config.length]
    for n in range(config.layers):
        layer = {key.removeprefix(f"layers.{n}."): w for key, w in weights.items() if key.startswith(f"layers.{n}.")}
        x = x + attend(config, layer, norm(x, layer["attention_norm.weight"], config.norm_eps))
        y = norm(x, layer["ffn_norm.weight"], config.norm_eps)
        gate = y @ layer["feed_forward.w1.weight"].T
        x = x + (gate * gate.sigmoid() * (y @ layer["feed_forward.w3.weight"].T)) @ layer["feed_forward.w2.weight"].T
    return norm(x, weights["norm.weight"], config.norm_eps) @ weights["output.weight"].T


def norm(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def attend(config, layer, x):
    size, heads = config.head_dim, []
    query, key, value = (x @ layer["attention.wqkv.weight"].T).split(
        [config.width, config.groups * size, config.groups * size], dim=1
    )
    for h in range(config.heads):
        g = h // (config.heads // config.groups)
        q = torch.stack([turned(config, t, row) for t, row in enumerate(query[:, h * size : (h + 1) * size])])
        k = torch.stack([turned(config, t, row) for t, row in enumerate(key[:, g * size : (g + 1) * size])])
        v = value[:, g * size : (g + 1) * size]
        heads.append(torch.stack([(k[: t + 1] @ q[t] / size**0.5).softmax(0) @ v[: t + 1] for t in range(len(x))]))
    return torch.cat(heads, 1) @ layer["attention.wo.weight"].T


def turned(config, slot, vector):
    """Pair i of the row half turns by row * base ** (-2 i / half), of the column half by the column."""
    if slot == 0:
        return vector * (0 if config.class_rotation == "zero" else 1)
    half = config.head_dim // 2
    speeds = config.rope_base ** (-torch.arange(0, half, 2, dtype=torch.float64) / half)
    angles = torch.cat([(slot - 1) // config.grid * speeds, (slot - 1) % config.grid * speeds])
    pairs = torch.view_as_complex(vector.view(-1, 2)) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs).flatten()


@pytest.mark.parametrize("changes", [{}, {"class_rotation": "identity"}, {"heads": 4, "kv_heads": 2}])
def test_forward_is_the_formula(changes):
    net = tiny(**changes)
    tokens = torch.randint(11, (3, 9), generator=torch.Generator().manual_seed(1))
    found = whole(net, tokens, torch.tensor([0, 2, 4]))
    for row, label in enumerate([0, 2, 4]):
        assert torch.allclose(found[row], oracle(net, tokens[row], label), atol=ROUNDING, rtol=0)


def test_windows_with_a_memory_are_the_whole_forward():
    net = tiny(kv_heads=1)
    tokens, labels = torch.randint(11, (2, 9)), torch.tensor([1, 4])
    expected, memory = whole(net, tokens, labels), blank_memory(net.config, 2, net.output.weight)
    for slots in ([[0, 1, 2], [0, 1, 2]], [[3, 4], [2, 3]], [[5, 6, 7], [4, 5, 6]], [[8, 8], [7, 8]]):
        slots = torch.tensor(slots)
        found = net(net.embed(tokens, labels, slots), slots, memory)
        assert torch.allclose(found, expected.gather(1, slots[..., None].expand_as(found)), atol=ROUNDING, rtol=0)


def test_scores_depend_on_the_difference_of_rows_and_of_columns_only():
    query, key = torch.randn(2, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    cos, sin = rotation_table(5, 16, 10000, "zero")
    places = torch.arange(25)
    score = rotate(query.expand(25, 16), cos[1:], sin[1:]) @ rotate(key.expand(25, 16), cos[1:], sin[1:]).T
    step = (places // 5)[:, None] - places // 5, (places % 5)[:, None] - places % 5
    groups = 100 * step[0] + step[1]
    for group in groups.unique():
        assert score[groups == group].max() - score[groups == group].min() < ROUNDING
    assert len(score.flatten().mul(1e9).round().unique()) == len(groups.unique()) == 81


def test_class_slot_is_zeroed_or_left_alone():
    x = torch.randn(1, 1, 2, 8, dtype=torch.float64)
    for rotation, expected in (("zero", torch.zeros_like(x)), ("identity", x)):
        cos, sin = rotation_table(3, 8, 10000, rotation)[:, :1]
        assert torch.equal(rotate(x, cos, sin), expected)


def test_state_dict_has_the_released_keys():
    layer = "attention.wqkv attention.wo feed_forward.w1 feed_forward.w2 feed_forward.w3 attention_norm ffn_norm"
    expected = {f"layers.{n}.{name}.weight" for n in range(2) for name in layer.split()}
    expected |= {f"{n}.weight" for n in ("cls_embedding.embedding_table", "tok_embeddings", "norm", "output")}
    assert set(tiny().state_dict()) == expected


@pytest.mark.parametrize(("size", "millions"), [("B", 111), ("L", 343), ("XL", 775), ("XXL", 1411), ("3B", 3100)])
def test_published_sizes(size, millions):
    with torch.device("meta"):
        net = Transformer(LLAMAGEN[size])
    count = sum(weight.numel() for weight in net.parameters())
    assert round(count / 1e6, 1) == pytest.approx(millions, rel=0.01)  # the release prints rounded millions


def test_rotation_stays_in_float32_when_the_model_is_cast_down():
    net = Transformer(TINY).bfloat16()
    assert net.output.weight.dtype == torch.bfloat16
    assert torch.equal(net.rotation.table, rotation_table(3, 8, 10000, "zero").float())


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"width": 20}, "width 20"), ({"kv_heads": 3}, "kv_heads 3"), ({"class_rotation": "none"}, "'none'")],
)
def test_impossible_sizes_are_refused(changes, words):
    with pytest.raises(SpecsimError, match=words):
        Config(**{**vars(TINY), **changes})
