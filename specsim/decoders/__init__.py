"""Every decoder by name.  Adding one: a frozen dataclass in its own file, and a row here."""

from __future__ import annotations

from specsim.decoders.autoregressive import Autoregressive
from specsim.decoders.chain import Chain
from specsim.decoders.dynamic_tree import DynamicTree
from specsim.decoders.jacobi import Jacobi
from specsim.decoders.race import Race
from specsim.decoders.relaxed_bonus import RelaxedBonus
from specsim.decoders.tree import Tree
from specsim.trees import EAGLE_TREE

DECODERS: dict[str, type] = {
    decoder.__name__: decoder for decoder in (Autoregressive, Chain, RelaxedBonus, Tree, DynamicTree, Jacobi, Race)
}
CONSTANTS = {"EAGLE_TREE": EAGLE_TREE}
"""What may stand for an argument where a decoder is written: `Tree(EAGLE_TREE)`."""
