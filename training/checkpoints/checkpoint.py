"""A checkpoint: a model with its normalisation statistics."""

from dataclasses import dataclass
from pathlib import Path

from training.checkpoints.data import ModelData, read_model_data
from training.checkpoints.files import check_statistics, find_model, find_statistics, statistics_path
from training.console.messages import note


@dataclass(frozen=True)
class Checkpoint:
    """A model's file and the file of its statistics.

    Attributes:
        data: What the model file says about itself.
        statistics: Path of the statistics; None if the model takes raw observations.
    """

    data: ModelData
    statistics: Path | None


def find_checkpoint(
    name: str | Path, models_dir: Path, *, statistics: Path | None = None, normalises: bool = True
) -> Checkpoint:
    """Return the checkpoint that a user named.

    Args:
        name: Path of a model, with or without ``.zip``; or a run, which stands for its newest whole model.
        models_dir: Folder in which runs are looked up.
        statistics: Path of its statistics, if they are not beside the model.
        normalises: Whether the model was trained on normalised observations.

    Raises:
        ModelError: Model or statistics are missing or damaged, or do not belong together.
    """
    data = read_model_data(find_model(name, models_dir))
    beside = statistics_path(data.path)
    if not normalises:
        if beside.is_file():
            note(f"--no-vecnorm leaves out {beside}, with which {data.path.name} was trained")
        return Checkpoint(data, None)
    if statistics is None:
        return Checkpoint(data, find_statistics(data))
    check_statistics(data, statistics)
    return Checkpoint(data, statistics)
