"""Which checkpoints and replay buffers of a run stay, and deleting the others."""

from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import read_model_data
from training.checkpoints.files import COMPANIONS, PERIODIC, buffer_path, models_of, run_of
from training.checkpoints.writing import beside


def prune_checkpoints(models_dir: Path, run: str, keep: int) -> None:
    """Delete all but the newest periodic checkpoints of a run; best, final and interrupted ones stay.

    The newest are those that were saved last: a run that was resumed from an earlier one has its later ones behind it.
    """

    def when(path: Path) -> tuple[float, int]:
        try:
            data = read_model_data(path)
        except ModelError:
            return 0.0, 0
        return data.saved_at, data.steps

    periodic = sorted((path for path in models_of(models_dir, run) if PERIODIC.fullmatch(path.stem)), key=when)
    for path in periodic[: max(len(periodic) - keep, 0)]:
        delete_model(path)


def prune_buffers(model: Path) -> None:
    """Delete the replay buffers of a model's run except the model's own: each is worth many models."""
    for other in models_of(model.parent, run_of(model)):
        if other != model:
            buffer_path(other).unlink(missing_ok=True)


def delete_model(model: Path) -> None:
    """Delete a model and what belongs to it; the model first, so that none is left without its statistics."""
    for path in (model, beside(model), *(place(model) for place in COMPANIONS)):
        path.unlink(missing_ok=True)
