"""Stopping before numbers that are not finite spread into everything that is saved."""

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import TrainingError
from training.checkpoints.vec_normalize import observation_moments


def check_model(model: BaseAlgorithm) -> None:
    """Check that all weights are finite.

    Raises:
        TrainingError: A weight is not finite; the message names it.
    """
    for name, parameter in model.policy.named_parameters():
        if not torch.isfinite(parameter).all():
            raise TrainingError(
                f"the network is no longer finite: {name} holds {_first_odd(parameter.detach().cpu().numpy())} after "
                f"{model.num_timesteps:,} steps; a smaller learning_rate or larger batches keep it from diverging"
            )


def check_statistics(statistics: VecNormalize, steps: int) -> None:
    """Check that the normalisation statistics are finite.

    Raises:
        TrainingError: The statistics are not finite.
    """
    all_moments = {"returns": statistics.ret_rms}
    if statistics.norm_obs:
        all_moments["observations"] = observation_moments(statistics)
    for name, moments in all_moments.items():
        for value in (moments.mean, moments.var):
            if not np.isfinite(value).all():
                raise TrainingError(
                    f"the statistics of {name} are no longer finite: they hold {_first_odd(value)} "
                    f"after {steps:,} steps"
                )


class HealthCallback(BaseCallback):
    """Stops a run at the first number that is not finite, in an observation, a reward, the statistics or a network."""

    def __init__(self, statistics: VecNormalize) -> None:
        super().__init__()
        self.statistics = statistics

    def _on_rollout_start(self) -> None:
        check_model(self.model)  # after the last update
        check_statistics(self.statistics, self.num_timesteps)

    def _on_step(self) -> bool:
        # Raw values: once normalised, one bad number has already spread to all cars.
        for values in (self.statistics.old_obs, self.statistics.old_reward):
            if isinstance(values, np.ndarray) and not np.isfinite(values).all():
                place = np.argwhere(~np.isfinite(values))[0]
                what = f"observation {place[1]}" if values.ndim > 1 else "the reward"
                raise TrainingError(
                    f"{what} of car {place[0]} is {_first_odd(values)} after {self.num_timesteps:,} steps; the game "
                    "must send finite numbers"
                )
        return True


def _first_odd(values: np.ndarray) -> float:
    flat = np.asarray(values, dtype=np.float64).ravel()
    return float(flat[~np.isfinite(flat)][0])
