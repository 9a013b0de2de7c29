"""Claims about decoders, each with how it is known: proved, certified, tested or refuted.

Theorems live in theorems/, one file each and one row in THEOREMS; a theorem is made of statements (specsim.testing),
SMT proofs (smt), linear-program certificates checked in Fractions (certificates), mutants and weakened statements.
It imports specsim and never gpu_eval.
"""
