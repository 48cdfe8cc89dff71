"""Drivers: a trained model with its statistics, and a scripted one, as plain functions of observations."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from racer_env.physics import Physics
from training.model_files import find_model, find_statistics

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize


class TrainedDriver:
    """A model that drives: observations (N, 14) in, actions (N, 3) out, statistics frozen.

    Attributes:
        model: The stable-baselines3 model.
        path: Its file.
    """

    def __init__(self, model: "BaseAlgorithm", statistics: "VecNormalize", path: Path, deterministic: bool) -> None:
        statistics.training = False
        self.model = model
        self.path = path
        self.deterministic = deterministic
        self._statistics = statistics

    def __call__(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.floating]:
        """Return actions (N, 3) for raw observations (N, 14)."""
        normalised: Any = self._statistics.normalize_obs(observations)
        actions, _ = self.model.predict(normalised, deterministic=self.deterministic)
        return actions


def load_driver(
    name: str | Path,
    physics: Physics | None,
    *,
    deterministic: bool = True,
    device: str = "cpu",
    any_physics: bool = False,
) -> TrainedDriver:
    """Load a model and the statistics that belong to it.

    Args:
        name: The model's file, with or without ``.zip``. It contains pickles: load only files that you trust.
        physics: What it is going to drive on; None is not known, and not checked.
        deterministic: Whether it drives without exploration noise.
        device: Of PyTorch.
        any_physics: Load it although it was trained on other physics.

    Raises:
        ModelError: Model or statistics are missing, unreadable, or made for something else.
    """
    path = find_model(name)
    statistics_path = find_statistics(path)
    from stable_baselines3 import PPO

    from training.session import check_physics, load_model, load_statistics

    model = load_model(PPO, path, None, device=device)
    if not any_physics:
        check_physics(model, path, physics)
    return TrainedDriver(model, load_statistics(statistics_path), path, deterministic)


def scripted_driver(observations: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Drive by rule: steer to the side with more room, as fast as the view ahead allows.

    Args:
        observations: (N, 14).

    Returns:
        Actions (N, 3).
    """
    left = observations[:, 5] + 0.5 * observations[:, 6]
    right = observations[:, 3] + 0.5 * observations[:, 2]
    ahead, speed = observations[:, 4] * 200.0, observations[:, 9] * 160.0
    target = 20.0 + 0.75 * ahead
    actions = np.empty((len(observations), 3))
    actions[:, 0] = np.clip(4.0 * (right - left), -1.0, 1.0)
    actions[:, 1] = speed < target
    actions[:, 2] = speed > target + 10.0
    return actions
