"""Claims about decoders, each with how it is known: proved, certified, tested or refuted.

This is where the theorems will live, one file each and one row in THEOREMS, together with what checks
them: searches over exact models (hypothesis), linear-program certificates (cvxpy, verified in Fractions)
and SMT proofs (z3). Nothing is here yet. It imports specsim and never gpu_eval.
"""
