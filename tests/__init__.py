"""The toolkit's tests; they mirror its folders."""

import training  # noqa: F401 (before NumPy, which it limits to one thread: two wait for each other where others work)
