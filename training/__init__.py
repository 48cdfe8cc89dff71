"""Scripts that train, measure and export a driver, and the code they share."""

import os
import sys

from training.console.start import tell_in_one_line

# One thread for the products of small matrices, whatever the environment says: two wait for each other, and where
# something else runs on one of the cores, up to fifteen times as long. The libraries read this when they are loaded.
for _limit in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_limit] = "1"

if sys.argv[:1] == ["-m"]:  # Python is finding the script that it is to run
    sys.excepthook = tell_in_one_line
