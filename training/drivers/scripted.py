"""A simple rule-based driver, for comparison."""

from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.contract import ACTION_SIZE, BRAKE, OBSERVED_SPEED, RAY_AHEAD, STEER, THROTTLE

RAY_RANGE, TOP_SPEED = 200.0, 160.0  # units and units/s, from the project's physics


def scripted_driver(observations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Drive by rule: steer to the side with more room, as fast as the view ahead allows.

    Args:
        observations: (N, 14) raw observations, one per car.

    Returns:
        (N, 3) actions: steer, throttle, brake.
    """
    left = observations[:, RAY_AHEAD + 1] + 0.5 * observations[:, RAY_AHEAD + 2]
    right = observations[:, RAY_AHEAD - 1] + 0.5 * observations[:, RAY_AHEAD - 2]
    ahead, speed = observations[:, RAY_AHEAD] * RAY_RANGE, observations[:, OBSERVED_SPEED] * TOP_SPEED
    target = 20.0 + 0.75 * ahead
    actions = np.empty((len(observations), ACTION_SIZE))
    actions[:, STEER] = np.clip(4.0 * (right - left), -1.0, 1.0)
    actions[:, THROTTLE] = speed < target
    actions[:, BRAKE] = speed > target + 10.0
    return actions
