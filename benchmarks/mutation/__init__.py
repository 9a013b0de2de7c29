"""Mutation run: how many small faults in the core a fast suite of tests notices."""
