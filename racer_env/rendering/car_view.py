"""What is drawn of a car at one moment."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.contract import RAYS
from racer_env.physics import Physics
from racer_env.rendering import style
from racer_env.rendering.pursuit import Pursuit
from racer_env.rendering.skid_marks import SkidMarks
from racer_env.rendering.stopwatch import Stopwatch

TRAIL_TICKS = 480  # 8 seconds


@dataclass
class CarView:
    """A car as it is drawn.

    Attributes:
        name: Name in the read-out.
        colour: Colour of the car's body.
        x, y: Position of the car, in units.
        heading: Heading in radians, counter-clockwise from +x.
        speed: Speed in units per second.
        wheel_angle: Angle of the front wheels from the heading, in radians, counter-clockwise.
        steer, throttle, brake: The car's smoothed inputs.
        rays: (9,) distances to the nearest wall in units, from right to left; empty if not known.
        trail: x, y and speed of the last TRAIL_TICKS ticks, in units and units/s.
        marks: What its tyres have left on the ground.
        stopwatch: Times of the car's laps.
        pursuit: What a camera sees that follows the car with its heading up.
    """

    name: str
    colour: style.Colour
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    speed: float = 0.0
    wheel_angle: float = 0.0
    steer: float = 0.0
    throttle: float = 0.0
    brake: float = 0.0
    rays: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    trail: deque[tuple[float, float, float]] = field(default_factory=lambda: deque(maxlen=TRAIL_TICKS))
    marks: SkidMarks = field(default_factory=SkidMarks)
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    pursuit: Pursuit = field(init=False)

    def __post_init__(self) -> None:
        self.pursuit = Pursuit(self.heading)

    def begin(self, state: Any, observation: npt.NDArray[np.floating], physics: Physics) -> None:
        """Place the car at the start of an episode; the arguments are those of ``see``."""
        self.trail.clear()
        self.marks.clear()
        self.stopwatch.begin(int(state["lap"]))
        self._take(state, observation, physics)
        self.pursuit.cut(self.heading, self.speed / physics.max_speed)

    def put_back(self, state: Any, observation: npt.NDArray[np.floating], physics: Physics) -> None:
        """Place the car elsewhere in an episode, at the cost of the running lap; the arguments are those of ``see``."""
        self.trail.clear()
        self.marks.lift()
        self.stopwatch.lose_lap()
        self._take(state, observation, physics)
        self.pursuit.cut(self.heading, self.speed / physics.max_speed)

    def see(self, state: Any, observation: npt.NDArray[np.floating], physics: Physics) -> None:
        """Update the car to its state after a tick.

        Args:
            state: The car's CAR_DTYPE record.
            observation: (14,) observation after the tick.
            physics: Physics of the game.
        """
        self.marks.see(state)
        self.stopwatch.see(int(state["lap"]), int(state["step_count"]))
        self._take(state, observation, physics)
        self.pursuit.see(self.heading, self.speed / physics.max_speed)

    def _take(self, state: Any, observation: npt.NDArray[np.floating], physics: Physics) -> None:
        self.x, self.y, self.heading, self.speed = (float(state[name]) for name in ("x", "y", "heading", "speed"))
        self.steer, self.throttle, self.brake = (float(state[name]) for name in ("steer", "throttle", "brake"))
        self.wheel_angle = -self.steer * physics.max_wheel_angle / (1.0 + self.speed * physics.steering_speed_factor)
        self.rays = np.asarray(observation[RAYS], dtype=np.float64) * physics.ray_max_distance
        self.trail.append((self.x, self.y, self.speed))
