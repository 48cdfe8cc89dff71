"""The embedded simulator as the single car of an environment."""

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.config import AiConfig
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import reset_info, step_info
from racer_env.tracks import AnyTrack, Track, known_track, load_track
from racer_env.tracks.starts import make_placement, start_for

MAX_TRACKS_KEPT = 16  # a track's tables take about a tenth of a megabyte, and milliseconds to build


class SimulatorCar:
    """One car, on any track.

    Attributes:
        simulator: The simulator that drives it.
    """

    def __init__(self, track: Track, tracks_dir: str | Path | None, config: AiConfig) -> None:
        """Put the car on the start line."""
        self._tracks_dir = tracks_dir
        self._config = config
        self._simulators: OrderedDict[tuple[str, str], Simulator] = OrderedDict()  # the one used last at the end
        self.simulator = self._simulator_for(track)

    @property
    def track(self) -> Track:
        """The track of the running episode."""
        return self.simulator.tracks[0]

    def begin(
        self, track_id: str | AnyTrack | None, start: str | Mapping[str, float], random: np.random.Generator
    ) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
        """Begin an episode; see ``RacerEnv.reset``."""
        simulator = self.simulator if track_id is None else self._simulator_for(track_id)
        track = simulator.tracks[0]
        simulator.place([0], [start_for(track.geometry, make_placement(track, start, random))])
        self.simulator = simulator
        return simulator.observations[0], reset_info(simulator.cars[0])

    def step(
        self, action: npt.NDArray[np.floating]
    ) -> tuple[npt.NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Advance by one tick; see ``RacerEnv.step``."""
        simulator = self.simulator
        simulator.step(action[np.newaxis])
        return (
            simulator.observations[0],
            simulator.rewards.item(),
            simulator.terminated.item(),
            simulator.truncated.item(),
            step_info(simulator.infos),
        )

    def close(self) -> None:
        """Do nothing: the simulator holds no resources."""

    def _simulator_for(self, track_id: str | AnyTrack) -> Simulator:
        key = (track_id.id, track_id.fingerprint) if isinstance(track_id, Track) else (str(track_id), "")
        if key in self._simulators:
            self._simulators.move_to_end(key)
        else:
            track = known_track(track_id) if not isinstance(track_id, str) else load_track(track_id, self._tracks_dir)
            self._simulators[key] = Simulator([track], 1, self._config)
            if len(self._simulators) > MAX_TRACKS_KEPT:
                self._simulators.popitem(last=False)
        return self._simulators[key]
