"""Disturbances that a driver never meets in training: noise on what it sees and does, and delayed actions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Stress:
    """One kind of disturbance.

    Attributes:
        name: Display name of this kind.
        action_noise: Standard deviation of the noise on steer, throttle and brake at every tick.
        observation_noise: Standard deviation of the noise on each value of the observation.
        delay: Ticks until an action takes effect; until the first one does, the car coasts.
    """

    name: str
    action_noise: float = 0.0
    observation_noise: float = 0.0
    delay: int = 0


NO_STRESS = Stress("none")
STRESSES = (
    Stress("action noise", action_noise=0.1),
    Stress("observation noise", observation_noise=0.02),
    Stress("a tick of delay", delay=1),
    Stress("all of these", action_noise=0.1, observation_noise=0.02, delay=1),
)


class Stressed:
    """Cars under stress.

    Attributes:
        blurs: Whether there is noise on what they see.
    """

    def __init__(self, stress: Stress, seed: int, cars: int) -> None:
        """Begin without pending actions.

        Args:
            stress: The noise and delay to apply.
            seed: Seed of the noise.
            cars: N, the number of cars.
        """
        self.blurs = stress.observation_noise != 0.0
        self._stress = stress
        self._random = np.random.default_rng(seed)
        self._late: list[npt.NDArray[np.floating[Any]]] = []
        self._cars = cars
        self._kept: npt.NDArray[np.int64] = np.arange(cars)

    def seen(self, observations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
        """Return what the drivers see, given the true observations (N, 14)."""
        return self._noisy(observations, self._stress.observation_noise)

    def done(self, actions: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
        """Return what the cars do on a tick for which the drivers chose actions (N, 3)."""
        due = actions
        if self._stress.delay:
            self._late.append(actions)
            due = self._late.pop(0) if len(self._late) > self._stress.delay else np.zeros_like(actions)
        return self._noisy(due, self._stress.action_noise)

    def keep(self, rows: npt.NDArray[np.int64]) -> None:
        """Go on with some of the rows; the noise on them is what it would be among all."""
        self._late = [actions[rows] for actions in self._late]
        self._kept = self._kept[rows]

    def _noisy(self, values: npt.NDArray[np.floating[Any]], size: float) -> npt.NDArray[np.floating[Any]]:
        if size == 0.0 or not len(values):
            return values
        noise = self._random.normal(0.0, size, (self._cars, values.shape[1]))
        return values + noise[self._kept].astype(values.dtype)
