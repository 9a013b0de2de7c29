"""The figures papers report: FID, IS, CLIP score; calls, accepted length, step compression, latency."""
