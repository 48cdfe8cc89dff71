"""Recordings: drives stored as a start and actions, which the simulator replays exactly."""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from racer_env.config import AiConfig, parse_config
from racer_env.contract import INFO_DTYPE, TICKS_PER_SECOND
from racer_env.errors import ConfigError, RacerError, RecordingError
from racer_env.json_files import MAX_JSON
from racer_env.physics import Physics, load_physics
from racer_env.simulator.kernels import CAR_DTYPE
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track, parse_track
from racer_env.tracks.starts import Start, check_start, standing_start
from training.checkpoints.writing import replacing
from training.drives.file_formats import JSON, MAX_TICKS, Content, as_bytes, read_content

if TYPE_CHECKING:
    from training.evaluation.episode import Episode

FORMAT = 1
MAX_NAME = 100  # characters of a driver's name
TOLERANCE = 1e-6  # largest difference of a state; earlier releases differed in the last bit of a sine
_CONTINUOUS = tuple(name for name in CAR_DTYPE.names or () if CAR_DTYPE[name] == np.float64)


@dataclass(frozen=True)
class Lap:
    """A completed lap of a drive.

    Attributes:
        first, last: Ticks at its ends: states ``first`` to ``last`` are the lap.
        is_clean: Whether the car touched no wall on it.
    """

    first: int
    last: int
    is_clean: bool

    @property
    def seconds(self) -> float:
        """Lap time in seconds."""
        return (self.last - self.first) / TICKS_PER_SECOND


@dataclass(frozen=True)
class Drive:
    """What happened in T ticks of one car.

    Attributes:
        driver: Name of the driver.
        track: Track that it drove on.
        actions: (T, 3) steer in [-1, 1], throttle and brake in [0, 1].
        states: (T + 1,) CAR_DTYPE, the first at the start.
        observations: (T + 1, 14) observations, the first at the start.
        infos: (T,) INFO_DTYPE, one record per tick.
        laps: The completed laps, in order.
    """

    driver: str
    track: Track
    actions: npt.NDArray[np.float64]
    states: npt.NDArray[np.void]
    observations: npt.NDArray[np.float64]
    infos: npt.NDArray[np.void]
    laps: tuple[Lap, ...]

    @property
    def best_lap(self) -> Lap | None:
        """The fastest clean lap; without one, the fastest lap; None without any lap."""
        return min(self.laps, key=lambda lap: (not lap.is_clean, lap.last - lap.first), default=None)

    @property
    def shown_lap(self) -> Lap:
        """The best lap; without any lap, all of the drive."""
        return self.best_lap or Lap(0, len(self.actions), False)


@dataclass(frozen=True)
class Recording:
    """A drive that can be replayed: its start, and every action.

    Attributes:
        driver: Name of the driver.
        track: The whole track, so that no file of it is needed.
        start: First state of the car.
        actions: (T, 3) steer, throttle, brake of every tick.
        config: Reward weights and limits that it was driven with; None if they are not known.
    """

    driver: str
    track: Track
    start: Start
    actions: npt.NDArray[np.float64]
    config: AiConfig | None = None

    @functools.cached_property
    def drive(self) -> Drive:
        """What happens when the simulator drives it again."""
        return _replay(self)

    def until(self, tick: int, driver: str) -> "Recording":
        """Return what was driven up to a tick, as a recording of its own; it is not driven again."""
        part = dataclasses.replace(self, driver=driver, actions=self.actions[:tick])
        vars(part)["drive"] = dataclasses.replace(
            self.drive,
            driver=driver,
            actions=part.actions,
            states=self.drive.states[: tick + 1],
            observations=self.drive.observations[: tick + 1],
            infos=self.drive.infos[:tick],
            laps=tuple(lap for lap in self.drive.laps if lap.last <= tick),
        )
        return part


def record(
    driver: str, track: Track, actions: Sequence[npt.NDArray[np.floating]], config: AiConfig | None = None
) -> Recording:
    """Return the recording of an episode from the standing start, given the action of each tick."""
    taken = np.asarray(actions, np.float64).reshape(-1, 3)
    return Recording(driver, track, standing_start(track.geometry), taken, config)


