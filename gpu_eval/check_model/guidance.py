"""Guidance: one doubled batch gives what two passes give, g (c - u) + u on logits."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.looks import FAILS, INCONCLUSIVE, NOT_APPLICABLE, Look, compare, counted, differences, pair
from gpu_eval.check_model.subject import GUIDANCE, PLAIN, Subject
from gpu_eval.processing import Processing, at_least_float32, guide, law

STRENGTHS = (1.0, 0.0, 0.5, GUIDANCE)


def guidance(subject: Subject) -> Iterator[Look]:
    """Conditional and unconditional logits from separate passes, then the laws at each strength."""
    if subject.unguided:
        yield Look("guidance", NOT_APPLICABLE, "nothing", note=subject.unguided)
        return
    if not subject.guided:
        note = f"{subject.doubled} rows with guidance for {subject.rows} prompts, must be {2 * subject.rows}"
        yield Look("rows with guidance", FAILS, counted(subject.rows, "prompt"), note=note)
        return
    tokens = subject.tokens(101)
    conditional, unconditional = two_passes(subject, tokens)
    yield first_rows(subject, tokens, conditional)
    for strength in STRENGTHS:
        yield at(subject, strength, tokens, guide(conditional, unconditional, strength))
    yield from unlike(conditional, unconditional)


def two_passes(subject: Subject, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Logits [B, K, V] of the prompts alone, and of the unconditional rows beside others that hold other tokens."""
    doubled = torch.cat([subject.other(tokens, 102), tokens])
    unconditional = logits(subject, doubled, True).chunk(2)[1]
    return logits(subject, tokens, False), unconditional


@torch.no_grad()
def logits(subject: Subject, tokens: Tensor, guided: bool) -> Tensor:
    """The network's logits [R, K, V] of the first positions, in float32 or better."""
    slots = torch.arange(subject.span, device=subject.device).expand(len(tokens), -1)
    return at_least_float32(subject.network(guided).logits(tokens[:, :-1], slots))


def first_rows(subject: Subject, tokens: Tensor, conditional: Tensor) -> Look:
    """The first half of the doubled batch is conditional."""
    first, last = logits(subject, tokens.repeat(2, 1), True).chunk(2)
    laws, wanted = law(first, PLAIN), law(conditional, PLAIN)
    swapped = bool((differences(law(last, PLAIN), wanted) < differences(laws, wanted)).any())
    note = "the halves are swapped: conditional rows come first" if swapped else "they are not those of the prompts"
    return compare("first rows are conditional", [pair(laws, wanted, subject.first)], subject.number, note)


def at(subject: Subject, strength: float, tokens: Tensor, guided: Tensor) -> Look:
    """The model's laws at one strength against the formula."""
    found = subject.model(Processing(guidance=strength))(tokens, subject.first, subject.span)
    expected = law(guided, PLAIN)
    what = f"guidance {strength:g}"
    note = "laws are not the softmax of g (c - u) + u"
    return compare(what, [pair(found, expected, subject.first)], subject.number, note)


def unlike(conditional: Tensor, unconditional: Tensor) -> Iterator[Look]:
    """Where both are the same, no mistake would show."""
    if torch.equal(law(conditional, PLAIN), law(unconditional, PLAIN)):
        note = "conditional and unconditional laws are the same: no mistake would show"
        yield Look("the prompt matters", INCONCLUSIVE, counted(len(conditional), "row"), 0.0, None, note)
