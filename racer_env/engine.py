"""What drives the cars of a vector environment: the embedded simulator or a bridge, behind one interface."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from racer_env.errors import ConfigError
from racer_env.json_files import Checker
from racer_env.simulator.starts import Placement, random_placement
from racer_env.tracks import Track

STANDING, RANDOM = "standing", "random"
MAX_START_OFFSET = 1000.0  # units from the centre line
MAX_START_MAGNITUDE = 1e6  # of arc length in units and heading in radians; far beyond it, wrapping loses digits
START_KEYS = ("arc_length", "lateral", "heading", "speed")

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


def make_placement(track: Track, start: str | Mapping[str, float], random: np.random.Generator) -> Placement | None:
    """Make the placement that a reset option asks for; None is the standing start.

    Args:
        track: Where.
        start: ``"standing"``, ``"random"``, or a dictionary as in ``RacerEnv``.
        random: Draws a random start.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(start, str) and start == STANDING:
        return None
    if isinstance(start, str) and start == RANDOM:
        return random_placement(track.geometry, random)
    check = Checker(ConfigError, "start")
    if not isinstance(start, Mapping):
        raise check.fail(f"expected 'standing', 'random' or a dictionary with arc_length, got {start!r}")
    numbers = check.mapping(dict(start), "the dictionary", START_KEYS, required=("arc_length",))
    numbers = {key: check.number(value, key) for key, value in numbers.items()}
    if not 0.0 <= numbers.get("speed", 0.0) <= track.physics.max_speed:
        raise check.fail(f"speed must be within [0, {track.physics.max_speed:g}] units/s, got {numbers['speed']:g}")
    if abs(numbers.get("lateral", 0.0)) > MAX_START_OFFSET:
        raise check.fail(f"lateral must be within {MAX_START_OFFSET:g} units of the line, got {numbers['lateral']:g}")
    for key in ("arc_length", "heading"):
        if abs(numbers.get(key, 0.0)) > MAX_START_MAGNITUDE:
            raise check.fail(f"{key} must be within {MAX_START_MAGNITUDE:g} of 0, got {numbers[key]:g}")
    return Placement(**numbers)
