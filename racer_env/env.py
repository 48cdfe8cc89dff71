"""One car as a Gymnasium environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from racer_env.config import AiConfig, load_config
from racer_env.errors import ActionError, ClosedError, ConfigError
from racer_env.json_files import Checker
from racer_env.physics import TICKS_PER_SECOND
from racer_env.simulator.simulator import ACTION_SIZE, Simulator
from racer_env.simulator.starts import Start, random_start, standing_start, start_at
from racer_env.spaces import make_action_space, make_observation_space, reset_info, step_info
from racer_env.tracks import Track, load_track

BRIDGE_URL_VARIABLE = "RACER_BRIDGE_URL"
STANDING, RANDOM = "standing", "random"
MAX_START_OFFSET = 1000.0  # units from the centre line
START_KEYS = ("arc_length", "lateral", "heading", "speed")


class RacerEnv(gymnasium.Env[npt.NDArray[np.float32], npt.NDArray[np.float32]]):
    """A car on a closed track, 60 ticks a second, one tick a step.

    **Action**, ``Box([-1, 0, 0], [1, 1, 1], float32)``: steer (positive turns right), throttle, brake. Numbers
    beyond the bounds are clamped; anything that is not three finite numbers is an error.

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
    ``speed`` (weight times speed over 160), and, each a constant on the ticks when it holds, ``wall`` (within 2
    units of a wall), ``offTrack`` (not on the road), ``backward`` (negative progress), ``stillness`` (speed below
    the threshold).

    **Terminated** after ``stillnessTimeoutTicks`` still ticks in a row; **truncated** at ``maxSteps`` steps. Both
    may hold on one tick.

    **Start**: at rest on the line. ``reset(options=...)`` takes ``track_id`` and ``start``, which is
    ``"standing"``, ``"random"`` (anywhere, on the move, drawn from the environment's seed) or a dictionary with
    ``arc_length`` and optionally ``lateral``, ``heading`` (units and radians from the centre line and its
    direction) and ``speed``. Both hold for this reset; the track stays until another is named.

    **Info** after a step: the six components, ``tick``, ``rawSpeed`` (units/s), ``lap`` (from 1; 0 on the way to
    the line after a start elsewhere), ``checkpoint`` (last gate), ``stepCount``, ``wallContact``,
    ``stillnessCounter``; after a reset: ``tick``, ``speed``, ``lap``, ``checkpoint``, ``stepCount``.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "render_fps": TICKS_PER_SECOND}  # type: ignore[misc]

    def __init__(
        self,
        bridge_url: str | None = None,
        config_path: str | Path | None = None,
        track_id: str | Track = "track-01",
        render_mode: str | None = None,
        *,
        tracks_dir: str | Path | None = None,
        config: AiConfig | None = None,
    ) -> None:
        """Make the environment.

        Args:
            bridge_url: None is the embedded simulator, the only engine of this version.
            config_path: Reward weights and episode limits; None is the project's ``ai-config.json``.
            track_id: A track's id, a path that ends in ``.json``, or a loaded track.
            render_mode: None; this version draws nothing.
            tracks_dir: A folder with track files of one's own.
            config: Weights and limits as an object, instead of ``config_path``.

        Raises:
            ConfigError: The configuration or an argument is wrong.
            TrackError: The track does not exist or is wrong.
        """
        bridge_url = bridge_url if bridge_url is not None else os.environ.get(BRIDGE_URL_VARIABLE)
        if bridge_url is not None:
            raise ConfigError(
                f"bridge_url is {bridge_url!r}, but this version drives the embedded simulator only; "
                f"pass None and unset {BRIDGE_URL_VARIABLE}"
            )
        if render_mode is not None:
            raise ConfigError(f"render_mode must be None, got {render_mode!r}")
        self.render_mode = None
        self.action_space = make_action_space()  # type: ignore[assignment]
        self.observation_space = make_observation_space()  # type: ignore[assignment]
        self._config = load_config(config_path) if config is None else config
        self._tracks_dir = tracks_dir
        self._simulators: dict[str, Simulator] = {}
        self._simulator = self._simulator_for(track_id)
        self._is_reset = False
        self._is_closed = False

    @property
    def track(self) -> Track:
        """The track of the running episode."""
        return self._simulator.tracks[0]

    @property
    def simulator(self) -> Simulator:
        """The engine, for those who want float64 states."""
        return self._simulator

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: For random starts.
            options: ``track_id`` and ``start``, see the class.

        Returns:
            The observation (14,) float32 and the info.

        Raises:
            ClosedError: The environment is closed.
            ConfigError: An option is unknown or wrong.
            TrackError: The track does not exist or is wrong.
        """
        if self._is_closed:
            raise ClosedError("reset() on a closed environment; make a new one")
        super().reset(seed=seed)
        options = {} if options is None else dict(options)
        unknown = set(options) - {"track_id", "start"}
        if unknown:
            raise ConfigError(f"unknown reset option {sorted(unknown)[0]!r}; allowed: track_id, start")
        simulator = self._simulator_for(options["track_id"]) if "track_id" in options else self._simulator
        start = make_start(simulator.tracks[0], options.get("start", STANDING), self.np_random)
        simulator.place([0], [start])
        self._simulator = simulator
        self._is_reset = True
        return self._observation(), reset_info(self._simulator.cars[0])

    def step(
        self, action: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Advance by one tick.

        Args:
            action: (3,) steer, throttle, brake.

        Returns:
            Observation (14,) float32, reward, terminated, truncated, info.

        Raises:
            ActionError: The action is not three finite numbers.
            ClosedError: The environment is closed, or was never reset.
        """
        if not self._is_reset or self._is_closed:
            raise ClosedError(f"step() {'on a closed environment' if self._is_closed else 'before reset()'}")
        shape = np.shape(action)
        if shape != (ACTION_SIZE,):
            raise ActionError(f"an action must be steer, throttle and brake, shape (3,); got shape {shape}")
        simulator = self._simulator
        simulator.step(np.reshape(action, (1, ACTION_SIZE)))
        return (
            self._observation(),
            float(simulator.rewards[0]),
            bool(simulator.terminated[0]),
            bool(simulator.truncated[0]),
            step_info(simulator.infos[0]),
        )

    def close(self) -> None:
        """End it; twice is fine."""
        self._is_closed = True

    def _observation(self) -> npt.NDArray[np.float32]:
        observation: npt.NDArray[np.float32] = self._simulator.observations[0].astype(np.float32)
        return observation

    def _simulator_for(self, track_id: str | Track) -> Simulator:
        key = track_id.fingerprint if isinstance(track_id, Track) else str(track_id)
        if key not in self._simulators:
            track = track_id if isinstance(track_id, Track) else load_track(track_id, self._tracks_dir)
            self._simulators[key] = Simulator([track], 1, self._config)
        return self._simulators[key]


