"""What a driver may meet elsewhere and never in training: noise on what it sees and does, and late actions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Stress:
    """One kind of it.

    Attributes:
        name: For people.
        action_noise: Standard deviation, added to steer, throttle and brake at every tick.
        observation_noise: The same of each place of the observation.
        delay: Ticks until an action arrives; until then the car coasts.
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
    """Cars under stress."""

    def __init__(self, stress: Stress, seed: int) -> None:
        """Begin.

        Args:
            stress: Which.
            seed: Of the noise.
        """
        self._stress = stress
        self._random = np.random.default_rng(seed)
        self._late: list[npt.NDArray[np.floating[Any]]] = []

    def seen(self, observations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
        """Return what the drivers see of observations (N, 14)."""
        return self._noisy(observations, self._stress.observation_noise)

    def done(self, actions: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
        """Return what the cars do at a tick for which the drivers chose actions (N, 3)."""
        self._late.append(actions)
        due = self._late.pop(0) if len(self._late) > self._stress.delay else np.zeros_like(actions)
        return self._noisy(due, self._stress.action_noise)

    def _noisy(self, values: npt.NDArray[np.floating[Any]], size: float) -> npt.NDArray[np.floating[Any]]:
        if size == 0.0:
            return values
        return values + self._random.normal(0.0, size, values.shape).astype(values.dtype)
