"""Callbacks for stable-baselines3, for use in the user's own scripts; they live in ``training.runs``."""

from training.runs.checkpointing import CheckpointPairCallback
from training.runs.metrics import RacerMetricsCallback
from training.runs.periodic import PeriodicCallback
from training.runs.progress import ProgressCallback

__all__ = ["CheckpointPairCallback", "PeriodicCallback", "ProgressCallback", "RacerMetricsCallback"]
