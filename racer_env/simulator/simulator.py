"""The embedded simulator: the game's engine for many cars, on one or more tracks, in one call."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.config import AiConfig
from racer_env.contract import ACTION_SIZE, INFO_DTYPE, OBSERVATION_SIZE, check_finite, shaped_actions
from racer_env.errors import ConfigError
from racer_env.fdlibm import sin_cos
from racer_env.physics import Physics
from racer_env.simulator.compile_cache import entry_point
from racer_env.simulator.kernels import CAR_DTYPE, NOT_FINITE, RULES_DTYPE, place_cars, step_cars
from racer_env.simulator.table_kernels import VIEW_DISTANCE
from racer_env.simulator.tables import CONTACT_REACH, Tables, build_all_tables
from racer_env.tracks import Track
from racer_env.tracks.starts import Start, check_start, standing_start

_BOUND = ("_tables", "_actions", "_placing", "_stepping", "_step_cars")  # what a copy or another process makes anew


class Simulator:
    """N cars, each alone on its track; car i drives on track i modulo the number of tracks.

    Every step writes into the same array objects.

    Attributes:
        tracks: The tracks that the cars drive on.
        cars: (N,) CAR_DTYPE, the state of each car.
        observations: (N, 14) float64, values in [0, 1] or [-1, 1].
        infos: (N,) INFO_DTYPE, infos of the last step.
        rewards: (N,) float64, rewards of the last step.
        terminated, truncated: (N,) bool, whether an episode ended in the last step, and how.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        num_cars: int = 1,
        config: AiConfig | None = None,
        progress_scale: Sequence[float] | None = None,
    ) -> None:
        """Build the tables and put every car at the standing start.

        Args:
            tracks: At least one track; all have the same physics.
            num_cars: N, the number of cars, at least 1.
            config: Reward weights and episode limits; None is their defaults.
            progress_scale: A factor per track on the weight of progress.
        """
        self._config = AiConfig() if config is None else config
        self.tracks = list(tracks)
        _check_reach(self.tracks[0].physics)
        self._scale = np.ones(len(self.tracks)) if progress_scale is None else np.asarray(progress_scale)
        self.cars: npt.NDArray[np.void] = np.zeros(num_cars, CAR_DTYPE)
        self.car_tracks = [index % len(self.tracks) for index in range(num_cars)]
        self.observations = np.zeros((num_cars, OBSERVATION_SIZE))
        self.infos: npt.NDArray[np.void] = np.zeros(num_cars, INFO_DTYPE)
        self.rewards = np.zeros(num_cars)
        self.terminated = np.zeros(num_cars, np.bool_)
        self.truncated = np.zeros(num_cars, np.bool_)
        self._bind()
        self.place(range(num_cars), [standing_start(self.track_of(index).geometry) for index in range(num_cars)])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _BOUND}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._bind()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Simulator":
        twin = memo[id(self)] = object.__new__(type(self))
        vars(twin).update(copy.deepcopy(self.__getstate__(), memo))
        twin._bind(self._tables)  # nothing changes the tables, and building them takes 50 ms a track
        return twin

    def only(self, cars: npt.NDArray[np.int64]) -> "Simulator":
        """Return a simulator that goes on with some of the cars, in this order; this one stays as it is."""
        twin = object.__new__(type(self))
        vars(twin).update(self.__getstate__())
        twin.car_tracks = [self.car_tracks[car] for car in cars.tolist()]
        for name in ("cars", "observations", "infos", "rewards", "terminated", "truncated"):
            setattr(twin, name, getattr(self, name)[cars])
        twin._bind(self._tables)
        return twin

    def track_of(self, index: int) -> Track:
        """Return the track that a car drives on."""
        return self.tracks[self.car_tracks[index]]

    def place(self, indices: Sequence[int], starts: Sequence[Start]) -> None:
        """Begin an episode for some cars and update their observations; the others stay as they are.

        Raises:
            ConfigError: A start is no state that a car can have; nothing has changed then.
        """
        for index, start in zip(indices, starts, strict=True):
            check_start(start, self.track_of(index))
        for index, start in zip(indices, starts, strict=True):
            car = self.cars[index]
            car["track"] = self.car_tracks[index]
            for name in ("vx", "vy", "yaw_rate", "steer", "throttle", "brake"):
                car[name] = 0.0
            for name in ("tick", "step_count", "stillness_counter"):
                car[name] = 0
            for name in ("x", "y", "heading", "speed", "checkpoint", "lap"):
                car[name] = getattr(start, name)
            if start.speed:
                sin, cos = sin_cos(start.heading)
                car["vx"], car["vy"] = start.speed * cos, start.speed * sin
        place_cars(*self._placing, np.asarray(indices, np.int64), self.observations)

    def step(self, actions: npt.NDArray[np.floating]) -> int:
        """Advance every car by one tick and write the attributes.

        Args:
            actions: (N, 3) steer, throttle, brake; clamped to [-1, 1], [0, 1], [0, 1].

        Returns:
            How many cars' episodes ended.

        Raises:
            ActionError: The shape is wrong, or a number is not finite; then nothing has moved.
        """
        self._actions[...] = shaped_actions(actions, len(self.cars))
        finished: int = self._step_cars(*self._stepping)
        if finished == NOT_FINITE:
            check_finite(self._actions)
        return finished

    def _bind(self, tables: Tables | None = None) -> None:
        """Build the tables, unless they are there, and prepare the kernels' arguments; see _BOUND."""
        if tables is None:
            tables = build_all_tables([track.geometry for track in self.tracks])
            tables.tracks["progress_weight"] = self._config.weights.progress * self._scale
        self._tables, self._actions = tables, np.zeros((len(self.cars), ACTION_SIZE))
        physics = self.tracks[0].physics.record
        self._placing = (tables, physics, self.cars)
        self._stepping = (
            *(tables, physics, _rules(self._config), self.cars, self._actions, self.observations, self.infos),
            *(self.rewards, self.terminated, self.truncated),
        )
        self._step_cars = entry_point(step_cars, self._stepping)


def _check_reach(physics: Physics) -> None:
    """Refuse physics whose rays or contacts reach farther than the tables cover."""
    contact = physics.width / 2 + physics.contact_padding
    if physics.ray_max_distance > VIEW_DISTANCE or contact > CONTACT_REACH:
        raise ConfigError(
            f"physics.json asks for rays of {physics.ray_max_distance:g} and contacts within {contact:g} units; the "
            f"simulator's tables reach {VIEW_DISTANCE:g} and {CONTACT_REACH:g}"
        )


def _rules(config: AiConfig) -> npt.NDArray[np.void]:
    rules: npt.NDArray[np.void] = np.zeros(1, RULES_DTYPE)
    for name in RULES_DTYPE.names or ():
        part = config.episode if hasattr(config.episode, name) else config.weights
        rules[name] = getattr(part, name)
    return rules
