"""Cars side by side on one track, each driving as if alone: drivers, recordings, and a person."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from racer_env.contract import OBSERVED_ARC_LENGTH, TICKS_PER_SECOND
from racer_env.rendering import style
from racer_env.rendering.car_view import CarView
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track
from racer_env.tracks.starts import Start, standing_start, start_at
from training.drivers.driver import Driver
from training.drivers.familiarity import doubt_about
from training.drives.person import BestDrives, PersonEntrant
from training.drives.progress import Progress, gap_ticks
from training.drives.recording import Recording

Action = npt.NDArray[np.floating]

COAST = np.zeros(3)
REST = TICKS_PER_SECOND  # ticks between the end of the longest recording and a new begin of all


class Entrant(Protocol):
    """Whoever drives one of the cars.

    Attributes:
        name: Display name of the entrant.
        restarts: Whether it begins anew when it has stopped moving.
        ticks: Number of ticks it drives; None is without end.
    """

    name: str
    restarts: bool
    ticks: int | None

    def start_on(self, track: Track) -> Start:
        """Return where the entrant starts."""

    def doubt_on(self, track: Track) -> str | None:
        """Return in words why it may fail on a track; None if nothing speaks for it."""

    def act(self, tick: int, observation: npt.NDArray[np.float64]) -> Action:
        """Return steer, throttle and brake for a tick, counted from 0, given the observation before it (14,)."""


class DriverEntrant:
    """A trained, exported or scripted driver, which holds each action for as long as in training."""

    restarts = True
    ticks: int | None = None

    def __init__(self, driver: Driver, name: str) -> None:
        self.name = name
        self._driver = driver
        self._action: Action = COAST

    def start_on(self, track: Track) -> Start:
        """Return the standing start."""
        return standing_start(track.geometry)

    def doubt_on(self, track: Track) -> str | None:
        """Return in words that it was not trained on a track, or does not say so."""
        return doubt_about(self._driver, [track.id], self.name)

    def act(self, tick: int, observation: npt.NDArray[np.float64]) -> Action:
        """Return the driver's action."""
        if tick == 0:
            self._driver.begin()
        if tick % self._driver.action_repeat == 0:
            self._action = self._driver(observation[None].astype(np.float32))[0]
        return self._action


class ReplayEntrant:
    """A recording; when it ends, the car coasts."""

    restarts = False

    def __init__(self, recording: Recording) -> None:
        self.name = recording.driver
        self.ticks: int | None = len(recording.actions)
        self._recording = recording

    def start_on(self, track: Track) -> Start:
        """Return where the recording starts."""
        return self._recording.start

    def doubt_on(self, track: Track) -> None:
        """Return None: it drives what it drove."""

    def act(self, tick: int, observation: npt.NDArray[np.float64]) -> Action:
        """Return the recorded action."""
        actions = self._recording.actions
        return actions[tick] if tick < len(actions) else COAST


