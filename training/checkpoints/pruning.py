"""Deleting the checkpoints and replay buffers of a run that need not be kept."""

from pathlib import Path

from training.checkpoints.files import COMPANIONS, PERIODIC, buffer_path, models_of, readable_models, run_of
from training.checkpoints.writing import beside


def prune_checkpoints(models_dir: Path, run: str, keep: int) -> None:
    """Delete all but the newest periodic checkpoints of a run; best, final and interrupted models stay.

    The newest are those saved last, as ``save_order`` says; what cannot be read stays too.
    """
    periodic = [data.path for data in readable_models(models_dir, run) if PERIODIC.fullmatch(data.path.stem)]
    for path in periodic[: max(len(periodic) - keep, 0)]:
        delete_model(path)


def prune_buffers(model: Path) -> None:
    """Delete the replay buffers of a model's run except the model's own: each is as large as many models."""
    for other in models_of(model.parent, run_of(model)):
        if other != model:
            buffer_path(other).unlink(missing_ok=True)


def delete_model(model: Path) -> None:
    """Delete a model and its companions, the model last, so that nothing is left of which nobody knows."""
    for path in (*(place(model) for place in COMPANIONS), beside(model), model):
        path.unlink(missing_ok=True)
