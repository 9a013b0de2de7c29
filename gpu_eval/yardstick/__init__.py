"""Which exactly computable divergence of a relaxed rule orders the rules as image quality does: docs/yardstick.md."""
