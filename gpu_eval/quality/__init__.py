"""How good decoded images are, with error bars; as a command, figures of the shipped model (`__main__`)."""

from gpu_eval.quality.frechet import frechet_distance, statistics
from gpu_eval.quality.measures import Pool, Quality, Seen, pool_of, quality_from, quality_of, seen_of

__all__ = [
    "Pool",
    "Quality",
    "Seen",
    "frechet_distance",
    "pool_of",
    "quality_from",
    "quality_of",
    "seen_of",
    "statistics",
]
