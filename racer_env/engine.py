"""What drives the cars of a vector environment: the embedded simulator or a bridge, behind one interface."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from racer_env.contract import Placement

# Says where a car's next episode starts; None is the standing start. An engine may ask an episode ahead.
NextStart = Callable[[int], Placement | None]


class Engine(Protocol):
    """N cars, each alone on its track. A car whose episode ends begins the next one in the same step.

    Attributes:
        observations: (N, 14) float64, of a finished car the first one of its new episode.
        rewards: (N,) float64 of the last step.
        terminated, truncated: (N,) bool of the last step.
        infos: (N,) INFO_DTYPE of the last step.
        terminal_observations: By car, for those whose episode ended in the last step, its last observation.
        reset_infos: The info of each car's last reset.
    """

    observations: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    infos: npt.NDArray[np.void]
    terminal_observations: dict[int, npt.NDArray[np.float64]]
    reset_infos: list[dict[str, Any]]

    def begin(self) -> None:
        """Begin an episode for every car."""

    def step(self, actions: npt.NDArray[np.floating]) -> None:
        """Advance every car by one tick and write the attributes.

        Args:
            actions: (N, 3) steer, throttle, brake; clamped to [-1, 1], [0, 1], [0, 1].

        Raises:
            ActionError: The shape is another, or a number is not finite; nothing has moved then.
        """

    def close(self) -> None:
        """End it; twice is fine."""
