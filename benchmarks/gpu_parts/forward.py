"""The forward of LlamaGen-XL over one window: eager, by torch.compile with CUDA graphs, and captured as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu_parts.bench import Bench, Left, Record, attempt
from benchmarks.gpu_parts.sizes import SIZES, shrunk, some_tokens
from benchmarks.gpu_parts.timing import median_seconds
from benchmarks.gpu_parts.verification import with_compiler
from gpu_eval.network import Network

Run = Callable[[], Tensor]


def forward(bench: Bench, record: Record, left: Left) -> None:
    """Logits of a window in the middle of an image; all shapes are static, keys and values stay where they are."""
    size = shrunk(SIZES[0]) if bench.small else SIZES[0]
    network = size.build(size, size.target, bench.device)(1)
    tokens = some_tokens(size, 1, bench.device).expand(network.rows, -1)[:, : size.length - 1].contiguous()
    first = size.length // 2
    slots = torch.arange(first, first + size.window + 1, device=bench.device).expand(network.rows, -1).contiguous()
    memory = network.memory()
    record |= {"size": size.name, "rows": network.rows, "slots": slots.shape[1]}
    work = partial(logits, network, tokens, slots, memory)
    attempt(record, "eager", left, lambda: {"seconds": median_seconds(work, bench)})
    attempt(record, "cuda_graph", left, lambda: graphed(bench, work))
    attempt(record, "compiled", left, lambda: compiled(bench, network, tokens, slots, memory))


@torch.no_grad()
def logits(network: Network, tokens: Tensor, slots: Tensor, memory: Any) -> Tensor:
    return network.logits(tokens, slots, memory)


def graphed(bench: Bench, work: Run) -> Record:
    """Captured once, replayed with the same inputs; new ones would be copied into their place."""
    if not bench.cuda:
        return {"skipped": "a CPU has no CUDA graphs"}
    wanted = work()
    aside = torch.cuda.Stream(bench.device)
    aside.wait_stream(torch.cuda.current_stream(bench.device))
    with torch.cuda.stream(aside):
        work()
    torch.cuda.current_stream(bench.device).wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    seconds = median_seconds(graph.replay, bench)
    return {"seconds": seconds, "largest_difference": float((found.float() - wanted.float()).abs().max())}


def compiled(bench: Bench, network: Network, tokens: Tensor, slots: Tensor, memory: Any) -> Record:
    """mode="reduce-overhead": kernels are fused and replayed as CUDA graphs where torch can; if not, it says why."""
    from torch._dynamo.utils import counters

    for pair in memory:
        for part in pair:  # written in place: a graph of torch's takes that of tensors that never move
            torch._dynamo.mark_static_address(part)
    counters.clear()
    quick = torch.compile(network.logits, mode="reduce-overhead")

    @torch.no_grad()
    def work() -> Tensor:
        torch.compiler.cudagraph_mark_step_begin()
        return quick(tokens, slots, memory)

    wanted = logits(network, tokens, slots, memory)
    found = with_compiler(bench, work).float().clone()
    seconds = with_compiler(bench, partial(median_seconds, work, bench))
    skipped = counters["inductor"]["cudagraph_skips"]
    torch.compiler.reset()  # or the compiler keeps weights and memory
    return {
        "seconds": seconds,
        "largest_difference": float((found - wanted.float()).abs().max()),
        "largest_logit": float(wanted.float().abs().max()),
        "graphs_skipped": skipped,
        "compiler": "left out" if bench.small else "on",
    }
