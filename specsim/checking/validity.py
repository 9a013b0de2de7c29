"""Is it a rule at all?  Acceptances are probabilities, residuals are laws, whatever the numbers and the batch.

A rule that breaks this is bad input: one `SpecsimError` line names the rule, what is wrong, its value and the pair.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from specsim.arrays import Array, is_exact
from specsim.checking.forms import METHODS, by_token, one_draft
from specsim.checking.pairs import Stack
from specsim.errors import SpecsimError
from specsim.verification import Rule, Verdict, verdict_at

LAW_SLACK = 1e-9
"""How far a float64 residual may be from summing to 1: rounding over 65,536 tokens stays below 2e-11, while a law
that misses its mass by 1e-9 could not be told from a right one by any run.  In Fractions there is no slack."""
ALONE_SLACK = 1e-12
"""How far a float64 verdict may move when its pair is judged alone: other vector lengths may round the last bits of
an exp or a log differently, a dependence on the batch moves it by far more."""
ALONE = 3
"""Pairs of each vocabulary that are judged alone as well."""


class NotExact(Exception):
    """The rule cannot be computed in Fractions, and why.  Not a fault: float64 is used instead."""


def ask(rule: Rule, stack: Stack) -> Any:
    """What the rule answers about one draft (see `forms.one_draft`).  Not yet trusted."""
    with np.errstate(all="ignore"):  # a division that is masked afterwards is the rule's own business
        return one_draft(rule, stack)


def guarded(rule: Rule, call: Callable[..., Any], *arguments: Any) -> Any:
    """call(*arguments), with whatever the rule's own code raises said in one line."""
    try:
        return call(*arguments)
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        raise SpecsimError(f"{rule!r}: {failure(rule, error)}; correct the rule") from error


def failure(rule: Rule, error: BaseException) -> str:
    """'ZeroDivisionError: Fraction(1, 0) at my_rule.py:12', the place being in the rule's own file."""
    form = next((getattr(type(rule), name) for name in METHODS if hasattr(type(rule), name)), None)
    code = getattr(form, "__code__", None) or getattr(rule, "__code__", None)
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if code is not None:
        frames = [frame for frame in frames if frame[0] == code.co_filename] or [
            (code.co_filename, code.co_firstlineno)
        ]
    message = " ".join(str(error).split()) or "no message"
    return f"{type(error).__name__}: {message[:160]} at {frames[-1][0]}:{frames[-1][1]}"


def exact_verdict(rule: Rule, stack: Stack) -> Verdict:
    """The checked verdict in Fractions; NotExact with the reason where the rule has none."""
    try:
        answer = ask(rule, stack)
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        raise NotExact(f"on Fractions the rule raises {failure(rule, error)}") from error
    verdict = shaped(rule, answer, stack.draft)
    for name, array in zip(Verdict._fields, verdict, strict=True):
        kinds = {type(x).__name__ for x in array.reshape(-1).tolist()} if is_exact(array) else {str(array.dtype)}
        if kinds != {"Fraction"}:
            advice = " (write constants as specsim.arrays.number(1, target))" if kinds == {"Fraction", "int"} else ""
            raise NotExact(f"on Fractions its {name} holds {', '.join(sorted(kinds - {'Fraction'}))}{advice}")
    require_valid(rule, verdict, stack.draft, lambda index: place(stack, index), 0)
    return verdict


def float_verdict(rule: Rule, stack: Stack) -> Verdict:
    """The checked verdict in float64, judged in a batch and alone."""
    verdict = shaped(rule, guarded(rule, ask, rule, stack), stack.draft)
    verdict = Verdict(*(guarded(rule, np.asarray, array, np.float64) for array in verdict))
    require_valid(rule, verdict, stack.draft, lambda index: place(stack, index), LAW_SLACK)
    for row in range(min(ALONE, len(stack.pairs))):
        require_alone(rule, verdict, stack, row)
    if hasattr(rule, "at") and callable(rule):
        require_one_rule(rule, verdict, stack)
    return verdict


def require_one_rule(rule: Rule, verdict: Verdict, stack: Stack) -> None:
    """A rule with both forms is one rule: decoders use `at`, and its whole-law verdict must be the same."""
    with np.errstate(all="ignore"):
        whole = shaped(rule, guarded(rule, rule, stack.draft, stack.target, stack.position), stack.draft, False)
    refused = stack.draft * (1 - verdict.accept) > 0
    gap = np.where(refused, abs(whole.residual[..., None, :] - verdict.residual).max(axis=-1), 0)
    far = np.argwhere(~(np.maximum(gap, abs(whole.accept - verdict.accept)) <= ALONE_SLACK))
    if len(far):
        m, slot, token = far[0]
        raise SpecsimError(
            f"{rule!r}: __call__ and `at` differ on token {token}, {place(stack, (m, slot))}; leave one of them out"
        )


