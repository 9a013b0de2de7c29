"""How good decoded images are, with error bars; as a command, figures of the shipped model (`__main__`)."""

from gpu_eval.quality.frechet import frechet_distance, statistics
from gpu_eval.quality.measures import Pool, Quality, pool_of, quality_of

__all__ = ["Pool", "Quality", "frechet_distance", "pool_of", "quality_of", "statistics"]
