"""One module for each algorithm; it has its ``ALGORITHM``, and the registry finds it here."""
