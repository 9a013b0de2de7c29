"""specsim: knowing, not guessing, what a speculative decoder does."""

from specsim.couplings import COUPLINGS
from specsim.decoders import DECODERS, Autoregressive, Chain, Jacobi, Race
from specsim.decoding import Task
from specsim.errors import SpecsimError
from specsim.exact_laws import exact
from specsim.laws import Law
from specsim.rules import RULES, Additive, Annealed, ContentAware, Lantern, LanternOptimal, Lenient, Strict
from specsim.rules.lantern import bind_codebook
from specsim.sampling import Samples, sample
from specsim.tables import Table, random_table, table
from specsim.verification import Block, Verdict, optimal_residual, output_law

__version__ = "0.1.0"
__all__ = [
    "COUPLINGS",
    "DECODERS",
    "RULES",
    "Additive",
    "Annealed",
    "Autoregressive",
    "Block",
    "Chain",
    "ContentAware",
    "Jacobi",
    "Lantern",
    "LanternOptimal",
    "Law",
    "Lenient",
    "Race",
    "Samples",
    "SpecsimError",
    "Strict",
    "Table",
    "Task",
    "Verdict",
    "bind_codebook",
    "exact",
    "optimal_residual",
    "output_law",
    "random_table",
    "sample",
    "table",
]
