"""One drive of an evaluation, measured tick by tick."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from racer_env.contract import OBSERVED_ARC_LENGTH, OBSERVED_STEER, STEER, TICKS_PER_SECOND
from training.evaluation.smoothness import Stalls, SteeringMeter

ASSUMED_LENGTH = 5_000.0  # units; length of a track that its bridge does not describe
LINE, MOVING, STANDING = "line", "moving", "standing"  # how an episode starts: at the line, or anywhere


@dataclass
class Episode:
    """One drive of a car.

    Attributes:
        track_id: Id of the track.
        laps_asked: Number of laps to drive, from line to line.
        start: LINE is the standing start, MOVING is anywhere on the move, and STANDING anywhere at rest.
        lap_ticks: Ticks of each completed lap.
        clean: Whether each of these laps touched no wall.
        steps: Number of ticks driven.
        wall_ticks: Ticks in contact with a wall.
        off_track_ticks: Ticks off the road.
        reward: Sum of the raw rewards.
        was_cut: Whether the game ended it by its own step limit.
        actions: The action (3,) of every tick; empty if the course does not keep them.
        length: Length of the track in units; None if only a bridge knows it.
        steering: Measures of how it steered.
        stalls: How often it stopped making progress.
        ticks_before: Ticks until the line was first crossed, after a start elsewhere.
    """

    track_id: str
    laps_asked: int
    start: str = LINE
    lap_ticks: list[int] = field(default_factory=list)
    clean: list[bool] = field(default_factory=list)
    steps: int = 0
    wall_ticks: int = 0
    off_track_ticks: int = 0
    reward: float = 0.0
    was_cut: bool = False
    actions: list[npt.NDArray[np.floating]] = field(default_factory=list, repr=False)
    length: float | None = None
    ticks_before: int = 0
    stalls: int = 0
    steering: SteeringMeter = field(default_factory=SteeringMeter, repr=False, compare=False)
    _stalls: Stalls | None = field(default=None, repr=False, compare=False)
    _touched: bool = False  # whether the running lap has touched a wall

    def count_step(
        self,
        info: npt.NDArray[np.void],
        reward: float,
        action: npt.NDArray[np.floating],
        observation: npt.NDArray[np.floating],
    ) -> None:
        """Add the step that a car has just driven.

        Args:
            info: The step's INFO_DTYPE record.
            reward: Sum of the reward components.
            action: (3,) steer, throttle, brake of the step.
            observation: (14,) observation after the step.
        """
        self.steering.see(float(action[STEER]), float(observation[OBSERVED_STEER]))
        if self._stalls is None:
            self._stalls = Stalls(self.length or ASSUMED_LENGTH, TICKS_PER_SECOND)
        self._stalls.see(float(observation[OBSERVED_ARC_LENGTH]))
        self.stalls = self._stalls.count
        self.steps += 1
        self.wall_ticks += bool(info["wallContact"])
        self.off_track_ticks += info["offTrack"] != 0
        self.reward += reward
        self._touched |= bool(info["wallContact"])
        if info["lap"] == 0:
            self.ticks_before, self._touched = self.steps + 1, False
        elif info["lap"] - 1 > len(self.lap_ticks):
            self.lap_ticks.append(self.ticks_of_lap)
            self.clean.append(not self._touched)
            self._touched = False

    def is_over(self, patience: int) -> bool:
        """Return whether its laps are driven, or the running lap or the way to the line exceeds ``patience`` ticks."""
        return len(self.lap_ticks) >= self.laps_asked or max(self.ticks_of_lap, self.ticks_before) >= patience

    @property
    def ticks_of_lap(self) -> int:
        """Ticks since the running lap began."""
        return self.steps - self.ticks_before - sum(self.lap_ticks)

    @property
    def lap_times(self) -> list[float]:
        """Times of the completed laps, in seconds."""
        return [ticks / TICKS_PER_SECOND for ticks in self.lap_ticks]

    @property
    def clean_lap_ticks(self) -> list[int]:
        """Ticks of each completed lap that touched no wall."""
        return [ticks for ticks, is_clean in zip(self.lap_ticks, self.clean, strict=True) if is_clean]

    @property
    def is_clean(self) -> bool:
        """Whether all laps were driven and none touched a wall."""
        return len(self.clean) == self.laps_asked and all(self.clean)

    @property
    def is_success(self) -> bool:
        """Whether all laps were driven, no wall was touched from start to end, and the car never stalled."""
        return len(self.lap_ticks) == self.laps_asked and not self.wall_ticks and not self.stalls
