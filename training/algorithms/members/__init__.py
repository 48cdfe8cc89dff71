"""One module per algorithm; each defines ``ALGORITHM``, which the registry collects."""
