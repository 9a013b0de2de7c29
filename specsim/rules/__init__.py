"""Every acceptance rule by name.  Adding one: a frozen dataclass in its own file, and a row here."""

from __future__ import annotations

from specsim.rules.additive import Additive, AdditiveUnmasked
from specsim.rules.annealed import Annealed
from specsim.rules.band import Band
from specsim.rules.block import BlockVerification
from specsim.rules.cactus import Cactus
from specsim.rules.cascade import CascadeOpt
from specsim.rules.content_aware import ContentAware, ContentAwareUnmasked
from specsim.rules.ensemble import Ensemble
from specsim.rules.fuzzy import FuzzyJS, FuzzyKL
from specsim.rules.grouped import Grouped, Partitioned
from specsim.rules.lantern import Lantern, LanternDynamic
from specsim.rules.lantern_plus import LanternPlus, LanternPlusDynamic
from specsim.rules.ledger import Ledger
from specsim.rules.lenient import Lenient
from specsim.rules.optimal import Optimal
from specsim.rules.scheduled import Scheduled
from specsim.rules.strict import Strict
from specsim.rules.typical import Typical

RULES: dict[str, type] = {
    rule.__name__: rule
    for rule in (
        *(Strict, Lenient, Annealed, Additive, AdditiveUnmasked, ContentAware, ContentAwareUnmasked),
        *(Lantern, LanternDynamic, LanternPlus, LanternPlusDynamic, Optimal, Grouped, Partitioned),
        *(Typical, Ensemble, Cactus, FuzzyKL, FuzzyJS, CascadeOpt),
        *(BlockVerification, Ledger, Band, Scheduled),
    )
}
