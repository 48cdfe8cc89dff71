"""One drive of an evaluation, and what was counted of it."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from racer_env.contract import TICKS_PER_SECOND

ASSUMED_LENGTH = 5_000.0  # units; length of a track that its bridge does not describe
LINE, MOVING, STANDING = "line", "moving", "standing"  # how an episode starts: at the line, or anywhere


@dataclass(frozen=True)
class Steering:
    """How smoothly a car was steered, which makes it worth watching.

    Attributes:
        command_changes, wheel_changes: Changes of sign of the driver's steering, and of the smoothed steer of the car.
        reversals: How often the driver's steering turned from rising to falling or the other way round.
        total_change: Sum of the absolute changes of the driver's steering from tick to tick.
    """

    command_changes: int = 0
    wheel_changes: int = 0
    reversals: int = 0
    total_change: float = 0.0


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
        steering: How it was steered.
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
    steering: Steering = field(default_factory=Steering, repr=False, compare=False)

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
