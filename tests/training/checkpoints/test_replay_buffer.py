"""SAC's replay buffer on disk: the newest transitions, of any number of cars, and nothing that could run."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.buffers import ReplayBuffer

from racer_env.errors import ModelError
from racer_env.spaces import make_action_space, make_observation_space
from training.checkpoints.replay_buffer import fill_buffer, read_buffer, write_buffer


def make_buffer(size: int, cars: int, added: int = 0) -> ReplayBuffer:
    """Return a buffer for ``size`` transitions to which ``added`` steps of some cars were added, numbered in reward."""
    buffer = ReplayBuffer(size, make_observation_space(), make_action_space(), n_envs=cars)
    for step in range(added):
        rewards = np.arange(cars) + step * cars
        seen = np.full((cars, 14), step, np.float32)
        buffer.add(seen, seen + 1, np.zeros((cars, 3)), rewards, np.zeros(cars), [{} for _ in range(cars)])
    return buffer


def take_over(source: ReplayBuffer, target: ReplayBuffer, path: Path) -> int:
    """Write one buffer and read it into another."""
    write_buffer(source, str(path))
    model: Any = SimpleNamespace(replay_buffer=target)
    return fill_buffer(model, read_buffer(path, 100))


@pytest.mark.parametrize("added", [3, 10, 13])
def test_it_comes_back_in_order(tmp_path: Path, added: int) -> None:
    """Oldest first, also when the buffer has wrapped around."""
    target = make_buffer(20, 2)
    count = take_over(make_buffer(20, 2, added), target, tmp_path / "b.npz")
    kept = min(added, 10)
    assert count == 2 * kept
    assert target.rewards[:kept].ravel().tolist() == [*range(2 * (added - kept), 2 * added)]
    assert target.next_observations[kept - 1, 1, 5] == added
    assert target.full == (kept == 10)


def test_a_smaller_buffer_takes_the_newest(tmp_path: Path) -> None:
    """And other numbers of cars share the transitions out."""
    target = make_buffer(12, 3)
    assert take_over(make_buffer(40, 2, 10), target, tmp_path / "b.npz") == 12
    assert target.rewards.ravel().tolist() == [*range(8, 20)]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    """One line that names the file."""
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="cannot load the replay buffer .*bad.npz"):
        read_buffer(path, 100)


def test_arrays_of_something_else_are_named(tmp_path: Path) -> None:
    """Another shape is another model's; pickled objects are not opened."""
    names = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
    np.savez(tmp_path / "odd.npz", **{name: np.zeros((4, 2)) for name in names})
    with pytest.raises(ModelError, match=r"of another model: observations has the shape \(4, 2\)"):
        read_buffer(tmp_path / "odd.npz", 100)
    np.savez(tmp_path / "trap.npz", **{name: np.array([{}], dtype=object) for name in names})
    with pytest.raises(ModelError, match="cannot load the replay buffer"):
        read_buffer(tmp_path / "trap.npz", 100)


def test_a_number_that_is_none_is_named(tmp_path: Path) -> None:
    """It would spread into everything that is learnt from it."""
    source = make_buffer(10, 1, 5)
    source.observations[2, 0, 3] = np.nan
    write_buffer(source, str(tmp_path / "nan.npz"))
    with pytest.raises(ModelError, match="nan.npz is not finite in observations; delete it"):
        read_buffer(tmp_path / "nan.npz", 100)
