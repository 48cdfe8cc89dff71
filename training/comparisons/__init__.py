"""Comparing runs: settings with several seeds, their statistics, a table and a page."""
