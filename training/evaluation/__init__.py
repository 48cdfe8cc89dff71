"""Measuring a driver: a course to drive, the episodes driven on it, and figures and tables about them."""