def record_episode(driver: str, track: Track, episode: "Episode", config: AiConfig | None = None) -> Recording:
    """Return the recording of an episode from the standing start, driven on either engine with these weights.

    Raises:
        RecordingError: The simulator drives it differently from the game in which it was driven.
    """
    recording = record(driver, track, episode.actions, config)
    ticks = [lap.last - lap.first for lap in recording.drive.laps]
    if ticks != episode.lap_ticks:
        raise RecordingError(
            f"the game behind the bridge drives differently from the simulator (laps of {episode.lap_ticks} ticks, "
            f"{ticks} here), so its drive cannot be recorded; python -m training.parity shows where they part"
        )
    return recording


@functools.lru_cache(maxsize=64)
def _simulator_of(track: Track, config: AiConfig) -> Simulator:
    return Simulator([track], 1, config)  # cached, as the tables take a while to build


def _replay(recording: Recording) -> Drive:
    simulator, count = _simulator_of(recording.track, recording.config or AiConfig()), len(recording.actions)
    simulator.place([0], [recording.start])
    states: npt.NDArray[np.void] = np.empty(count + 1, CAR_DTYPE)
    infos: npt.NDArray[np.void] = np.empty(count, INFO_DTYPE)
    observations = np.empty((count + 1, simulator.observations.shape[1]))
    states[0], observations[0] = simulator.cars[0], simulator.observations[0]
    for tick in range(count):
        simulator.step(recording.actions[tick : tick + 1])
        states[tick + 1], observations[tick + 1] = simulator.cars[0], simulator.observations[0]
        infos[tick] = simulator.infos[0]
    return Drive(
        recording.driver, recording.track, recording.actions, states, observations, infos, _laps_of(states, infos)
    )


def _laps_of(states: npt.NDArray[np.void], infos: npt.NDArray[np.void]) -> tuple[Lap, ...]:
    crossings = [0, *(np.flatnonzero(np.diff(states["lap"])) + 1).tolist()]
    return tuple(
        Lap(first, last, not infos["wallContact"][first:last].any())
        for first, last in itertools.pairwise(crossings)
        if states["lap"][first] > 0
    )


# --- Files ---


def save_recording(recording: Recording, path: Path) -> None:
    """Write a recording, under a temporary name first and then under its own; as JSON if it ends in .json.

    Raises:
        OSError: The file cannot be written.
        RecordingError: It is too long to be loaded again.
    """
    if len(recording.actions) > MAX_TICKS:
        raise RecordingError(f"a recording has at most {MAX_TICKS:,} ticks, got {len(recording.actions):,}; drive less")
    card = {
        "format": FORMAT,
        "driver": recording.driver,
        "physics_fingerprint": recording.track.physics.fingerprint,
        "track_fingerprint": recording.track.fingerprint,
        "track": recording.track.to_json(),
        "start": asdict(recording.start),
        "ai_config": None if recording.config is None else recording.config.to_json(),
    }
    content = as_bytes(Content(card, recording.actions, recording.drive.states), path.suffix)
    if path.suffix == JSON and len(content) > MAX_JSON:
        raise RecordingError(
            f"a recording as JSON has at most {MAX_JSON:,} bytes, got {len(content):,} for {len(recording.actions):,} "
            "ticks; name a file that ends in .npz"
        )
    with replacing(path) as beside:
        beside.write_bytes(content)


def save_recordings(recordings: Mapping[str, Recording], path: Path, tell: Callable[[str], None]) -> None:
    """Write recordings by track id, to a path or, with several, to one for each that has the id in its name.

    Args:
        recordings: What to write.
        path: Path of the only one.
        tell: Called with a message about each file written.

    Raises:
        OSError: A file cannot be written.
    """
    for track_id, recording in recordings.items():
        file = path_for(path, track_id, recordings)
        save_recording(recording, file)
        seconds = len(recording.actions) / TICKS_PER_SECOND
        tell(f"saved {file}: {seconds:.2f} s on {track_id}, to be replayed with --replay")


