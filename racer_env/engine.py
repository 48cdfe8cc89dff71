"""The interface of what drives the cars of a vector environment: the embedded simulator or a bridge."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from racer_env.contract import Placement

# Returns where a car's next episode starts; None is the standing start. An engine may ask one episode ahead.
NextStart = Callable[[int], Placement | None]


class Engine(Protocol):
    """N cars, each alone on its track. A car whose episode ends begins the next one in the same step.

    An engine that begins late leaves that to ``begin_cars``; until then, a finished car drives on in its old episode.

    Attributes:
        begins_late: Whether it begins late.
        observations: (N, 14) float64; for a finished car, the first one of its new episode.
        rewards: (N,) float64, rewards of the last step.
        terminated, truncated: (N,) bool, whether an episode ended in the last step, and how.
        infos: (N,) INFO_DTYPE, infos of the last step.
        terminal_observations: Last observation (14,) of each car whose episode ended in the last step, by car.
        reset_infos: The info of each car's last reset.
    """

    begins_late: bool
    observations: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    infos: npt.NDArray[np.void]
    terminal_observations: dict[int, npt.NDArray[np.float64]]
    reset_infos: list[dict[str, Any]]

    def begin(self) -> None:
        """Begin an episode for every car."""

    def begin_cars(self, cars: Sequence[int]) -> None:
        """Begin an episode for some cars; only of an engine that begins late."""

    def step(self, actions: npt.NDArray[np.floating]) -> None:
        """Advance every car by one tick and write the attributes.

        Args:
            actions: (N, 3) steer, throttle, brake; clamped to [-1, 1], [0, 1], [0, 1].

        Raises:
            ActionError: The shape is wrong, or a number is not finite; then nothing has moved.
        """

    def close(self) -> None:
        """Close the engine; safe to call twice."""
