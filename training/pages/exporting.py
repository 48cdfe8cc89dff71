"""Models of stable-baselines3 for a page: exported, and compared with the model as every export is."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from racer_env.errors import ModelError
from racer_env.tracks import Track
from training.checkpoints.checkpoint import Checkpoint
from training.checkpoints.files import DRIVER_NAME
from training.drivers.driver import Driver
from training.drivers.trained import load_trained_driver
from training.exports.checks import TOLERANCE
from training.exports.session import write_compared


def exported_model(checkpoint: Checkpoint, tracks: Sequence[Track]) -> tuple[Driver, bytes]:
    """Return a model as a driver, and its ``driver.onnx``.

    Args:
        checkpoint: The model with its statistics.
        tracks: Tracks on which the two are compared.

    Raises:
        ModelError: Model or statistics are damaged, the model has a memory, or its export acts differently.
    """
    with tempfile.TemporaryDirectory() as temporary:
        differences = write_compared(Path(temporary), checkpoint, tracks, seed=0)
        for what, difference in differences.items():
            if not difference <= TOLERANCE:
                raise ModelError(
                    f"{checkpoint.data.path} cannot drive in a page: {what}, its export differs from the model by up "
                    f"to {difference:.3g}, more than {TOLERANCE:g}"
                )
        content = (Path(temporary) / DRIVER_NAME).read_bytes()
    return load_trained_driver(checkpoint, deterministic=True, seed=0, device="cpu"), content
