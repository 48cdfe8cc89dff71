"""A course for a driver, and driving it."""

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from racer_env.bridge.bridge import Bridge
from racer_env.bridge.engine import BridgeEngine
from racer_env.config import AiConfig
from racer_env.contract import TICKS_PER_SECOND, EpisodeLimits, Placement, RewardWeights
from racer_env.engine import Engine
from racer_env.errors import BridgeError
from racer_env.simulator.engine import SimulatorEngine
from racer_env.tracks import AnyTrack, Track, known_track
from racer_env.tracks.starts import random_placement
from training.console.tracks import track_fingerprints
from training.drivers.driver import Driver
from training.evaluation.driving import Group, Policy, drive_together
from training.evaluation.episode import ASSUMED_LENGTH, LINE, MOVING, STANDING, Episode
from training.evaluation.stress import NO_STRESS, Stress

CUT_CORNERS = 0.8  # share of the centre line's length; no racing line on a shipped track is shorter
IMPERCEPTIBLE = 1e-300  # adding it to a reward changes nothing
SLOWEST_PACE = 30.0  # units/s; an episode ends when a lap takes longer than at this pace


@dataclass(frozen=True)
class Course:
    """A course for a driver.

    An episode ends after its laps, when the car has stood still too long, when a lap takes longer than at SLOWEST_PACE,
    or when the game ends it; ``maxSteps`` gives way to ``laps``.

    Attributes:
        tracks: Tracks to drive; all episodes on all tracks are driven side by side.
        config: Reward weights and the time-out for standing still.
        laps: Laps per episode from the line.
        episodes: Number of episodes from the line, per track.
        random_starts: Number of further starting places on each track, each used on the move and once more at rest.
        random_laps: Laps from each of these, not counting the way to the line.
        seed: Seed of these places, and of the noise under stress.
        bridge: Bridge to the game; None is the embedded simulator.
        keeps_actions: Whether episodes keep the actions, so that they can be recorded.
    """

    tracks: Sequence[AnyTrack]
    config: AiConfig
    laps: int
    episodes: int = 1
    random_starts: int = 0
    random_laps: int = 1
    seed: int = 0
    bridge: Bridge | None = None
    keeps_actions: bool = False

    @property
    def drives(self) -> list[tuple[str, int]]:
        """How the episodes on a track start, and the number of laps of each."""
        anywhere = [(MOVING, self.random_laps), (STANDING, self.random_laps)] * self.random_starts
        return [(LINE, self.laps)] * self.episodes + anywhere

    @property
    def patience(self) -> list[int]:
        """Most ticks that a lap may take, by track."""
        lengths = [track.length if isinstance(track, Track) else ASSUMED_LENGTH for track in self.tracks]
        return [int(length / SLOWEST_PACE * TICKS_PER_SECOND) for length in lengths]

    def in_words(self) -> str:
        """Return what a score depends on besides the driver: only scores on equal courses can be compared."""
        tracks = ", ".join(f"{name} {str(print_)[:12]}" for name, print_ in track_fingerprints(self.tracks).items())
        random = f" and {self.random_starts} random starts" if self.random_starts else ""
        return f"{self.laps} laps{random} of {tracks}"


@dataclass(frozen=True)
class Evaluation:
    """What a driver drove on a course.

    Attributes:
        driver: The driver that drove.
        course: The course that it was given.
        episodes: Episodes driven, track by track, those from the line first.
    """

    driver: Driver
    course: Course
    episodes: list[Episode]

    @property
    def by_track(self) -> dict[str, list[Episode]]:
        """The episodes by track id."""
        return {track.id: [e for e in self.episodes if e.track_id == track.id] for track in self.course.tracks}

    @property
    def from_line(self) -> dict[str, list[Episode]]:
        """The episodes from the standing start, by track id."""
        return {track_id: [e for e in episodes if e.start == LINE] for track_id, episodes in self.by_track.items()}


def evaluate(driver: Driver, course: Course, stress: Stress = NO_STRESS) -> Evaluation:
    """Let a driver drive a course.

    Args:
        driver: The driver; it sees raw observations.
        course: The course to drive.
        stress: The noise and delay applied; none by default.

    Raises:
        BridgeError: The game cannot be reached, or the connection is lost.
    """
    driver.begin()
    with contextlib.closing(CourseCars(course)) as cars:
        return Evaluation(driver, course, cars.drive(driver, driver.action_repeat, stress=stress))


