"""Exporting a driver: written to a temporary folder, compared with the model, and only then moved into place."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from racer_env.errors import ModelError
from racer_env.tracks import AnyTrack
from training.checkpoints.checkpoint import Checkpoint
from training.checkpoints.files import DRIVER_NAME, MODEL_NAME, STATISTICS_NAME
from training.checkpoints.loading import load_model, prepare
from training.checkpoints.statistics import UNCHANGED
from training.checkpoints.writing import move
from training.console.messages import say
from training.exports.checks import TOLERANCE, check_files
from training.exports.files import MIN_RUNTIME, computes_in_double, write_files


def export(checkpoint: Checkpoint, tracks: Sequence[AnyTrack], folder: Path, seed: int) -> bool:
    """Export a driver, and say what was written.

    Args:
        checkpoint: The model with its statistics, if it has any.
        tracks: Tracks on which it is compared.
        folder: Folder that the files go to.
        seed: Seed of the observations that it is compared on.

    Returns:
        Whether the files agree with the model; if not, none is written.

    Raises:
        ModelError: Model or statistics are damaged.
        OSError: A file cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=folder) as temporary:  # no file is moved into place before it is checked
        beside = Path(temporary)
        differences = write_compared(beside, checkpoint, tracks, seed)
        for what, difference in differences.items():
            if not difference <= TOLERANCE:
                say(f"{what}: differs from the model by up to {difference:.3g}, more than {TOLERANCE:g}")
        if not all(difference <= TOLERANCE for difference in differences.values()):
            say("nothing was written")
            return False
        for name in (MODEL_NAME, STATISTICS_NAME, DRIVER_NAME):
            move(beside / name, folder / name)
    for what, difference in differences.items():
        say(f"{what}: equals the model, largest difference of an action {difference:.1e}")
    is_unchanged = checkpoint.statistics is None
    for name, meaning in (
        (MODEL_NAME, f"takes observations normalised with {STATISTICS_NAME}"),
        (STATISTICS_NAME, "which changes nothing" if is_unchanged else "mean and variance of the observations"),
        (DRIVER_NAME, "takes raw observations"),
    ):
        say(f"saved {folder / name} ({(folder / name).stat().st_size / 1024:.1f} KB), {meaning}")
    is_single = not computes_in_double(folder / DRIVER_NAME)
    where = "on the CPU and in WebGPU" if is_single else "on the CPU, but not in WebGPU: they need double precision"
    say(f"both run in onnxruntime and onnxruntime-web {MIN_RUNTIME} and later, {where}")
    if checkpoint.data.action_repeat > 1:
        say(f"each of its actions has to be held for {checkpoint.data.action_repeat} ticks; the files say so")
    return True


def write_compared(folder: Path, checkpoint: Checkpoint, tracks: Sequence[AnyTrack], seed: int) -> dict[str, float]:
    """Write the files of a driver and compare them with the model; see ``check_files`` for what is returned.

    Raises:
        ModelError: Model or statistics are damaged, or the model has a memory.
        OSError: A file cannot be written.
    """
    data, normalise = checkpoint.data, checkpoint.statistics or UNCHANGED
    if data.algorithm.is_recurrent:
        raise ModelError(f"{data.path} is a model of {data.algorithm.name}, whose memory these files cannot hold")
    prepare(seed, "cpu")
    model = load_model(data, None, "cpu", learns=False)
    write_files(folder, data, model, normalise)
    return check_files(folder, data, model, normalise, tracks, seed)
