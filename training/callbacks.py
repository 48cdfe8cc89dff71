"""The callbacks for stable-baselines3, to be used in scripts of one's own; they live in ``training.runs``."""

from training.runs.checkpointing import CheckpointPairCallback
from training.runs.metrics import RacerMetricsCallback
from training.runs.periodic import PeriodicCallback
from training.runs.progress import ProgressCallback

__all__ = ["CheckpointPairCallback", "PeriodicCallback", "ProgressCallback", "RacerMetricsCallback"]
