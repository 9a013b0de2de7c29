"""The best that any verifier can do for a pair of models: linear programs over the masses of its paths."""
