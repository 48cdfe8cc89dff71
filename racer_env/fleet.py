"""The cars behind both vector environments, that of stable-baselines3 and that of Gymnasium."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from racer_env.action_repeat import ActionRepeat, Decision, Decisions, SingleTick
from racer_env.bridge.bridge import Bridge, TrackId, bridge_at, several, tracks_on
from racer_env.bridge.engine import BridgeEngine
from racer_env.car import Car
from racer_env.config import AiConfig, resolve_config
from racer_env.contract import MAX_ACTION_REPEAT, MAX_CARS, TICKS_PER_SECOND, Placement
from racer_env.engine import Engine, NextStart
from racer_env.errors import ClosedError, ConfigError
from racer_env.late_begin import LateBegin
from racer_env.simulator.engine import SimulatorEngine
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import check_render_mode, check_reset_options, check_whole
from racer_env.tracks import AnyTrack, Track
from racer_env.tracks.starts import RANDOM, STANDING, make_placement

if TYPE_CHECKING:
    from racer_env.rendering.scene import Scene, View


class Fleet:
    """N cars on one or more tracks, with their starts and their engine.

    Attributes:
        cars: The cars, in order.
        names: The tracks as they were named, see ``several``.
        scene: What draws them; None without a render mode.
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
        view: "View | dict[str, Any] | None" = None,
        random_start_share: float = 0.0,
        standing_share: float = 0.0,
        equal_road_value: bool = False,
        action_repeat: int = 1,
        begins_late: bool = False,
    ) -> None:
        """Make the cars; arguments and errors are those of ``RacerVecEnv``, and ``begins_late`` that of ``Engine``."""
        if num_envs is not None:
            check_whole("num_envs", num_envs, at_most=MAX_CARS)
        _check_arguments(random_start_share, standing_share, action_repeat, render_mode)
        self.random_start_share = random_start_share
        self.standing_share = standing_share
        self.action_repeat = action_repeat
        self.scene: Scene | None = None
        self._begins_late = begins_late
        self._is_begun = self._is_closed = False
        ai_config = resolve_config(config, config_path)
        with contextlib.ExitStack() as stack:
            self.names = several(track_id)
            self._bridge = bridge_at(stack, bridge_url, self.names, tracks_dir)
            tracks = tracks_on(self._bridge, self.names, tracks_dir)
            self.cars = _make_cars(tracks, num_envs, render_mode)
            self._starts: list[Any] = [None for _ in self.cars]  # start options of the reset in progress
            if render_mode is None:
                self.engine = self._make_engine(tracks, ai_config, equal_road_value, self._next_start)
            else:
                self.engine = self._make_drawn_engine(tracks, ai_config, equal_road_value, view)
            stack.callback(self.engine.close)
            self._resources = stack.pop_all()
        decisions = ActionRepeat(self.engine, action_repeat) if action_repeat > 1 else SingleTick(self.engine)
        self._decisions: Decisions = LateBegin(decisions, len(self.cars)) if begins_late else decisions

    @property
    def fps(self) -> float:
        """Pictures in a second of the game: one a step."""
        return TICKS_PER_SECOND / self.action_repeat

    @property
    def simulator(self) -> Simulator:
        """The embedded simulator.

        Raises:
            ConfigError: The game is behind a bridge.
        """
        engine = self.engine if self.scene is None else self.engine.engine  # type: ignore[attr-defined]
        if not isinstance(engine, SimulatorEngine):
            raise ConfigError("this environment drives over a bridge and has no simulator; make one without bridge_url")
        return engine.simulator

    def seeds(self, seed: int | None) -> list[int]:
        """Return a seed for each car; the cars of other seeds have nothing in common with them.

        Args:
            seed: Whole number from 0; None draws one.

        Raises:
            ConfigError: It is something else.
        """
        if seed is not None:
            check_whole("seed", seed, at_least=0)
        drawn = np.random.SeedSequence(seed).generate_state(len(self.cars), np.uint64)
        return [int(value) for value in drawn]

    def begin(self, seeds: Sequence[int | None], options: Sequence[Mapping[str, Any]]) -> npt.NDArray[np.float32]:
        """Begin an episode for every car.

        Args:
            seeds: Seed of each car's starts; None goes on with its generator.
            options: Options of each car's reset: ``start``.

        Returns:
            Observations (N, 14).

        Raises:
            ClosedError: The environment is closed.
            ConfigError: An option is unknown or wrong, or a seed.
        """
        self._check_open()
        if not isinstance(options, Sequence) or len(options) != len(self.cars):
            raise ConfigError(f"expected options of a reset for each of {len(self.cars)} cars, got {options!r:.60}")
        for given in options:
            check_reset_options(given, "start")
        for seed in seeds:
            if seed is not None:
                check_whole("seed", seed, at_least=0)
        for car, seed in zip(self.cars, seeds, strict=True):
            if seed is not None:
                car.np_random = np.random.default_rng(seed)
        self._starts = [given.get("start") for given in options]
        self._decisions.begin()
        self._is_begun = True
        return self.engine.observations.astype(np.float32)

    def step(self, actions: npt.NDArray[np.floating]) -> Decision:
        """Advance every car by one step of ``action_repeat`` ticks.

        Raises:
            ActionError: The shape is wrong, or a number is not finite; then nothing has moved.
            ClosedError: The environment is closed, or was never reset.
        """
        self._check_open()
        if not self._is_begun:
            raise ClosedError("step() before reset()")
        return self._decisions.step(actions)

    def drawn(self) -> "Scene":
        """Return what draws the cars.

        Raises:
            ClosedError: The environment is closed.
            ConfigError: The environment was made without a render mode.
        """
        self._check_open()
        if self.scene is None:
            raise ConfigError("render() without a render_mode; make the environment with render_mode='rgb_array'")
        return self.scene

    def close(self) -> None:
        """Close engine, scene and bridges; safe to call twice."""
        self._is_closed = True
        self._resources.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_resources"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._resources = contextlib.ExitStack()
        self._resources.callback(self.engine.close)

    def _make_drawn_engine(
        self, tracks: Sequence[AnyTrack], config: AiConfig, equal_road_value: bool, view: "View | dict[str, Any] | None"
    ) -> Engine:
        from racer_env.rendering import drawn_engine  # pygame takes 0.2 s to load

        starts = drawn_engine.NotedStarts(self._next_start)
        engine = self._make_engine(tracks, config, equal_road_value, starts)
        self.scene = drawn_engine.make_scene(tracks, len(self.cars), view, self.fps)
        shadow = drawn_engine.make_shadow(tracks, len(self.cars)) if self._bridge is not None else None
        return drawn_engine.DrawnEngine(engine, self.scene, starts, shadow)

    def _make_engine(
        self, tracks: Sequence[AnyTrack], config: AiConfig, equal_road_value: bool, next_start: NextStart
    ) -> Engine:
        scale = _lengths_over_mean(tracks) if equal_road_value else None
        bridge, count, late = self._bridge, len(self.cars), self._begins_late
        if bridge is None:
            known = [track for track in tracks if isinstance(track, Track)]
            return SimulatorEngine(known, count, config, next_start, scale, late)
        share = self.random_start_share
        if share and not bridge.has_extensions:
            raise ConfigError(f"random_start_share must be 0 over a bridge of version 1 of the protocol, got {share}")
        return BridgeEngine(bridge, tracks, count, config, next_start, scale, begins_late=late)

    def _next_start(self, index: int) -> Placement | None:
        """Choose where a car's next episode starts: as the reset says, else as the car says, else at random."""
        start, self._starts[index] = self._starts[index], None
        car = self.cars[index]
        random = car.np_random
        start = start if start is not None else car.start
        if start is None:
            start = RANDOM if random.random() < self.random_start_share else STANDING
        if self._bridge is not None:
            placement = self._bridge.placement(car.track, start, random)
        else:
            assert isinstance(car.track, Track)
            placement = make_placement(car.track, start, random)
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
    check_whole("action_repeat", action_repeat)
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
