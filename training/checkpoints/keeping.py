"""Keeping a model under another name, together with what belongs to it."""

import contextlib
import shutil
from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import read_model_data
from training.checkpoints.files import COMPANIONS, buffer_path, model_path, run_of, save_order
from training.checkpoints.writing import replacing
from training.console.messages import say


def copy_unit(model: Path, target: Path, with_buffer: bool = True) -> None:
    """Copy a model and its companions, the model last, so that it is never there without them.

    Raises:
        OSError: A file cannot be copied; what was there before is still whole.
    """
    for place in COMPANIONS:
        if place(model).is_file() and (with_buffer or place != buffer_path):
            _copy(place(model), place(target))
    _copy(model, target)


def keep_replaced(model: Path, with_buffer: bool) -> None:
    """Copy a final or interrupted model that is about to be replaced to the checkpoint of its step, and say so.

    A checkpoint of that step that was saved before it gives way: the model has been updated since.

    Args:
        model: Path of the model; if there is none that can be read, there is nothing to keep.
        with_buffer: Whether its replay buffer is kept as well; a run has only one, so not if the next one has its own.

    Raises:
        OSError: It cannot be copied; everything is still as it was.
    """
    with contextlib.suppress(ModelError):
        data = read_model_data(model)
        kept = model_path(model.parent, run_of(model), data.steps)
        with contextlib.suppress(ModelError):
            if save_order(read_model_data(kept)) > save_order(data):
                return
        copy_unit(model, kept, with_buffer)
        say(f"{model.name} of {data.steps:,} steps is kept as {kept.name}")


def _copy(source: Path, target: Path) -> None:
    with replacing(target) as beside:
        shutil.copy2(source, beside)
