"""The embedded simulator as an engine for a vector environment."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.config import AiConfig
from racer_env.engine import NextStart
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import reset_info
from racer_env.tracks import Track
from racer_env.tracks.starts import start_for


class SimulatorEngine:
    """N cars stepped in one call; see ``Engine`` for the attributes.

    Attributes:
        simulator: The simulator that drives them.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        num_cars: int,
        config: AiConfig | None,
        next_start: NextStart,
        progress_scale: Sequence[float] | None = None,
        begins_late: bool = False,
    ) -> None:
        """Put every car on the start line; the arguments are those of ``Simulator`` and ``Engine``."""
        self._take(Simulator(tracks, num_cars, config, progress_scale), next_start, begins_late)

    def _take(self, simulator: Simulator, next_start: NextStart, begins_late: bool) -> None:
        self.begins_late = begins_late
        self.simulator = simulator
        self.observations = simulator.observations
        self.rewards = simulator.rewards
        self.terminated = simulator.terminated
        self.truncated = simulator.truncated
        self.infos = simulator.infos
        self.terminal_observations: dict[int, npt.NDArray[np.float64]] = {}
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(len(simulator.cars))]
        self._next_start = next_start

    def only(self, cars: npt.NDArray[np.int64]) -> "SimulatorEngine":
        """Return an engine that goes on with some of the cars, in this order; this one stays as it is."""
        own, twin = cars.tolist(), object.__new__(type(self))
        twin._take(self.simulator.only(cars), lambda car: self._next_start(own[car]), self.begins_late)
        twin.reset_infos = [self.reset_infos[car] for car in own]
        return twin

    def begin(self) -> None:
        """Begin an episode for every car."""
        self.terminal_observations = {}
        self.begin_cars(range(len(self.reset_infos)))

    def begin_cars(self, cars: Sequence[int]) -> None:
        """Begin an episode for some cars."""
        simulator = self.simulator
        simulator.place(cars, [start_for(simulator.track_of(car).geometry, self._next_start(car)) for car in cars])
        for car in cars:
            self.reset_infos[car] = reset_info(simulator.cars[car])

    def step(self, actions: npt.NDArray[np.floating]) -> None:
        """Advance every car by one tick; finished cars begin anew, unless they begin late."""
        is_any_finished = self.simulator.step(actions) > 0
        finished = np.flatnonzero(self.terminated | self.truncated).tolist() if is_any_finished else []
        self.terminal_observations = {car: self.observations[car].copy() for car in finished}
        if finished and not self.begins_late:
            self.begin_cars(finished)

    def close(self) -> None:
        """Do nothing: the simulator holds no resources."""