def evaluate_all(driver: Driver, drives: Sequence[tuple[Course, Stress]]) -> list[Evaluation]:
    """Let a driver drive courses on the same tracks, each under some stress: side by side, which takes far less time.

    Over a bridge they are driven one after the other, as by a driver with a memory or noise of its own.

    Raises:
        BridgeError: The game cannot be reached, or the connection is lost.
    """
    courses = [course for course, _ in drives]
    if not driver.is_reflex or any(course.bridge is not None for course in courses):
        return [evaluate(driver, course, stress) for course, stress in drives]
    groups = [_group(course, stress) for course, stress in drives]
    engine = _make_engine(courses, [place for course in courses for place in _places(course)])
    driver.begin()
    drive_together(engine, groups, driver, driver.action_repeat, show=True)
    return [Evaluation(driver, course, _by_track(course, group)) for course, group in zip(courses, groups, strict=True)]


class CourseCars:
    """The cars of a course, one per episode, which can drive it repeatedly."""

    def __init__(self, course: Course) -> None:
        """Make the cars; nothing is connected yet."""
        self.course = course
        self._starts = _places(course)
        self._engine: Engine | None = None

    def drive(
        self, policy: Policy, action_repeat: int = 1, show: bool = True, stress: Stress = NO_STRESS
    ) -> list[Episode]:
        """Drive all episodes; after an error, the next drive connects to the game anew.

        Args:
            policy: The driver; it sees raw observations.
            action_repeat: Ticks that each action is held.
            show: Whether a terminal shows a progress bar of laps.
            stress: The noise and delay applied; none by default.

        Returns:
            The episodes, track by track, those from the line first.

        Raises:
            BridgeError: The game cannot be reached, or the connection is lost.
        """
        if self._engine is None:
            self._engine = _make_engine([self.course], self._starts)
        group = _group(self.course, stress)
        try:
            drive_together(self._engine, [group], policy, action_repeat, show, getattr(policy, "is_reflex", True))
        except BridgeError:
            self.close()
            raise
        return _by_track(self.course, group)

    def close(self) -> None:
        """Close the engine; safe to call twice."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def _group(course: Course, stress: Stress) -> Group:
    """Return the episodes of a course, the tracks in turn."""
    episodes = [
        Episode(track.id, laps, start, length=track.length if isinstance(track, Track) else None)
        for start, laps in course.drives
        for track in course.tracks
    ]
    return Group(episodes, course.patience * len(course.drives), stress, course.seed, course.keeps_actions)


def _by_track(course: Course, group: Group) -> list[Episode]:
    count = len(course.tracks)
    return [episode for track in range(count) for episode in group.episodes[track::count]]


def _places(course: Course) -> list[Placement | None]:
    """Return where each car starts, the tracks in turn; starts at rest reuse the places of those on the move."""
    random = np.random.default_rng(course.seed)
    places: list[Placement | None] = []
    row: list[Placement] = []
    for kind, _ in course.drives:
        if kind == MOVING:
            row = [random_placement(known_track(track).geometry, random) for track in course.tracks]
        elif kind == STANDING:
            row = [place._replace(speed=0.0) for place in row]
        places.extend(row or [None] * len(course.tracks))
    return places


def _make_engine(courses: Sequence[Course], starts: Sequence[Placement | None]) -> Engine:
    """Return the cars of courses on the same tracks, with where each of them starts."""
    course = courses[0]
    most = max(max(one.laps, one.random_laps + 1) * max(one.patience) + 1 for one in courses)
    limits = EpisodeLimits(most, course.config.episode.stillness_timeout_ticks)
    config = AiConfig(_visible(course.config.weights), limits)
    if course.bridge is not None:
        tracks = course.tracks
        return BridgeEngine(course.bridge, tracks, len(starts), config, starts.__getitem__, may_restart=False)
    known = [track for track in course.tracks if isinstance(track, Track)]
    return SimulatorEngine(known, len(starts), config, starts.__getitem__)


def _visible(weights: RewardWeights) -> RewardWeights:
    """Return weights that make driving off the road visible in the reward components, even where it costs nothing."""
    if weights.off_track_penalty != 0:
        return weights
    return dataclasses.replace(weights, off_track_penalty=-IMPERCEPTIBLE)


def without_time_for_a_lap(tracks: Sequence[AnyTrack], config: AiConfig) -> list[str]:
    """Return a sentence for each track on which ``maxSteps`` ends every episode before a lap can be completed."""
    limit, sentences = config.episode.max_steps, []
    for track in tracks:
        if isinstance(track, Track):
            at_top_speed = track.length / track.physics.max_speed * TICKS_PER_SECOND
            if limit < CUT_CORNERS * at_top_speed:
                sentences.append(
                    f"maxSteps {limit:,} ends an episode on {track.id} before a lap is possible: "
                    f"its {track.length:,.0f} units take {at_top_speed:,.0f} ticks at top speed"
                )
    return sentences
