"""Drivers, which choose actions from observations: trained, exported, and rule-based."""
