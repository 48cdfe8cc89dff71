"""Runs of a sweep trained on other machines, by Ray."""
