"""SAC's replay buffer on disk: plain arrays, of any number of cars."""

import zipfile
from pathlib import Path

import numpy as np
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from racer_env.errors import ModelError

_ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


def write_buffer(buffer: ReplayBuffer, path: str) -> None:
    """Write the transitions of a buffer, oldest first, each array (T, ...) over all cars."""
    order = np.arange(buffer.pos)
    if buffer.full:
        order = np.concatenate([np.arange(buffer.pos, buffer.buffer_size), order])
    arrays = {name: getattr(buffer, name)[order] for name in _ARRAYS}
    with Path(path).open("wb") as file:
        np.savez(file, **{name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()})


def read_buffer(path: Path, model: OffPolicyAlgorithm) -> int:
    """Put the transitions of a file into a model's buffer, the newest where it holds fewer.

    Returns:
        How many there are now.

    Raises:
        ModelError: The file is damaged or of something else.
    """
    buffer = model.replay_buffer
    assert buffer is not None
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in _ARRAYS}
    except (ValueError, OSError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"cannot load the replay buffer {path}: it is damaged or none; delete it, and it is filled again"
        ) from error
    rows = min(len(arrays["rewards"]) // buffer.n_envs, buffer.buffer_size)
    for name, array in arrays.items():
        place = getattr(buffer, name)
        if array.shape[1:] != place.shape[2:] or len(array) != len(arrays["rewards"]):
            raise ModelError(f"the replay buffer {path} is of another model: {name} has the shape {array.shape}")
        newest = array[len(array) - rows * buffer.n_envs :]
        place[:rows] = newest.reshape(rows, *place.shape[1:])
    buffer.full = rows == buffer.buffer_size
    buffer.pos = 0 if buffer.full else rows
    return rows * buffer.n_envs