def make_start(track: Track, start: str | Mapping[str, float], random: np.random.Generator) -> Start:
    """Make the start that a reset option asks for.

    Args:
        track: Where.
        start: ``"standing"``, ``"random"``, or a dictionary as in ``RacerEnv``.
        random: Draws a random start.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(start, str) and start == STANDING:
        return standing_start(track.geometry)
    if isinstance(start, str) and start == RANDOM:
        return random_start(track.geometry, random)
    check = Checker(ConfigError, "start")
    if not isinstance(start, Mapping):
        raise check.fail(f"expected 'standing', 'random' or a dictionary with arc_length, got {start!r}")
    numbers = check.mapping(dict(start), "the dictionary", START_KEYS, required=("arc_length",))
    numbers = {key: check.number(value, key) for key, value in numbers.items()}
    if not 0.0 <= numbers.get("speed", 0.0) <= track.physics.max_speed:
        raise check.fail(f"speed must be within [0, {track.physics.max_speed:g}] units/s, got {numbers['speed']:g}")
    if abs(numbers.get("lateral", 0.0)) > MAX_START_OFFSET:
        raise check.fail(f"lateral must be within {MAX_START_OFFSET:g} units of the line, got {numbers['lateral']:g}")
    return start_at(track.geometry, **numbers)
