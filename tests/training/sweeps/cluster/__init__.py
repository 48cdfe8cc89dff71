"""Tests of training.sweeps.cluster."""
