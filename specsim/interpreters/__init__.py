"""The three readings of one decoder source: sampling, exact law, replay."""

from specsim.interpreters.exact import Exact
from specsim.interpreters.replay import Recording, Replay
from specsim.interpreters.sampling import Sampling, pick

__all__ = ["Exact", "Recording", "Replay", "Sampling", "pick"]
