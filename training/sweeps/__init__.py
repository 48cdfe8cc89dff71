"""Sweeps: many runs with other settings and seeds, trained side by side and judged by their evaluations."""
