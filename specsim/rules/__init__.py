"""Every acceptance rule by name.  Adding one: a frozen dataclass in its own file, and a row here."""

from __future__ import annotations

from specsim.rules.additive import Additive
from specsim.rules.annealed import Annealed
from specsim.rules.content_aware import ContentAware
from specsim.rules.lantern import Lantern, LanternOptimal
from specsim.rules.lenient import Lenient
from specsim.rules.strict import Strict

RULES: dict[str, type] = {
    rule.__name__: rule for rule in (Strict, Lenient, Annealed, Additive, ContentAware, Lantern, LanternOptimal)
}
