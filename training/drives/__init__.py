"""Drives to look at: recordings, races, videos and plots."""
