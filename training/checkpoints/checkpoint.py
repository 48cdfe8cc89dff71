"""A checkpoint: a model with its normalisation statistics."""

from dataclasses import dataclass
from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import ModelData
from training.checkpoints.files import STATISTICS, find_model, find_statistics, read_statistics, statistics_path
from training.checkpoints.statistics import Statistics
from training.console.messages import note


@dataclass(frozen=True)
class Checkpoint:
    """A model and its statistics, as they were when both were read.

    Attributes:
        data: What the model file says about itself.
        statistics: The statistics; None if the model takes raw observations.
    """

    data: ModelData
    statistics: Statistics | None


def find_checkpoint(
    name: str | Path, models_dir: Path, *, statistics: Path | None = None, normalises: bool = True
) -> Checkpoint:
    """Read the checkpoint that a user named.

    Args:
        name: Path of a model, with or without ``.zip``; or a run, which stands for its newest whole model.
        models_dir: Folder in which runs are looked up.
        statistics: Path of its statistics, if they are neither in the model nor beside it.
        normalises: Whether the model was trained on normalised observations.

    Raises:
        ModelError: Model or statistics are missing or damaged, or do not belong together.
    """
    data = find_model(name, models_dir)
    beside = statistics_path(data.path)
    if not normalises:
        if STATISTICS in data.attributes or beside.is_file():
            note(f"--no-vecnorm leaves out the statistics with which {data.path} was trained")
        return Checkpoint(data, None)
    if statistics is not None:
        return Checkpoint(data, read_statistics(data, statistics))
    found = find_statistics(data)
    if STATISTICS in data.attributes and beside.is_file():
        try:
            read_statistics(data, beside)
        except ModelError:
            note(f"{beside} does not hold what {data.path.name} was saved with; the statistics in the model are used")
    return Checkpoint(data, found)
