"""What verification adds to a target's forward, eager and compiled, at the laws' shapes of the published sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from benchmarks.gpu_parts.bench import Bench, Left, Record, attempt
from benchmarks.gpu_parts.sizes import SIZES, Size, shrunk
from benchmarks.gpu_parts.steps import LOOKAHEAD
from benchmarks.gpu_parts.timing import median_seconds
from specsim import ContentAware, Ledger, Strict
from specsim.verification import Drafted, verify

SHAPES = 64  # kernels that torch may hold of one function: more than there are blocks here


def judged(size: Size) -> list[tuple[str, Any, int]]:
    """(block, rule, slots) of the systems."""
    chain, window = f"Chain({LOOKAHEAD})", f"Jacobi({size.window})"
    wide, narrow = size.window + 1, LOOKAHEAD + 1
    return [
        (window, Strict(), wide),
        (window, ContentAware(), wide),
        (chain, Strict(), narrow),
        (chain, Ledger(), narrow),
    ]


def verification(bench: Bench, record: Record, left: Left) -> None:
    """Eager for all sizes, then compiled, which takes longest to be made ready."""
    from gpu_eval.compiling import Compiled

    record |= {"eager": {}, "compiled": {}}
    work = [(size, *block) for size in SIZES for block in judged(shrunk(size) if bench.small else size)]
    for size, block, rule, slots in work:
        attempt(record["eager"], f"{size.name}, {block}, {rule!r}", left, partial(cost, bench, size, slots, rule))
    compiled: dict[Any, Any] = {}
    for size, block, rule, slots in work:
        mine = compiled.setdefault(rule, Compiled(rule))
        again = partial(compiled_cost, bench, size, slots, mine)
        attempt(record["compiled"], f"{size.name}, {block}, {rule!r}", left, again)


def cost(bench: Bench, size: Size, slots: int, rule: Any) -> Record:
    """Seconds of a block, and the share of the target's forward over as many slots, if that was measured."""
    block = some_block(shrunk(size) if bench.small else size, slots, bench.device)
    seconds = median_seconds(partial(verify, rule, block), bench)
    forward = bench.results.get(size.name, {}).get("forward_seconds", {}).get(str(slots))
    share = None if forward is None else seconds / forward
    met = None if share is None or size.goal is None else share <= size.goal
    return {"seconds": seconds, "forward_seconds": forward, "share": share, "goal": size.goal, "goal_met": met}


def compiled_cost(bench: Bench, size: Size, slots: int, rule: Any) -> Record:
    """Compiled for the block's own shape with the first call, which is not timed."""
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False, recompile_limit=SHAPES):
        return with_compiler(bench, partial(cost, bench, size, slots, rule))


def with_compiler(bench: Bench, work: Callable[[], Any]) -> Any:
    """work(), what it compiles taken as it is where the benchmark is small."""
    if not bench.small:
        return work()
    with torch.compiler.set_stance("force_eager"):
        return work()


def some_block(size: Size, slots: int, device: torch.device) -> Drafted:
    """Any block of laws, one row; a rule takes the same time whatever they are."""
    generator = torch.Generator().manual_seed(0)
    draft, target = (torch.randn(1, slots, size.vocab, generator=generator).softmax(-1).to(device) for _ in range(2))
    tokens = draft.argmax(-1)
    slot = torch.arange(slots, device=device)[None]
    return Drafted(draft, target, tokens, slot < slots - 1, slot)
