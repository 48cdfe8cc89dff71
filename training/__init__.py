"""Scripts that train, measure and export a driver, and the code they share."""

import sys

from training.console.start import tell_in_one_line

if sys.argv[:1] == ["-m"]:  # Python is finding the script that it is to run
    sys.excepthook = tell_in_one_line