def place(stack: Stack, index: tuple[int, ...]) -> str:
    """Where an entry of a verdict stands, in words."""
    return f"{stack.pairs[index[0]]}, slot {stack.position[index[1]]}"


def shaped(rule: Rule, answer: Any, draft: Array, each: bool | None = None) -> Verdict:
    """The answer as a verdict of the right shapes; each: a law for each token, by default as the rule is asked."""
    each = by_token(rule) if each is None else each
    if not (hasattr(answer, "accept") and hasattr(answer, "residual")):
        raise SpecsimError(f"{rule!r} returned {type(answer).__name__}, not a Verdict(accept, residual)")
    shape = tuple(draft.shape)
    wanted = {"accept": shape, "residual": (*shape, shape[-1]) if each else shape}
    for name, need in wanted.items():
        value = getattr(answer, name)
        got = tuple(value.shape) if hasattr(value, "shape") else f"none, it is a {type(value).__name__}"
        if got != need:
            form = "one for every token put to it" if each else "the shape of the laws"
            raise SpecsimError(f"{rule!r}: shape of {name} is {got}, must be {need}, {form}")
        if "complex" in str(getattr(value, "dtype", "")):
            raise SpecsimError(f"{rule!r}: {name} holds complex numbers, must be real")
    return Verdict(answer.accept, answer.residual)


def faults(verdict: Verdict, draft: Array, slack: float) -> Iterator[tuple[Array, Array, str]]:
    """(where, the values, what is wrong) for every way to be invalid; the residual counts where a rejection can be."""
    accept, residual = verdict
    refused = draft * (1 - accept)
    if residual.ndim == draft.ndim:
        refused = refused.sum(axis=-1)
    if not is_exact(accept):
        yield ~np.isfinite(accept), accept, "accept is {}, not a number; mind q = 0 and 0/0"
        yield (~np.isfinite(residual), residual, "residual is {}, not a number; mind an empty residual (use p there)")
    yield accept < 0, accept, "accept is {}, below 0; clip it"
    yield accept > 1, accept, "accept is {}, above 1; cap it"
    yield ((refused > 0)[..., None] & (residual < 0), residual, "residual is {}, below 0; take its positive part")
    total = residual.sum(axis=-1)
    yield (refused > 0) & (abs(total - 1) > slack), total, "residual sums to {}, not to 1; normalise it"


def require_valid(rule: Rule, verdict: Verdict, draft: Array, name: Callable[[Any], str], slack: float) -> None:
    """Raise the first fault; `name` says where an index is."""
    for where, values, what in faults(verdict, draft, slack):
        bad = np.argwhere(np.asarray(where, dtype=bool))
        if len(bad):
            index = tuple(int(i) for i in bad[0])
            token = f" at token {index[-1]}" if values.ndim >= draft.ndim else ""
            token += f" after refusing token {index[-2]}" if values.ndim > draft.ndim else ""
            value = str(values[index])
            fault, _, advice = what.format(value if len(value) < 40 else float(values[index])).partition("; ")
            raise SpecsimError(f"{rule!r}: {fault}{token}; {name(index)}; {advice}")


def require_alone(rule: Rule, verdict: Verdict, stack: Stack, row: int) -> None:
    """A verdict must not depend on what else is in the batch, nor change from call to call.

    The pair is judged as a decoder does it: a batch of one block, one drafted token at a time.
    """
    laws = (stack.draft[row : row + 1], stack.target[row : row + 1])
    for token in range(stack.draft.shape[-1]):
        drafted = np.full(laws[0].shape[:-1], token)
        with np.errstate(all="ignore"):
            alone = guarded(rule, verdict_at, rule, *laws, drafted, stack.position)
        accept, residual = verdict.accept[row, :, token], verdict.residual[row]
        gap = apart(alone, Verdict(accept, residual[:, token] if residual.ndim == 3 else residual))
        if not gap <= ALONE_SLACK:
            raise SpecsimError(
                f"{rule!r}: its verdict on token {token} moves by {gap:.3g} when {stack.pairs[row]} is judged alone; "
                "it must depend on its own laws, token and slot only"
            )


def apart(alone: Verdict, batched: Verdict) -> float:
    """Largest difference between the verdict [1, ...] on one block and the same row of the batch; inf for shapes."""
    pairs = [(np.asarray(a, np.float64), b[None]) for a, b in zip(alone, batched, strict=True)]
    if any(a.shape != b.shape for a, b in pairs):
        return np.inf
    return float(np.max([abs(a - b).max() for a, b in pairs]))  # a NaN stays one
