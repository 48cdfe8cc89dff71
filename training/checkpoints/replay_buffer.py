"""The replay buffer of an off-policy algorithm on disk: plain arrays, for any number of cars."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from racer_env.contract import MAX_CARS
from racer_env.errors import ModelError
from racer_env.spaces import make_action_space, make_observation_space
from training.checkpoints.archives import open_archive, read_array

# Arrays of many transitions, by name.
Transitions = dict[str, npt.NDArray[np.float32]]

MAX_BUFFER = 100_000_000  # transitions, for a model that does not say
MAX_TRANSITION = 300  # bytes of a transition, with room for numbers of double precision
MAX_HEADERS = 10_000  # bytes of what a file holds besides
_ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


def write_buffer(buffer: ReplayBuffer, path: str) -> None:
    """Write the transitions of a buffer, oldest first, each array (T, ...) over all cars."""
    order = np.arange(buffer.pos)
    if buffer.full:
        order = np.concatenate([np.arange(buffer.pos, buffer.buffer_size), order])
    arrays = {name: getattr(buffer, name)[order] for name in _ARRAYS}
    with Path(path).open("wb") as file:
        np.savez(file, **{name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()})


def size_of(buffer: ReplayBuffer, steps: int) -> int:
    """Return the bytes that a buffer takes on disk after a number of steps of the environment."""
    full = buffer.buffer_size * buffer.n_envs
    return int(sum(getattr(buffer, name).nbytes for name in _ARRAYS) * min(1.0, steps / full))


def read_buffer(path: Path, size: int) -> Transitions:
    """Return the transitions of a file, oldest first, each array (T, ...).

    Args:
        path: Path of the file.
        size: Number of transitions that the buffer held at most, as its model says.

    Raises:
        ModelError: The file is damaged, not a replay buffer, or larger than it can be.
    """

    def refuse(why: str) -> ModelError:
        return ModelError(f"cannot load the replay buffer {path}: {why}; delete it, and it is filled again")

    most = max(size, MAX_CARS)  # a buffer holds a step of every car at least
    with open_archive(path, refuse, most * MAX_TRANSITION + MAX_HEADERS) as archive:
        arrays = {name: read_array(archive, name) for name in _ARRAYS}
    observed, acted = make_observation_space().shape, make_action_space().shape
    expected = {"observations": observed, "next_observations": observed, "actions": acted}
    for name, array in arrays.items():
        if array.shape[1:] != expected.get(name, ()) or array.shape[:1] != arrays["rewards"].shape[:1]:
            raise ModelError(f"the replay buffer {path} is of another model: {name} has the shape {array.shape}")
        if array.dtype.kind != "f" or len(array) > most:
            raise refuse(f"{name} must be up to {most:,} numbers, got {len(array):,} of type {array.dtype}")
        if not np.isfinite(array).all():
            raise ModelError(f"the replay buffer {path} is not finite in {name}; delete it, and it is filled again")
    return arrays


def fill_buffer(model: OffPolicyAlgorithm, transitions: Transitions) -> int:
    """Put transitions into a model's buffer; if it holds fewer, only the newest.

    Returns:
        Number of transitions now in the buffer.
    """
    buffer = model.replay_buffer
    assert buffer is not None
    rows = min(len(transitions["rewards"]) // buffer.n_envs, buffer.buffer_size)
    for name, array in transitions.items():
        place = getattr(buffer, name)
        newest = array[len(array) - rows * buffer.n_envs :]
        place[:rows] = newest.reshape(rows, *place.shape[1:])
    buffer.full = rows == buffer.buffer_size
    buffer.pos = 0 if buffer.full else rows
    return rows * buffer.n_envs
