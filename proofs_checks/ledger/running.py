"""Running theorems side by side, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from proofs_checks.proving import prove
from proofs_checks.results import TheoremResult
from proofs_checks.theorems import THEOREMS
from specsim.errors import SpecsimError
from specsim.testing.claims_command import without_traces
from specsim.testing.statements import PROFILES

SOLVERS = {"z3-solver": "z3", "cvxpy": "cvxpy", "highspy": "highspy", "hypothesis": "hypothesis"}
"""What searches, proofs and certificates are made with: distribution -> module."""


def run(
    names: Iterable[str], profile: str, jobs: int, progress: Callable[[TheoremResult, int, int], None] | None = None
) -> list[TheoremResult]:
    """The results in the order of the names.  progress(result, done, of) is called as they come."""
    wanted, found = list(names), dict[str, TheoremResult]()
    # Spawned, not forked: the solvers have threads of their own.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(wanted)), mp_context=context, initializer=silence) as pool:
        waiting = [pool.submit(prove_by_name, name, profile) for name in wanted]
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                result = future.result()
                found[result.id] = result
                if progress is not None:
                    progress(result, done, len(wanted))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():  # a theorem may take minutes to its end
                child.terminate()
            raise
    return [found[name] for name in wanted]


def prove_by_name(name: str, profile: str) -> TheoremResult:
    """One theorem, in a process of its own: only texts cross the border."""
    with without_traces():
        return prove(THEOREMS[name], PROFILES[profile])


def silence() -> None:
    """In a worker: an interrupt is the parent's business; a solver's library prints its licence to standard output,
    where JSON belongs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def chosen(names: list[str] | None) -> list[str]:
    """The ids that were asked for, or all; SpecsimError for one that is none."""
    wanted = [name.upper() for name in names or ()]
    for name in wanted:
        if name not in THEOREMS:
            raise SpecsimError(f"there is no theorem {name!r}; known: {', '.join(THEOREMS)}")
    return sorted(set(wanted)) if wanted else list(THEOREMS)


def require_profile(name: str) -> str:
    """The profile's name, if it is one."""
    if name not in PROFILES:
        raise SpecsimError(f"profile {name!r} must be one of {', '.join(PROFILES)}")
    return name


def solvers() -> dict[str, str]:
    """Versions of the solvers, "missing" where one is not installed."""
    return {name: installed(name) for name in SOLVERS}


def installed(name: str) -> str:
    """Version of a distribution whose module can be imported."""
    try:
        return version(name) if find_spec(SOLVERS[name]) else "missing"
    except (PackageNotFoundError, ValueError):
        return "missing"
