"""The same decoders on real image models, with torch: CUDA when there is one, CPU otherwise."""

import os
import sys

if "torch" not in sys.modules and not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & set(os.environ):
    # Before torch starts its threads.  By default GNU OpenMP's threads wait by spinning, which makes a small model ten
    # times slower as soon as another program wants a core; spinning this long costs an idle machine a tenth or two
    # (measured with `fashion` on two cores).  What the user has set stands.
    os.environ["GOMP_SPINCOUNT"] = "1000"
