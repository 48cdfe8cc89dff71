"""Many cars as one stable-baselines3 vector environment, stepped in one call."""

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from racer_env.config import AiConfig
from racer_env.env import RANDOM, STANDING, make_start
from racer_env.errors import ClosedError, ConfigError
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import make_action_space, make_observation_space, reset_info, step_infos
from racer_env.tracks import Track


class Car:
    """One car of a RacerVecEnv: what ``get_attr`` and ``env_method`` reach.

    Attributes:
        index: Its place in the vector.
        track_id: The track that it drives on.
        action_space, observation_space: As of ``RacerEnv``.
        render_mode: None.
        start: Where its episodes start: ``"standing"``, ``"random"``, a dictionary as in ``RacerEnv``, or None for
            the vector environment's mixture; may be set.
    """

    def __init__(self, index: int, track: Track) -> None:
        self.index = index
        self.track = track
        self.track_id = track.id
        self.action_space = make_action_space()
        self.observation_space = make_observation_space()
        self.render_mode: str | None = None
        self.start: Any = None

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute, as a Gymnasium environment does."""
        return getattr(self, name)


class RacerVecEnv(VecEnv):
    """N cars on one or more tracks, with the observation, action, reward and info of ``RacerEnv``.

    Car i drives on track i modulo the number of tracks. A finished car is reset within the step: its info then
    carries ``terminal_observation`` and ``TimeLimit.truncated``, and the observation is the new episode's.

    A seed s gives car i the seed s + i, so that car i of N draws what a single car of that seed would.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        num_envs: int,
        config: AiConfig | None = None,
        *,
        random_start_share: float = 0.0,
        equal_road_value: bool = False,
    ) -> None:
        """Make the environment.

        Args:
            tracks: At least one.
            num_envs: N; at least one car per track.
            config: Reward weights and episode limits; None is their defaults.
            random_start_share: Share of the episodes that start anywhere, on the move; the others start at rest
                on the line.
            equal_road_value: Scale each track's weight of progress by its length over the mean length, so that a
                unit of road earns the same on all of them.

        Raises:
            ConfigError: An argument is out of range.
        """
        if not tracks:
            raise ConfigError("at least one track is needed, got none")
        if num_envs < len(tracks):
            raise ConfigError(f"num_envs must be at least the number of tracks, {len(tracks)}; got {num_envs}")
        if not 0.0 <= random_start_share <= 1.0:
            raise ConfigError(f"random_start_share must be within [0, 1], got {random_start_share}")
        lengths = np.array([track.length for track in tracks])
        scale = lengths / lengths.mean() if equal_road_value else None
        self.simulator = Simulator(tracks, num_envs, config, scale)
        self.random_start_share = random_start_share
        self.cars = [Car(index, self.simulator.track_of(index)) for index in range(num_envs)]
        self._random = [np.random.default_rng() for _ in range(num_envs)]
        self._actions: npt.NDArray[np.floating] | None = None
        self._is_reset = False
        self._is_closed = False
        super().__init__(num_envs, make_observation_space(), make_action_space())

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car; seeds and options set before are used once.

        Returns:
            Observations (N, 14) float32.
        """
        self._check_open()
        for options in self._options:
            if set(options) - {"start"}:
                raise ConfigError(f"unknown reset option {min(set(options) - {'start'})!r}; allowed: start")
        for index, seed in enumerate(self._seeds):
            if seed is not None:
                self._random[index] = np.random.default_rng(seed)
        starts = [self._options[index].get("start") for index in range(self.num_envs)]
        self._begin_episodes(range(self.num_envs), starts)
        self.reset_infos = [reset_info(car) for car in self.simulator.cars]
        self._reset_seeds()
        self._reset_options()
        self._is_reset = True
        return self.simulator.observations.astype(np.float32)

    def step_async(self, actions: npt.NDArray[np.floating]) -> None:
        """Take the actions (N, 3) of the next step; the simulator checks them in ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Advance every car by one tick.

        Returns:
            Observations (N, 14) float32, rewards (N,) float32, dones (N,) bool, infos.
        """
        self._check_open()
        if not self._is_reset:
            raise ClosedError("step() before reset()")
        assert self._actions is not None, "step_wait() without step_async()"
        simulator = self.simulator
        simulator.step(self._actions)
        self._actions = None
        infos = step_infos(simulator.infos)
        dones = simulator.terminated | simulator.truncated
        if dones.any():
            self._end_episodes(np.flatnonzero(dones).tolist(), infos)
        return simulator.observations.astype(np.float32), simulator.rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """End it; twice is fine."""
        self._is_closed = True

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the cars, see ``Car``."""
        return [getattr(self.cars[index], attr_name) for index in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the cars, see ``Car``; setting ``track`` and the like has no effect on the engine."""
        for index in self._get_indices(indices):
            setattr(self.cars[index], attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the cars, see ``Car``."""
        return [
            getattr(self.cars[index], method_name)(*method_args, **method_kwargs)
            for index in self._get_indices(indices)
        ]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Return False for every car: there are no wrappers inside."""
        return [False for _ in self._get_indices(indices)]

    def _end_episodes(self, indices: list[int], infos: list[dict[str, Any]]) -> None:
        simulator = self.simulator
        for index in indices:
            infos[index]["terminal_observation"] = simulator.observations[index].astype(np.float32)
            infos[index]["TimeLimit.truncated"] = bool(simulator.truncated[index] and not simulator.terminated[index])
        self._begin_episodes(indices, [None] * len(indices))
        for index in indices:
            self.reset_infos[index] = reset_info(simulator.cars[index])

    def _begin_episodes(self, indices: Iterable[int], starts: Sequence[Any]) -> None:
        chosen = []
        for index, start in zip(indices, starts, strict=True):
            random = self._random[index]
            start = start if start is not None else self.cars[index].start
            if start is None:
                start = RANDOM if random.random() < self.random_start_share else STANDING
            chosen.append(make_start(self.cars[index].track, start, random))
        self.simulator.place(list(indices), chosen)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedError("the environment is closed; make a new one")
