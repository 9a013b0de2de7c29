"""What the tests of families on the transformers library share: tiny tokenizers and weights, and checks of a family."""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from gpu_eval.cache import Cached
from gpu_eval.models.loaded import Loaded
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing, guide, law
from gpu_eval.prompts import Prompt
from gpu_eval.race_ties import race_agreement

INSIDE = 1e-6
"""Laws of float64 models of two layers: the library rounds norms and rotations to float32 inside, so a position that is
counted from elsewhere, or a sum in another order, shows there."""
APART = 1e-2  # laws that a check must tell apart differ by more, in the mean over positions of the largest entry's


def tokenizer(named: dict[str, str], others: Sequence[str], words: Sequence[str], begins: bool, extra=None):
    """Words split at white space; `named` special tokens by their role, `others` are special too; ids in this order.

    begins: put the begin of sentence before every text, as Llama's do; extra: further tokens by id.
    """
    specials = [*named.values(), *others]
    vocab = {word: number for number, word in enumerate([*specials, *words, "[UNK]"])} | (extra or {})
    inner = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.add_special_tokens(specials)
    if begins:
        first = named["bos_token"]
        inner.post_processor = processors.TemplateProcessing(
            single=f"{first} $A", special_tokens=[(first, vocab[first])]
        )
    own = {role: token for role, token in named.items() if role in ("bos_token", "eos_token", "pad_token")}
    rest = {role: token for role, token in named.items() if role not in own}
    return PreTrainedTokenizerFast(tokenizer_object=inner, padding_side="left", extra_special_tokens=rest, **own)


def wide(kind, config, seed: int):
    """A model with matrices of weights wide enough that laws differ; float64, the same for a seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(config)
        for weight in model.parameters():
            if weight.ndim > 1:
                torch.nn.init.normal_(weight, std=0.3)
    return model.double().eval().requires_grad_(False)


def prompts(*texts: str) -> list[Prompt]:
    return [Prompt(text, None, "test") for text in texts]


def some_tokens(model: ImageModel | Cached, rows: int, seed: int):
    return torch.randint(model.vocab, (rows, model.length), generator=torch.Generator().manual_seed(seed))


def start(rows: int):
    return torch.zeros(rows, dtype=torch.int64)


def whole(loaded: Loaded, asked: Sequence[Prompt], processing: Processing, tokens):
    """Every law [B, length, V] in one forward, without a memory."""
    return loaded.model(asked, processing, cached=False)(tokens, start(len(asked)), loaded.length)


def check_a_window_is_its_tokens_one_by_one(loaded: Loaded, asked: Sequence[Prompt], guidance: float) -> None:
    model = loaded.model(asked, Processing(guidance=guidance))
    tokens = some_tokens(model, len(asked), 2)
    expected = whole(loaded, asked, Processing(guidance=guidance), tokens)
    single = torch.cat([model(tokens, start(len(asked)) + t, 1) for t in range(loaded.length)], dim=1)
    assert (single - expected).abs().max() < INSIDE
    # Tokens, positions and prompts all show.
    others = whole(loaded, asked, Processing(guidance=guidance), tokens.roll(1, 1))
    assert (others[:, 1:] - expected[:, 1:]).abs().amax(-1).mean() > APART
    assert (expected[:, 1:] - expected[:, :-1]).abs().amax(-1).mean() > APART
    assert (expected[0] - expected[1]).abs().amax(-1).mean() > APART


def check_every_row_rolls_back_by_itself(loaded: Loaded, asked: Sequence[Prompt], guidance: float) -> None:
    cached = loaded.model(asked, Processing(guidance=guidance))
    plain, rows, length = cached.model, len(asked), loaded.length
    tokens, draws = some_tokens(cached, rows, 3), torch.Generator().manual_seed(4)
    for _ in range(20):
        at = torch.randint(length + 1, (rows,), generator=draws)
        count = int(torch.randint(1, 7, (), generator=draws))
        fresh = torch.randint(loaded.model(asked, Processing()).vocab, tokens.shape, generator=draws)
        tokens = torch.where(torch.arange(length) < at[:, None] - 2, tokens, fresh)
        assert (cached(tokens, at, count) - plain(tokens, at, count)).abs().max() < INSIDE


def check_a_prompt_is_of_no_effect_on_another(loaded: Loaded, asked: Sequence[Prompt], guidance: float) -> None:
    """Prompts of other lengths in one batch are what each is alone."""
    processing = Processing(guidance=guidance)
    tokens = some_tokens(loaded.model(asked, processing), len(asked), 5)
    together = whole(loaded, asked, processing, tokens)
    for row, prompt in enumerate(asked):
        assert (whole(loaded, [prompt], processing, tokens[[row]])[0] - together[row]).abs().max() < INSIDE


def check_guidance_is_two_passes(loaded: Loaded, asked: Sequence[Prompt], guidance: float) -> None:
    rows = len(asked)
    doubled, processing = loaded.network(asked, True), Processing(guidance=guidance)
    tokens = some_tokens(loaded.model(asked, processing), rows, 6)
    slots = torch.arange(loaded.length).expand(2 * rows, -1)
    first, second = doubled.logits(tokens[:, :-1].repeat(2, 1), slots).chunk(2)
    single = loaded.network(asked, False).logits(tokens[:, :-1], slots[:rows])
    assert (first - single).abs().max() < INSIDE
    expected = law(guide(first, second, guidance), processing)
    assert (whole(loaded, asked, processing, tokens) - expected).abs().max() < INSIDE
    assert (whole(loaded, asked, Processing(), tokens) - expected).abs().amax(-1).mean() > APART


def check_a_race_is_plain_decoding(decoder, target: Loaded, draft: Loaded, asked, guidance: float) -> None:
    processing = Processing(guidance=guidance)
    found = race_agreement(
        decoder,
        lambda: target.model(asked, processing),
        lambda: draft.model(asked, processing),
        list(range(len(asked))),
        seed=8,
        single=lambda: target.model(asked, processing, cached=False),
    )
    assert found.holds and found.equal == len(asked)
