"""One car as a Gymnasium environment."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from racer_env.bridge.bridge import Bridge, TrackId, bridge_at, one_track, several, tracks_on
from racer_env.bridge.car import BridgeCar
from racer_env.config import AiConfig, resolve_config
from racer_env.contract import ACTION_SIZE, TICKS_PER_SECOND
from racer_env.errors import ActionError, ClosedError, ConfigError
from racer_env.simulator.car import SimulatorCar
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import (
    HUMAN,
    RENDER_MODES,
    check_render_mode,
    check_reset_options,
    make_action_space,
    make_observation_space,
)
from racer_env.specs import Documented
from racer_env.tracks import AnyTrack, known_track
from racer_env.tracks.starts import STANDING

if TYPE_CHECKING:
    from racer_env.rendering.drawing import Drawing
    from racer_env.rendering.scene import View


class RacerEnv(Documented, gymnasium.Env[npt.NDArray[np.float32], npt.NDArray[np.float32]]):
    """A car on a closed track, 60 ticks a second, one tick a step.

    **Action**, ``Box([-1, 0, 0], [1, 1, 1], float32)``: steer (positive turns right), throttle, brake. Numbers
    beyond the bounds are clamped; anything other than three finite numbers is an error.

    **Observation**, ``Box(14, float32)``:

    ===== ============================================================ =========
    index value                                                        range
    ===== ============================================================ =========
    0-8   ray i at heading - pi/2 + i pi/8 (0 right, 8 left), distance
          to the nearest wall over 200 units                           [0, 1]
    9     speed over 160 units/s                                       [0, 1]
    10    yaw rate over 5 rad/s, clamped                               [-1, 1]
    11    smoothed steer                                               [-1, 1]
    12    arc length of the nearest centre point over the lap's length [0, 1]
    13    distance to the centre line over 80 units, clamped           [0, 1]
    ===== ============================================================ =========

    **Reward**: the sum of six components, each also in ``info``, with the weights of ``ai-config.json``:
    ``progress`` (weight times the change of arc length over the lap's length: a lap is worth the weight),
    ``speed`` (weight times speed over 160), and four constants on the ticks on which they apply: ``wall`` (within 2
    units of a wall), ``offTrack`` (not on the road), ``backward`` (negative progress), ``stillness`` (speed below
    the threshold).

    **Terminated** after ``stillnessTimeoutTicks`` still ticks in a row; **truncated** at ``maxSteps`` steps. Both
    may apply on one tick.

    **Start**: at rest on the line. ``reset(options=...)`` takes ``track_id`` and ``start``, which is
    ``"standing"``, ``"random"`` (anywhere, on the move, drawn from the environment's seed) or a dictionary with
    ``arc_length`` and optionally ``lateral`` and ``heading`` (units and radians from the centre line and its
    direction) and ``speed``. A start holds for one reset, as does a track unless the environment has only one: then
    the named track stays until another is named.

    **Info** after a step: the six components, ``tick``, ``rawSpeed`` (units/s), ``lap`` (from 1; 0 before the first
    crossing of the line after a start elsewhere), ``checkpoint`` (last gate), ``stepCount``, ``wallContact``,
    ``stillnessCounter``; after a reset: ``tick``, ``speed``, ``lap``, ``checkpoint``, ``stepCount``.

    **Rendering**: ``render_mode="rgb_array"`` returns pictures of ``view.size``, without a display; ``"human"`` shows
    every step in a window, in real time. A bridge does not report where its cars are, so the simulator drives along.

    **Copies**: ``copy.deepcopy`` and ``pickle`` make a twin that goes on in the same way, number by number. Not over a
    bridge, which keeps the game's state to itself. ``spec`` holds the arguments in the form that JSON has.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(RENDER_MODES),
        "render_fps": TICKS_PER_SECOND,
    }

    def __init__(
        self,
        bridge_url: str | Sequence[str] | Bridge | None = None,
        config_path: str | Path | None = None,
        track_id: TrackId | Iterable[TrackId] = "track-01",
        render_mode: str | None = None,
        *,
        tracks_dir: str | Path | None = None,
        config: AiConfig | dict[str, Any] | None = None,
        view: "View | dict[str, Any] | None" = None,
    ) -> None:
        """Make the environment.

        Args:
            bridge_url: URL of the game's bridge, ``ws://127.0.0.1:PORT``; ``"auto"`` starts the bundled one until
                ``close``, and ``"embedded"`` is the embedded simulator. None reads the environment variable
                RACER_BRIDGE_URL, and means the embedded simulator if that is not set.
            config_path: Reward weights and episode limits; None is the project's ``ai-config.json``.
            track_id: A track's id, a path ending in ``.json``, a loaded track or the content of a track file as a dict;
                ``"all"``, a set of generated tracks such as ``"procedural:8"``, or a list of all these: each reset
                then takes the next track. Over a bridge, an id means the bridge's track; in any other form, the bridge
                must have the track too.
            render_mode: None, ``"rgb_array"`` or ``"human"``; None draws nothing and costs nothing.
            tracks_dir: Folder of the user's own track files.
            config: An ``AiConfig``, or a dict with the content of such a file, instead of ``config_path``.
            view: How it is drawn, as a ``racer_env.rendering.scene.View`` or a dict of its attributes; None is the
                default one.

        Raises:
            BridgeError: The bridge cannot be reached, or the peer is not a bridge.
            ConfigError: The configuration or an argument is wrong, or the bridge has other physics.
            RenderError: The track is to be drawn, but only a bridge knows it.
            TrackError: The track does not exist or is wrong.
        """
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.action_space = make_action_space()  # type: ignore[assignment]
        self.observation_space = make_observation_space()  # type: ignore[assignment]
        config = resolve_config(config, config_path)
        self._car: SimulatorCar | BridgeCar
        with contextlib.ExitStack() as stack:
            self._names = several(track_id)
            bridge = bridge_at(stack, bridge_url, self._names, tracks_dir)
            self._tracks = tracks_on(bridge, self._names, tracks_dir)
            if bridge is None:
                self._car = SimulatorCar(known_track(self._tracks[0]), tracks_dir, config)
            else:
                self._car = BridgeCar(bridge, self._tracks[0], tracks_dir, config)
            stack.callback(self._car.close)
            self._drawing = None if render_mode is None else _make_drawing(self._car, view, render_mode)
            if self._drawing is not None:
                stack.callback(self._drawing.close)
            self._resources = stack.pop_all()
        self._turn = 0  # of the tracks, if there are several
        self._is_reset = False
        self._is_closed = False

    @property
    def track(self) -> AnyTrack:
        """The track of the running episode."""
        return self._car.track

    @property
    def simulator(self) -> Simulator:
        """The embedded simulator, for callers who need float64 states.

        Raises:
            ConfigError: The game is behind a bridge.
        """
        if not isinstance(self._car, SimulatorCar):
            raise ConfigError("this environment drives over a bridge and has no simulator; make one without bridge_url")
        return self._car.simulator

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seed of random starts; None keeps the generator.
            options: ``track_id`` and ``start``, see the class.

        Returns:
            The observation (14,) float32 and the info.

        Raises:
            BridgeError: The bridge is gone, refuses, or answers nonsense.
            ClosedError: The environment is closed.
            ConfigError: An option is unknown or wrong.
            TrackError: The track does not exist or is wrong.
        """
        if self._is_closed:
            raise ClosedError("reset() on a closed environment; make a new one")
        super().reset(seed=seed)
        options = {} if options is None else options
        check_reset_options(options, "track_id", "start")
        track_id = one_track(options["track_id"]) if "track_id" in options else self._next_track()
        observation, info = self._car.begin(track_id, options.get("start", STANDING), self.np_random)
        self._is_reset = True
        if self._drawing is not None:
            self._drawing.begin(observation)
        return observation.astype(np.float32), info

    def step(
        self, action: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Advance by one tick.

        Args:
            action: (3,) steer in [-1, 1], throttle and brake in [0, 1].

        Returns:
            Observation (14,) float32, reward, terminated, truncated, info.

        Raises:
            ActionError: The action is not three finite numbers.
            BridgeError: The bridge is gone, refuses, or answers nonsense; ``reset`` connects anew.
            ClosedError: The environment is closed, or was never reset.
        """
        if not self._is_reset or self._is_closed:
            raise ClosedError(f"step() {'on a closed environment' if self._is_closed else 'before reset()'}")
        given = np.asarray(action)
        if given.shape != (ACTION_SIZE,):
            raise ActionError(f"an action must be steer, throttle and brake, shape (3,); got shape {given.shape}")
        observation, reward, terminated, truncated, info = self._car.step(given)
        if self._drawing is not None:
            self._drawing.step(action, observation)
        return observation.astype(np.float32), reward, terminated, truncated, info

    def render(self) -> npt.NDArray[np.uint8] | None:
        """Return the current picture (height, width, 3); None if a window shows it, or without a render mode.

        Raises:
            ClosedError: The environment is closed, or was never reset.
        """
        if self._drawing is None:
            gymnasium.logger.warn("render() without a render_mode; give gymnasium.make one, 'rgb_array' for example")
            return None
        if not self._is_reset or self._is_closed:
            raise ClosedError(f"render() {'on a closed environment' if self._is_closed else 'before reset()'}")
        return self._drawing.render()

    def close(self) -> None:
        """Close the environment; safe to call twice."""
        self._is_closed = True
        self._resources.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_resources"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._resources = contextlib.ExitStack()
        if self._drawing is not None:
            self._resources.callback(self._drawing.close)

    def _next_track(self) -> AnyTrack | None:
        """Return the track whose turn it is; None stays on the only one, or on one that a reset has named."""
        if len(self._tracks) == 1:
            return None
        self._turn += 1
        return self._tracks[(self._turn - 1) % len(self._tracks)]

    def _named_tracks(self) -> list[str | AnyTrack]:
        return self._names


def _make_drawing(car: SimulatorCar | BridgeCar, view: "View | dict[str, Any] | None", render_mode: str) -> "Drawing":
    from racer_env.rendering.drawing import Drawing  # loaded only when something is drawn

    return Drawing(car, view, shows=render_mode == HUMAN)
