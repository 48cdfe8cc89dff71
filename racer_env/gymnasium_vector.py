"""Many cars as one vector environment of Gymnasium: ``gymnasium.make_vec("TopDownRacer-v0", num_envs=64)``."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from racer_env.action_repeat import Decision
from racer_env.contract import STEP_INFO_KEYS, TICKS_PER_SECOND
from racer_env.errors import ConfigError
from racer_env.fleet import Fleet
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import HUMAN, RENDER_MODES, make_action_space, make_observation_space
from racer_env.specs import Documented
from racer_env.tracks import AnyTrack

MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)


class RacerVectorEnv(Documented, VectorEnv[npt.NDArray[np.float32], npt.NDArray[np.floating], npt.NDArray[Any]]):
    """N cars on one or more tracks, stepped in one call; each is a ``RacerEnv``, as Gymnasium vectorizes one.

    Car i drives on track i modulo the number of tracks. ``info`` holds an array for each key, and under ``_key``
    which cars have it.

    A finished car begins its next episode by itself, as ``metadata["autoreset_mode"]`` says:

    * ``NEXT_STEP``, Gymnasium's default, with which all of its wrappers work: in the next step. That step ignores the
      car's action, pays 0, and returns the new episode's first observation and the info of a reset.
    * ``SAME_STEP``: at once. The observation and info are the new episode's; the old one's last are in
      ``info["final_obs"]`` and ``info["final_info"]``.

    ``reset(options=...)`` takes ``start``, as in ``RacerEnv``, for all cars.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium has it so)
        "render_modes": list(RENDER_MODES),
        "render_fps": TICKS_PER_SECOND,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    closed = True  # until there is something to close

    def __init__(
        self, num_envs: int | None = None, *, autoreset_mode: AutoresetMode | str = MODES[0], **arguments: Any
    ) -> None:
        """Make the environment.

        Args:
            num_envs: N, the number of cars, at least one per track; None is one per track.
            autoreset_mode: When a finished car begins its next episode, see the class. Over a bridge, ``NEXT_STEP``
                takes a connection for each car, and ``SAME_STEP`` is faster.
            arguments: All others are those of ``racer_env.vec_env.RacerVecEnv``.

        Raises:
            BridgeError: A bridge cannot be reached, or the peer is not a bridge.
            ConfigError: An argument is out of range, or asks for something that a bridge cannot do.
            TrackError: A track does not exist or is wrong.
        """
        mode = _checked_mode(autoreset_mode)
        self._begins_late = mode is AutoresetMode.NEXT_STEP
        self._fleet = Fleet(num_envs=num_envs, begins_late=self._begins_late, **arguments)
        self.closed = False
        self.metadata = {**type(self).metadata, "autoreset_mode": mode, "render_fps": self._fleet.fps}
        self.render_mode = arguments.get("render_mode")
        self.num_envs = len(self._fleet.cars)
        self.single_action_space, self.single_observation_space = make_action_space(), make_observation_space()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    @property
    def simulator(self) -> Simulator:
        """The embedded simulator, for callers who need float64 states.

        Raises:
            ConfigError: The game is behind a bridge.
        """
        return self._fleet.simulator

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin an episode for every car.

        Args:
            seed: Seed of the cars' starts, which have nothing in common with those of other seeds; a seed for each
                car, with which it starts as ``RacerEnv`` does; or None, which goes on with the generators.
            options: ``start``, as in ``RacerEnv``.

        Returns:
            Observations (N, 14) float32 and infos.
        """
        seeds: list[int | None]
        if not isinstance(seed, Sequence | np.ndarray):
            seeds = [*self._fleet.seeds(seed)] if seed is not None else [None] * self.num_envs
            super().reset(seed=seed)
        else:
            seeds = list(seed)
            if len(seeds) != self.num_envs:
                raise ConfigError(f"a seed for each car would be {self.num_envs} seeds, got {len(seeds)}")
        observations = self._fleet.begin(seeds, [{} if options is None else options] * self.num_envs)
        self._show()
        infos: dict[str, Any] = {}
        for car, info in enumerate(self._fleet.engine.reset_infos):
            infos = self._add_info(infos, info, car)
        return observations, infos

    def step(
        self, actions: npt.NDArray[np.floating]
    ) -> tuple[
        npt.NDArray[np.float32],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Advance every car by one step of ``action_repeat`` ticks.

        Args:
            actions: (N, 3) steer, throttle, brake; clamped to [-1, 1], [0, 1], [0, 1].

        Returns:
            Observations (N, 14) float32, rewards (N,) float64, terminations and truncations (N,) bool, infos.
        """
        decision = self._fleet.step(actions)
        self._show()
        return (
            decision.observations.astype(np.float32),
            decision.rewards.copy(),
            decision.terminated.copy(),
            decision.truncated.copy(),
            self._infos(decision),
        )

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """Return a picture (height, width, 3) of each car; None if a window shows them all.

        Raises:
            ClosedError: The environment is closed.
            ConfigError: The environment was made without a render mode.
        """
        scene = self._fleet.drawn()
        return None if self.render_mode == HUMAN else tuple(scene.render_each())

    def close_extras(self, **kwargs: Any) -> None:
        """Close the cars' engine; ``close`` calls it once."""
        self._fleet.close()

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every car, or return an attribute, see ``racer_env.car.Car``."""
        found = [getattr(car, name) for car in self._fleet.cars]
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every car, see ``racer_env.car.Car``."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every car: a list or tuple has a value for each, anything else is for all."""
        each = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise ConfigError(f"a value of {name} for each car would be {self.num_envs} values, got {len(each)}")
        for car, value in zip(self._fleet.cars, each, strict=True):
            setattr(car, name, value)

    def _named_tracks(self) -> list[str | AnyTrack]:
        return self._fleet.names

    def _show(self) -> None:
        if self.render_mode == HUMAN:
            self._fleet.drawn().show()

    def _infos(self, decision: Decision) -> dict[str, Any]:
        """Return the infos of a step: those of a reset for cars that have begun an episode in it."""
        finished = list(decision.terminal_observations)
        begun = decision.begun if self._begins_late else finished
        infos = _columns(decision, without=begun)
        if finished and not self._begins_late:
            infos["final_info"] = _columns(decision, without=np.flatnonzero(~self._mask(finished)))
            infos["_final_info"], infos["_final_obs"] = self._mask(finished), self._mask(finished)
            infos["final_obs"] = np.full(self.num_envs, None, object)
            for car, observation in decision.terminal_observations.items():
                infos["final_obs"][car] = observation.astype(np.float32)
        for car in begun:
            infos = self._add_info(infos, self._fleet.engine.reset_infos[car], car)
        return infos

    def _mask(self, cars: Iterable[int]) -> npt.NDArray[np.bool_]:
        mask = np.zeros(self.num_envs, np.bool_)
        mask[list(cars)] = True
        return mask


def _columns(decision: Decision, without: Iterable[int]) -> dict[str, Any]:
    """Return the infos of a step as arrays with their masks, but not those of some cars."""
    records, count, missing = decision.infos, len(decision.rewards), list(without)
    columns: dict[str, Any] = {}
    for name in STEP_INFO_KEYS:
        columns[name] = records[name].copy()
        columns[f"_{name}"] = np.ones(count, np.bool_)
    if decision.crossings:
        columns["lapStepCount"], columns["_lapStepCount"] = np.zeros(count, np.int64), np.zeros(count, np.bool_)
        for car, step_count in decision.crossings.items():
            columns["lapStepCount"][car], columns["_lapStepCount"][car] = step_count, True
    if missing:
        for column in columns.values():
            column[missing] = 0
    return columns


def _checked_mode(mode: AutoresetMode | str) -> AutoresetMode:
    names = [allowed.value for allowed in MODES]
    value = mode.value if isinstance(mode, AutoresetMode) else mode
    if value not in names:
        raise ConfigError(f"autoreset_mode must be {' or '.join(map(repr, names))}, got {value!r}")
    return AutoresetMode(value)