class Race:
    """Cars from one start, lap after lap; a driver that stands still too long restarts, recordings restart together.

    Attributes:
        track: Track that they drive on.
        cars: The drawn view of each car.
        tick: Number of ticks driven.
        laps: Number of laps in the race; None is driving without a race.
        finished: Tick on which a car completed the race, by car.
    """

    def __init__(
        self,
        track: Track,
        entrants: Sequence[Entrant],
        laps: int | None = None,
        best_drives: BestDrives | None = None,
    ) -> None:
        """Put all cars at their start.

        Args:
            track: Track to drive on.
            entrants: Entrants, one for each car.
            laps: Number of laps in the race; None is driving without a race.
            best_drives: Takes down what the person among the entrants drives; None if nobody wants to know.
        """
        self.track = track
        self.laps = laps
        self._best_drives = best_drives
        self._entrants = list(entrants)
        self._simulator = Simulator([track], len(entrants))
        self.cars = [CarView(entrant.name, style.car_colour(index)) for index, entrant in enumerate(entrants)]
        self._began = [0] * len(entrants)
        self._progress = [Progress(track.length, 0.0) for _ in entrants]
        self.restart()

    def restart(self) -> None:
        """Put all cars at their start."""
        self.tick = 0
        self.finished: dict[int, int] = {}
        for car in range(len(self._entrants)):
            self._place(car)

    def step(self) -> None:
        """Drive one tick."""
        simulator = self._simulator
        actions = [
            entrant.act(self.tick - began, simulator.observations[car])
            for car, (entrant, began) in enumerate(zip(self._entrants, self._began, strict=True))
        ]
        simulator.step(np.array(actions, dtype=np.float64))
        self.tick += 1
        for car, entrant in enumerate(self._entrants):
            self._see(car, actions[car])
            if simulator.terminated[car] and self.laps is None and entrant.restarts:
                self._place(car)
        if all(entrant.ticks is not None and self.tick >= entrant.ticks + REST for entrant in self._entrants):
            self.restart()

    def put_back(self, car: int) -> None:
        """Put a car back on the road where it is, at rest and along it; its running lap does not count then."""
        start = start_at(self.track.geometry, self._arc_length_of(car))
        self._begin(car, start)
        self.cars[car].put_back(self._simulator.cars[car], self._simulator.observations[car], self.track.physics)
        self._progress[car].lose_lap(self._arc_length_of(car), len(self.cars[car].stopwatch.laps))

    def gaps(self, car: int) -> list[float | None]:
        """Return the seconds by which each car is behind a car, negative for those ahead; None where unknown."""
        gaps = [gap_ticks(other, self._progress[car]) for other in self._progress]
        return [None if gap is None else gap / TICKS_PER_SECOND for gap in gaps]

    def result(self) -> str:
        """Return who has won and by how much, as far as it is decided; empty before anybody has finished."""
        if not self.finished:
            return ""
        order = sorted(self.finished, key=lambda car: self.finished[car])
        winner = self._entrants[order[0]].name
        if len(self._entrants) == 1:
            return f"{self.finished[order[0]] / TICKS_PER_SECOND:.2f} s"
        if len(order) == 1:
            others = [entrant.name for car, entrant in enumerate(self._entrants) if car not in self.finished]
            is_plural = len(others) > 1 or others == [PersonEntrant.name]
            return f"{winner} won\n{', '.join(others)} still {'drive' if is_plural else 'drives'}"
        lead = (self.finished[order[1]] - self.finished[order[0]]) / TICKS_PER_SECOND
        second = self._entrants[order[1]].name
        return f"a tie\n{winner} and {second}" if lead == 0 else f"{winner} won by {lead:.2f} s\nbefore {second}"

    def _see(self, car: int, action: Action) -> None:
        """Take down what a tick has made of a car."""
        state, observation = self._simulator.cars[car], self._simulator.observations[car]
        view = self.cars[car]
        view.see(state, observation, self.track.physics)
        self._progress[car].see(self._arc_length_of(car))
        if self.laps is not None and car not in self.finished and len(view.stopwatch.laps) >= self.laps:
            self.finished[car] = self.tick
        if self._best_drives is not None and isinstance(self._entrants[car], PersonEntrant):
            self._best_drives.see(action, int(state["lap"]), bool(self._simulator.infos["wallContact"][car]))

    def _place(self, car: int) -> None:
        self._begin(car, self._entrants[car].start_on(self.track))
        self.cars[car].begin(self._simulator.cars[car], self._simulator.observations[car], self.track.physics)
        self._progress[car] = Progress(self.track.length, self._arc_length_of(car))

    def _begin(self, car: int, start: Start) -> None:
        self._began[car] = self.tick
        self._simulator.place([car], [start])
        if self._best_drives is not None and isinstance(self._entrants[car], PersonEntrant):
            self._best_drives.begin(self.track, start)

    def _arc_length_of(self, car: int) -> float:
        return float(self._simulator.observations[car, OBSERVED_ARC_LENGTH]) * self.track.length