def path_for(path: Path, track_id: str, among: Collection[str]) -> Path:
    """Return the path of a file about one track among those that have one each."""
    return path if len(among) == 1 else path.with_name(f"{path.stem}_{track_id}{path.suffix}")


def load_recording(path: Path, physics: Physics | None = None) -> Recording:
    """Load a recording, and replay it to check that it drives here as it was driven.

    Args:
        path: Path of the recording.
        physics: Physics of the game now; None is the project's.

    Raises:
        RecordingError: The file is missing, damaged, not a recording, larger than one can be, of other physics, or
            drives differently here.
    """
    physics = load_physics() if physics is None else physics
    if not path.exists():
        near = sorted(other.name for other in path.parent.glob(f"{path.stem}_*{path.suffix}"))
        there = f"there are {', '.join(near[:4])}" if near else "python -m training.evaluate --record makes one"
        raise RecordingError(f"no recording {path}; {there}")

    card, actions, states = read_content(path)
    try:
        driver, fingerprint, start = str(card["driver"]), card["physics_fingerprint"], Start(**card["start"])
    except (KeyError, TypeError) as error:
        raise RecordingError(f"cannot load the recording {path}, damaged or none: its card lacks something") from error
    if fingerprint != physics.fingerprint:
        raise RecordingError(
            f"{path} was driven on other physics: {str(fingerprint)[:12]} against {physics.fingerprint[:12]} now; "
            "the same actions would drive differently here"
        )
    try:
        track = parse_track(card["track"], str(path), physics, must_be_drivable=False)
        config = None if card.get("ai_config") is None else parse_config(card["ai_config"], "ai_config")
    except RacerError as error:
        raise RecordingError(f"cannot load the recording {path}: {error}") from error
    _check(path, track, card, start, actions, states)
    driver = "".join(character for character in driver if character.isprintable())[:MAX_NAME]
    recording = Recording(driver, track, start, actions, config)
    _compare(path, recording.drive.states, states)
    return recording


def _check(path: Path, track: Track, card: dict[str, Any], start: Start, actions: Any, states: Any) -> None:
    def refuse(why: str) -> RecordingError:
        return RecordingError(f"cannot load the recording {path}: {why}")

    if card.get("format") != FORMAT:
        raise refuse(f"expected format {FORMAT}, got {card.get('format')!r}")
    if track.fingerprint != card.get("track_fingerprint"):
        raise refuse("its track is not the one that its fingerprint names")
    if actions.dtype != np.float64 or actions.ndim != 2 or actions.shape[1] != 3 or not np.isfinite(actions).all():
        raise refuse(f"actions must be finite numbers of shape (T, 3), got {actions.dtype} of shape {actions.shape}")
    if not 1 <= len(actions) <= MAX_TICKS:
        raise refuse(f"it must have 1 to {MAX_TICKS:,} ticks, got {len(actions):,}")
    if path.suffix != JSON and (states.dtype != CAR_DTYPE or states.shape != (len(actions) + 1,)):
        raise refuse(f"states must be one more than actions, {len(actions) + 1}, got shape {states.shape}")
    if not all(type(value) in (int, float) for value in asdict(start).values()):
        raise refuse("its start is no state of a car")
    try:
        check_start(start, track)
    except ConfigError as error:
        raise refuse(f"its start is no state of a car ({error})") from error


def _compare(path: Path, now: npt.NDArray[np.void], then: npt.NDArray[np.void]) -> None:
    """Refuse a replay that departs from the recorded states, which may be the last ones only, and a part of each."""
    first = len(now) - len(then)
    differs = np.zeros(len(then), bool)
    for name in then.dtype.names or ():
        difference = np.abs(now[name][first:] - then[name])
        differs |= ~(difference <= (TOLERANCE if name in _CONTINUOUS else 0))
    if not differs.any():
        return
    tick = first + int(np.argmax(differs))
    how = f"is elsewhere here after {tick:,} ticks" if first else f"drives differently here from tick {tick:,} on"
    raise RecordingError(f"{path} {how}; another engine has recorded it")
