"""specsim: knowing, not guessing, what a speculative decoder does."""

from specsim.couplings import COUPLINGS
from specsim.decoders import DECODERS, Autoregressive, Chain, DynamicTree, Jacobi, Race, RelaxedBonus, Tree
from specsim.decoding import Task
from specsim.errors import SpecsimError
from specsim.exact_laws import exact
from specsim.flows import output_law
from specsim.laws import Law
from specsim.rules import (
    RULES,
    Additive,
    AdditiveUnmasked,
    Annealed,
    Band,
    BlockVerification,
    Cactus,
    CascadeOpt,
    ContentAware,
    ContentAwareUnmasked,
    Ensemble,
    FuzzyJS,
    FuzzyKL,
    Grouped,
    Lantern,
    LanternDynamic,
    LanternPlus,
    LanternPlusDynamic,
    Ledger,
    Lenient,
    Optimal,
    Partitioned,
    Scheduled,
    Strict,
    Typical,
)
from specsim.rules.codebooks import bind_codebook
from specsim.sampling import Samples, sample
from specsim.tables import Table, random_table, table
from specsim.trees import EAGLE_TREE
from specsim.verification import Block, Verdict, optimal_residual

__version__ = "0.1.0"
__all__ = [
    "COUPLINGS",
    "DECODERS",
    "EAGLE_TREE",
    "RULES",
    "Additive",
    "AdditiveUnmasked",
    "Annealed",
    "Autoregressive",
    "Band",
    "Block",
    "BlockVerification",
    "Cactus",
    "CascadeOpt",
    "Chain",
    "ContentAware",
    "ContentAwareUnmasked",
    "DynamicTree",
    "Ensemble",
    "FuzzyJS",
    "FuzzyKL",
    "Grouped",
    "Jacobi",
    "Lantern",
    "LanternDynamic",
    "LanternPlus",
    "LanternPlusDynamic",
    "Law",
    "Ledger",
    "Lenient",
    "Optimal",
    "Partitioned",
    "Race",
    "RelaxedBonus",
    "Samples",
    "Scheduled",
    "SpecsimError",
    "Strict",
    "Table",
    "Task",
    "Tree",
    "Typical",
    "Verdict",
    "bind_codebook",
    "exact",
    "optimal_residual",
    "output_law",
    "random_table",
    "sample",
    "table",
]
