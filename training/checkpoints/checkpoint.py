"""A checkpoint: a model with the normalisation statistics that belong to it."""

from dataclasses import dataclass
from pathlib import Path

from training.checkpoints.data import ModelData, read_model_data
from training.checkpoints.files import check_statistics, find_model, find_statistics, statistics_path
from training.console.messages import note


@dataclass(frozen=True)
class Checkpoint:
    """A model's file and that of its statistics.

    Attributes:
        data: What the model says about itself.
        statistics: The statistics file; None where the model takes raw observations.
    """

    data: ModelData
    statistics: Path | None


def find_checkpoint(
    name: str | Path, models_dir: Path, *, statistics: Path | None = None, normalises: bool = True
) -> Checkpoint:
    """Return the checkpoint that a user named.

    Args:
        name: The path of a model, with or without ``.zip``; or a run, whose newest whole model it is.
        models_dir: Where runs are looked for.
        statistics: Its statistics file, where it is not beside the model.
        normalises: Whether it was trained on normalised observations.

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
