"""A person who drives, with keys or a gamepad, and what they drove best."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from racer_env.contract import OBSERVED_SPEED, STEER
from racer_env.tracks import Track
from racer_env.tracks.starts import Start, standing_start
from training.drives.recording import Recording
from training.drives.steering_assist import SteeringAssist

NAME = "you"


class PersonEntrant:
    """A person at the keyboard or with a gamepad.

    Attributes:
        wish: (3,) steer in [-1, 1], throttle and brake in [0, 1], as keys and stick ask for them now.
        is_assisted: Whether the steering assist stands between the wish and the car.
    """

    name = NAME
    restarts = False
    ticks: int | None = None

    def __init__(self) -> None:
        self.wish: npt.NDArray[np.float64] = np.zeros(3)
        self.is_assisted = True
        self._assist = SteeringAssist()
        self._max_speed = 0.0

    def start_on(self, track: Track) -> Start:
        """Return the standing start."""
        self._max_speed = track.physics.max_speed
        return standing_start(track.geometry)

    def doubt_on(self, track: Track) -> None:
        """Return None: a person sees."""

    def act(self, tick: int, observation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the action that the wish makes at the car's speed."""
        if tick == 0:
            self._assist.begin()
        action = self.wish.copy()
        # The assist follows while it is off, so that it takes over smoothly.
        assisted = self._assist.step(float(action[STEER]), float(observation[OBSERVED_SPEED]) * self._max_speed)
        if self.is_assisted:
            action[STEER] = assisted
        return action


@dataclass
class _Drive:
    """What was driven since a car was put somewhere."""

    track: Track
    start: Start
    actions: list[npt.NDArray[np.floating]] = field(default_factory=list)
    lap: int = 0
    began: int = 0
    is_clean: bool = True


class BestDrives:
    """Takes down what a person drives, and keeps the drive with the best lap on each track.

    A drive begins where the car was put last, and is kept up to the end of its best lap. A clean lap is better than
    one that touched a wall, however fast.
    """

    def __init__(self) -> None:
        self._drive: _Drive | None = None
        self._best: dict[str, tuple[bool, int, Recording]] = {}

    @property
    def recordings(self) -> dict[str, Recording]:
        """The drives with the best laps, by track id."""
        return {track_id: recording for track_id, (_, _, recording) in self._best.items()}

    def begin(self, track: Track, start: Start) -> None:
        """Note that the car has been put at a start."""
        self._drive = _Drive(track, start, lap=start.lap)

    def see(self, action: npt.NDArray[np.floating], lap: int, touches_wall: bool) -> None:
        """Take a tick: what the person did, and on which lap of the game the car is after it."""
        drive = self._drive
        assert drive is not None
        drive.actions.append(action)
        drive.is_clean = drive.is_clean and not touches_wall
        if lap == drive.lap:
            return
        if drive.lap > 0:
            self._keep(drive)
        drive.lap, drive.began, drive.is_clean = lap, len(drive.actions), True

    def _keep(self, drive: _Drive) -> None:
        rank = (not drive.is_clean, len(drive.actions) - drive.began)
        best = self._best.get(drive.track.id)
        if best is None or rank < best[:2]:
            recording = Recording(NAME, drive.track, drive.start, np.array(drive.actions, np.float64))
            self._best[drive.track.id] = (*rank, recording)
