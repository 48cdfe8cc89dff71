"""Whether this process compiles the simulator, or only loads it: known without Numba, which takes a second to load."""

import threading

HAS_BEGUN = threading.Event()  # set once a kernel is compiled; all are loaded until then
