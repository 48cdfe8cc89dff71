"""Deleting the checkpoints and replay buffers of a run that need not be kept."""

from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import read_model_data
from training.checkpoints.files import COMPANIONS, PERIODIC, buffer_path, models_of, run_of
from training.checkpoints.writing import beside


def prune_checkpoints(models_dir: Path, run: str, keep: int) -> None:
    """Delete all but the newest periodic checkpoints of a run; best, final and interrupted models stay.

    The newest are those saved last: a run resumed from an earlier checkpoint still has its later ones.
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
    """Delete the replay buffers of a model's run except the model's own: each is as large as many models."""
    for other in models_of(model.parent, run_of(model)):
        if other != model:
            buffer_path(other).unlink(missing_ok=True)


def delete_model(model: Path) -> None:
    """Delete a model and its companions, the model first, so that no model is left without its statistics."""
    for path in (model, beside(model), *(place(model) for place in COMPANIONS)):
        path.unlink(missing_ok=True)
