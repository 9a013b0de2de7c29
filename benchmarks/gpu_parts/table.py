"""What was measured, in few lines."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu_parts.bench import Record

MEASURES = ("parity", "race", "waits")
PROBLEMS = ("error", "skipped", "stopped")


def lines(content: Record) -> Iterator[str]:
    """Of the whole result."""
    results = content["parts"]
    yield f"{content['device_name']}, torch {content['versions']['torch']}, commit {content['commit']}"
    if content["small"]:
        yield "small: tiny shapes, to see that everything runs; no time here means anything"
    yield from speeds(content["products"])
    yield from rests(results)
    yield from shares(results.get("verification", {}))
    for name in MEASURES:
        checks = [
            part["holds"] for part in results.get(name, {}).values() if isinstance(part, dict) and "holds" in part
        ]
        yield f"{name}: {sum(checks)} of {len(checks)} hold"
    for name, part in results.get("race", {}).items():
        if isinstance(part, dict) and "tokens_equal" in part:
            yield f"race, {name}: {part['images_equal']:.1%} of images, {part['tokens_equal']:.1%} of tokens agree"
    yield from forwards(results.get("forward", {}))
    yield f"images side by side: {results.get('batches', {}).get('largest', 'unknown')}"
    yield from problems(results)


def speeds(products: list[Record]) -> Iterator[str]:
    """Both factors and their product."""
    if products:
        yield f"{'size':18}{'system':8}{'ms/call':>9}{'cost x':>8}{'calls x':>8}{'speed':>7}{'s/image':>9}  calls from"
    for row in products:
        yield (
            f"{row['size']:18}{row['system']:8}{1e3 * row['seconds_per_call']:9.2f}{row['cost_factor']:8.3f}"
            f"{row['call_factor']:8.2f}{row['speed_up']:7.2f}{row['seconds_per_image']:9.2f}  {row['calls_from']}"
        )


def rests(results: Record) -> Iterator[str]:
    """All of a step that is no forward, as a share of the target's."""
    for size, part in results.items():
        rest = {
            name: found["in_forwards"]["rest_over_target"]
            for name, found in part.get("systems", {}).items()
            if "rest_over_target" in found.get("in_forwards", {})
        }
        if rest:
            yield f"step without forwards, {size}: " + ", ".join(f"{name} {share:.1%}" for name, share in rest.items())


def shares(verification: Record) -> Iterator[str]:
    """Verification as a share of the target's forward."""
    for name, eager in verification.get("eager", {}).items():
        if eager.get("share") is not None:
            compiled = verification["compiled"].get(name, {}).get("share")
            quick = "not measured" if compiled is None else f"{compiled:.2%}"
            goal = "" if eager["goal"] is None else f", goal {eager['goal']:.0%}"
            yield f"verification, {name}: {eager['share']:.2%} of a forward, compiled {quick}{goal}"


def forwards(found: Record) -> Iterator[str]:
    """Eager and compiled."""
    times = {
        name: part["seconds"]
        for name, part in found.items()
        if isinstance(part, dict) and part.get("seconds") is not None
    }
    if times:
        yield "forward of a window: " + ", ".join(f"{name} {1e3 * seconds:.2f} ms" for name, seconds in times.items())


def problems(found: Record, path: str = "") -> Iterator[str]:
    """Everything that failed or was left out, by name."""
    for name, part in found.items():
        where = f"{path}, {name}" if path else name
        if name in PROBLEMS and isinstance(part, str):
            yield f"{path}: {name}: {part}"
        elif isinstance(part, dict):
            yield from problems(part, where)
