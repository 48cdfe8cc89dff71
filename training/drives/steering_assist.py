"""The steering assist: what a person asks for, made into steering that a person can drive with.

A key held down is full lock at once, and at speed that spins a car around before anybody can react. The assist stands
between the person and the game; the physics stays as it is. ``page/src/steering/assist.ts`` does the same in the
browser, with the same settings, and ``tests/recordings/steering_assist.json`` holds both to the same numbers.
"""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from racer_env.contract import TICKS_PER_SECOND


@dataclass(frozen=True)
class AssistSettings:
    """How much the assist holds back.

    Attributes:
        half_lock_speed: Speed in units/s at which half of the lock is left; at three times that, a quarter.
        seconds_to_limit: Seconds in which a key that is held turns the wheels from the middle to the limit.
        seconds_to_middle: Seconds in which they turn back once it is let go.
    """

    half_lock_speed: float
    seconds_to_limit: float
    seconds_to_middle: float


@functools.cache
def assist_settings() -> AssistSettings:
    """Return the settings that window and page share."""
    content = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return AssistSettings(content["halfLockSpeed"], content["secondsToLimit"], content["secondsToMiddle"])


class SteeringAssist:
    """Limits the lock by speed, and ramps into it and out of it, faster back to the middle."""

    def __init__(self, settings: AssistSettings | None = None) -> None:
        """Begin in the middle; None is the settings that window and page share."""
        settings = assist_settings() if settings is None else settings
        self._half_lock_speed = settings.half_lock_speed
        self._out = 1.0 / (settings.seconds_to_limit * TICKS_PER_SECOND)
        self._back = 1.0 / (settings.seconds_to_middle * TICKS_PER_SECOND)
        self.begin()

    def begin(self) -> None:
        """Turn to the middle at once: the car has been put somewhere else."""
        self._turned = 0.0  # share of the limit, -1 to 1

    def step(self, wanted: float, speed: float) -> float:
        """Return the steering of the next tick, in [-1, 1].

        Args:
            wanted: What keys or stick ask for, in [-1, 1].
            speed: Speed of the car, in units/s.
        """
        goal = wanted if wanted * self._turned >= 0.0 else 0.0  # to the other side, through the middle
        most = self._out if abs(goal) > abs(self._turned) else self._back
        self._turned = min(max(goal, self._turned - most), self._turned + most)
        return self._turned / (1.0 + speed / self._half_lock_speed)
