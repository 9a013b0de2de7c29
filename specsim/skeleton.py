"""The file `specsim new-rule` writes: a rule of one's own that passes every check as it stands."""

from __future__ import annotations

import keyword

from specsim.errors import SpecsimError

TAKEN = ("Verdict", "optimal_residual", "number", "capped_ratio", "dataclass", "float", "ClassVar", "Strength")
"""Names that the file itself uses."""
TEMPLATE = '''\
"""My acceptance rule.  Check it:  specsim check {path}:{name}"""

from dataclasses import dataclass
from typing import ClassVar

from specsim import Verdict, optimal_residual
from specsim.arrays import number
from specsim.strength import Strength
from specsim.verification import capped_ratio


@dataclass(frozen=True)
class {name}:
    """b = min(1, gamma p/q), G = norm[p - q b]+.  Biased for gamma > 1."""

    strength: ClassVar[Strength] = Strength("gamma", 1.0, 1e9)  # what `specsim compare` turns, weakest to strongest
    gamma: float = 1.2

    # A rule may also carry a state along the drafts (begin and judge) or judge whole blocks (block): CONTRIBUTING.md
    def __call__(self, draft, target, position):  # laws q, p [..., V]; position: 0-based slot in the block
        accept = capped_ratio(number(self.gamma, target) * target, draft)  # b(v), in [0, 1]
        return Verdict(accept, optimal_residual(draft, target, accept))  # G, a law
'''


def skeleton(name: str, path: str) -> str:
    """The text of a new rule file."""
    if not name.isidentifier() or keyword.iskeyword(name) or name[0] == "_" or name in TAKEN or len(name) > 80:
        raise SpecsimError(f"new-rule: {name[:90]!r} cannot name a new Python class; try MyRule")
    if not path.endswith(".py") or not path.isprintable() or any(c in path for c in '"\\'):
        raise SpecsimError(f"new-rule: --out {path[:200]!r} must end in .py, without quotes or backslashes")
    return TEMPLATE.format(name=name, path=path)
