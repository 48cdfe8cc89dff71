"""Many cars as one stable-baselines3 vector environment, stepped in one call."""

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from racer_env.action_repeat import ActionRepeat, Decision
from racer_env.bridge.bridge import Bridge, TrackId, bridge_at, several, tracks_on
from racer_env.bridge.engine import BridgeEngine
from racer_env.config import AiConfig, resolve_config
from racer_env.contract import MAX_ACTION_REPEAT, TICKS_PER_SECOND, Placement
from racer_env.engine import Engine, NextStart
from racer_env.errors import ClosedError, ConfigError
from racer_env.simulator.engine import SimulatorEngine
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import (
    HUMAN,
    RGB_ARRAY,
    check_render_mode,
    make_action_space,
    make_observation_space,
    step_infos,
)
from racer_env.tracks import AnyTrack, Track
from racer_env.tracks.starts import RANDOM, STANDING, make_placement

if TYPE_CHECKING:
    from racer_env.rendering.scene import Scene, View


class Car:
    """One car of a RacerVecEnv: the target of ``get_attr`` and ``env_method``.

    Attributes:
        index: Index of the car in the vector environment.
        track_id: Id of the track that it drives on.
        action_space, observation_space: The spaces, as in ``RacerEnv``.
        render_mode: Render mode of the vector environment.
        start: Where its episodes start: ``"standing"``, ``"random"``, a dictionary as in ``RacerEnv``, or None for
            the vector environment's mixture; may be set. Over a bridge with many cars on a connection, the next start
            is chosen one episode ahead, so a new value takes effect in the episode after the next.
    """

    def __init__(self, index: int, track: AnyTrack, render_mode: str | None = None) -> None:
        self.index = index
        self.track = track
        self.track_id = track.id
        self.action_space = make_action_space()
        self.observation_space = make_observation_space()
        self.render_mode = render_mode
        self.start: Any = None

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute, as a Gymnasium environment does."""
        return getattr(self, name)


class RacerVecEnv(VecEnv):
    """N cars on one or more tracks, with the observation, action, reward and info of ``RacerEnv``.

    Car i drives on track i modulo the number of tracks. A finished car is reset within the step: its info then
    carries ``terminal_observation`` and ``TimeLimit.truncated``, and the observation is the new episode's.

    With ``action_repeat`` k, a step is k ticks under one action. Reward and components are then sums, ``wallContact``
    says whether there was contact on any tick, and everything else is taken from the last tick; if ``lap`` changed,
    ``lapStepCount`` is the ``stepCount`` of the tick on which it did. An episode that ends on an earlier tick ends the
    step for its car, which coasts through the remaining ticks in its new episode.

    A car draws its starts independently of the others, and car i of a seed draws the same however many there are;
    over a bridge with many cars on a connection, this holds until the environment is reset a second time without a
    seed. A bridge of version 1 of the protocol has a connection per car, and only standing starts.
    """

    def __init__(
        self,
        track_id: TrackId | Iterable[TrackId] = "track-01",
        num_envs: int | None = None,
        config: AiConfig | dict[str, Any] | None = None,
        *,
        bridge_url: str | Sequence[str] | Bridge | None = None,
        config_path: str | Path | None = None,
        render_mode: str | None = None,
        tracks_dir: str | Path | None = None,
        view: "View | None" = None,
        random_start_share: float = 0.0,
        standing_share: float = 0.0,
        equal_road_value: bool = False,
        action_repeat: int = 1,
    ) -> None:
        """Make the environment. Arguments that ``RacerEnv`` has too mean the same and have the same default.

        Args:
            track_id: One or more tracks, as in ``RacerEnv``; car i drives on track i modulo their number.
            num_envs: N, the number of cars, at least one per track; None is one per track.
            config: An ``AiConfig``, or a dict with the content of such a file, instead of ``config_path``.
            bridge_url: URL of the game's bridge, as in ``RacerEnv``; several URLs share the cars.
            config_path: Reward weights and episode limits; None is the project's ``ai-config.json``.
            render_mode: None, ``"rgb_array"`` or ``"human"``, as in ``RacerEnv``; ``"human"`` shows what is rendered.
            tracks_dir: Folder of the user's own track files.
            view: How the cars are drawn, all in one picture; None is ``racer_env.rendering.scene.View()``.
            random_start_share: Share of episodes that start anywhere, on the move; the others start on the line.
            standing_share: Share of random starts that are at rest.
            equal_road_value: Scale progress by each track's length, so that a unit of road earns the same on all.
            action_repeat: Ticks that each action is held, see the class.

        Raises:
            BridgeError: A bridge cannot be reached, or the peer is not a bridge.
            ConfigError: An argument is out of range, or asks for something that a bridge cannot do.
            TrackError: A track does not exist or is wrong.
        """
        _check_arguments(random_start_share, standing_share, action_repeat, render_mode)
        self.random_start_share = random_start_share
        self.standing_share = standing_share
        self.action_repeat = action_repeat
        self._actions: npt.NDArray[np.floating] | None = None
        self._is_reset = self._is_closed = False
        self._scene: Scene | None = None
        ai_config = resolve_config(config, config_path)
        with contextlib.ExitStack() as stack:
            named = several(track_id)
            self._bridge = bridge_at(stack, bridge_url, named, tracks_dir)
            tracks = tracks_on(self._bridge, named, tracks_dir)
            self.cars = _make_cars(tracks, num_envs, render_mode)
            self._starts: list[Any] = [None for _ in self.cars]  # start options of the reset in progress
            self._random = [np.random.default_rng() for _ in self.cars]
            game = (tracks, ai_config, equal_road_value)
            draws = render_mode is not None
            self._engine = self._make_drawn_engine(*game, view) if draws else self._make_engine(*game, self._next_start)
            stack.callback(self._engine.close)
            self._repeat = ActionRepeat(self._engine, action_repeat) if action_repeat > 1 else None
            self._resources = stack.pop_all()
        super().__init__(len(self.cars), make_observation_space(), make_action_space())
        self.metadata: dict[str, Any] = {**self.metadata, "render_fps": self._fps}

    @property
    def simulator(self) -> Simulator:
        """The embedded simulator, for callers who need float64 states.

        Raises:
            ConfigError: The game is behind a bridge.
        """
        engine = self._engine if self._scene is None else self._engine.engine  # type: ignore[attr-defined]
        if not isinstance(engine, SimulatorEngine):
            raise ConfigError("this environment drives over a bridge and has no simulator; make one without bridge_url")
        return engine.simulator

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the cars' starts from the next reset on; those of other seeds have nothing in common with them.

        Args:
            seed: Whole number from 0; None draws one.

        Returns:
            Seed of each car.
        """
        drawn = np.random.SeedSequence(seed).generate_state(self.num_envs, np.uint64)
        self._seeds = [int(value) for value in drawn]
        return self._seeds

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car; seeds and options set beforehand are used once.

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
        self._starts = [options.get("start") for options in self._options]
        (self._repeat or self._engine).begin()
        self.reset_infos = list(self._engine.reset_infos)
        self._reset_seeds()
        self._reset_options()
        self._is_reset = True
        return self._engine.observations.astype(np.float32)

    def step_async(self, actions: npt.NDArray[np.floating]) -> None:
        """Take the actions (N, 3) of the next step; the engine checks them in ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Advance every car by one step of ``action_repeat`` ticks.

        Returns:
            Observations (N, 14) float32, rewards (N,) float32, dones (N,) bool, infos.
        """
        self._check_open()
        if not self._is_reset:
            raise ClosedError("step() before reset()")
        assert self._actions is not None, "step_wait() without step_async()"
        engine, repeat = self._engine, self._repeat
        if repeat is None:
            engine.step(self._actions)
            driven: Engine | Decision = engine
        else:
            driven = repeat.step(self._actions)
        self._actions = None
        infos = step_infos(driven.infos)
        if isinstance(driven, Decision):
            for car, step_count in driven.crossings.items():
                infos[car]["lapStepCount"] = step_count
        for car, observation in driven.terminal_observations.items():
            infos[car]["terminal_observation"] = observation.astype(np.float32)
            infos[car]["TimeLimit.truncated"] = bool(driven.truncated[car] and not driven.terminated[car])
            self.reset_infos[car] = engine.reset_infos[car]
        return (
            engine.observations.astype(np.float32),
            driven.rewards.astype(np.float32),
            driven.terminated | driven.truncated,
            infos,
        )

    def render(self, mode: str | None = None) -> npt.NDArray[np.uint8] | None:
        """Return a picture (height, width, 3) of all cars, several tracks side by side; or show it in a window.

        Args:
            mode: ``"human"`` or ``"rgb_array"``, instead of the environment's own render mode.

        Raises:
            ClosedError: The environment is closed.
            ConfigError: The environment was made without a render mode.
            RenderError: There is no display to show it on.
        """
        self._check_open()
        if self._scene is None:
            raise ConfigError("render() without a render_mode; make the environment with render_mode='rgb_array'")
        if (mode or self.render_mode) == HUMAN:
            self._scene.show()
            return None
        return self._scene.render()

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return the picture of all cars as a list of one."""
        return [self.render(RGB_ARRAY)]

    def close(self) -> None:
        """Close the environment; safe to call twice."""
        self._is_closed = True
        self._resources.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the cars, see ``Car``."""
        return [getattr(self.cars[index], attr_name) for index in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the cars, see ``Car``; ``track`` and the like have no effect on the engine."""
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
        """Return False for every car, as the cars have no wrappers."""
        return [False for _ in self._get_indices(indices)]

    @property
    def _fps(self) -> float:
        """Pictures in a second of the game: one a step."""
        return TICKS_PER_SECOND / self.action_repeat

    def _make_drawn_engine(
        self, tracks: Sequence[AnyTrack], config: AiConfig, equal_road_value: bool, view: "View | None"
    ) -> Engine:
        from racer_env.rendering import drawn_engine  # pygame takes 0.2 s to load

        starts = drawn_engine.NotedStarts(self._next_start)
        engine = self._make_engine(tracks, config, equal_road_value, starts)
        self._scene = drawn_engine.make_scene(tracks, len(self.cars), view, self._fps)
        shadow = drawn_engine.make_shadow(tracks, len(self.cars)) if self._bridge is not None else None
        return drawn_engine.DrawnEngine(engine, self._scene, starts, shadow)

    def _make_engine(
        self, tracks: Sequence[AnyTrack], config: AiConfig, equal_road_value: bool, next_start: NextStart
    ) -> Engine:
        scale = _lengths_over_mean(tracks) if equal_road_value else None
        bridge, count = self._bridge, len(self.cars)
        if bridge is None:
            known = [track for track in tracks if isinstance(track, Track)]
            return SimulatorEngine(known, count, config, next_start, scale)
        share = self.random_start_share
        if share and not bridge.has_extensions:
            raise ConfigError(f"random_start_share must be 0 over a bridge of version 1 of the protocol, got {share}")
        return BridgeEngine(bridge, tracks, count, config, next_start, scale)

    def _next_start(self, car: int) -> Placement | None:
        """Choose where a car's next episode starts: as the reset says, else as the car says, else at random."""
        start, self._starts[car] = self._starts[car], None
        random, handle = self._random[car], self.cars[car]
        start = start if start is not None else handle.start
        if start is None:
            start = RANDOM if random.random() < self.random_start_share else STANDING
        if self._bridge is not None:
            placement = self._bridge.placement(handle.track, start, random)
        else:
            assert isinstance(handle.track, Track)
            placement = make_placement(handle.track, start, random)
        if placement is not None and start == RANDOM and self.standing_share and random.random() < self.standing_share:
            placement = placement._replace(speed=0.0)
        return placement

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedError("the environment is closed; make a new one")


def _check_arguments(
    random_start_share: float, standing_share: float, action_repeat: int, render_mode: str | None
) -> None:
    for name, share in (("random_start_share", random_start_share), ("standing_share", standing_share)):
        if not 0.0 <= share <= 1.0:
            raise ConfigError(f"{name} must be within [0, 1], got {share}")
    if not 1 <= action_repeat <= MAX_ACTION_REPEAT:
        raise ConfigError(f"action_repeat must be within [1, {MAX_ACTION_REPEAT}] ticks, got {action_repeat}")
    check_render_mode(render_mode)


def _make_cars(tracks: Sequence[AnyTrack], num_envs: int | None, render_mode: str | None) -> list[Car]:
    count = len(tracks) if num_envs is None else num_envs
    if count < len(tracks):
        raise ConfigError(f"num_envs must be at least the number of tracks, {len(tracks)}; got {count}")
    return [Car(index, tracks[index % len(tracks)], render_mode) for index in range(count)]


def _lengths_over_mean(tracks: Sequence[AnyTrack]) -> list[float]:
    lengths = [track.length for track in tracks if isinstance(track, Track)]
    if len(lengths) < len(tracks):
        raise ConfigError("equal_road_value needs the tracks' lengths, which a bridge of version 1 does not tell")
    scale: list[float] = (np.array(lengths) / np.mean(lengths)).tolist()
    return scale
