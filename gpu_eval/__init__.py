"""The same decoders on real image models, with torch: CUDA when there is one, CPU otherwise."""

import os
import sys

if "torch" not in sys.modules:
    # Before torch starts its threads: threads that wait by spinning make a small model ten times slower as soon as
    # another program wants a core.  A policy set by the user stands.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
