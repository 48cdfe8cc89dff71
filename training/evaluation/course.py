"""What a driver is to drive, and driving it."""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

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
from training.evaluation.episode import ASSUMED_LENGTH, LINE, MOVING, STANDING, Episode
from training.evaluation.stress import NO_STRESS, Stress, Stressed

CUT_CORNERS = 0.8  # of the centre line's length; no racing line is shorter on any shipped track
IMPERCEPTIBLE = 1e-300  # added to a reward, it changes nothing
SLOWEST_PACE = 30.0  # units/s; an episode ends when a lap takes longer than at this pace

# From observations (N, 14) to actions (N, 3).
Policy = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.floating]]


@dataclass(frozen=True)
class Course:
    """What a driver is to drive.

    An episode ends after its laps, by standing still, when a lap takes longer than at SLOWEST_PACE, or when the
    game ends it; ``maxSteps`` gives way to ``laps``.

    Attributes:
        tracks: Where; all episodes of all tracks are driven side by side.
        config: Reward weights and the time-out for standing still.
        laps: Per episode from the line.
        episodes: From the line, per track.
        random_starts: How many places on each track to start from too, on the move, and once more at rest.
        random_laps: Laps from each of these, after the way to the line.
        seed: Of these places, and of stress.
        bridge: Where the game is; None is the embedded simulator.
        keeps_actions: Whether episodes keep the actions, to be recorded.
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
        """How the episodes on a track start, and the laps of each."""
        anywhere = [(MOVING, self.random_laps), (STANDING, self.random_laps)] * self.random_starts
        return [(LINE, self.laps)] * self.episodes + anywhere

    @property
    def patience(self) -> list[int]:
        """Ticks that a lap may take, by track."""
        lengths = [track.length if isinstance(track, Track) else ASSUMED_LENGTH for track in self.tracks]
        return [int(length / SLOWEST_PACE * TICKS_PER_SECOND) for length in lengths]

    def in_words(self) -> str:
        """Return what a score depends on besides the driver: only those of one course can be compared."""
        tracks = ", ".join(f"{name} {str(print_)[:12]}" for name, print_ in track_fingerprints(self.tracks).items())
        random = f" and {self.random_starts} random starts" if self.random_starts else ""
        return f"{self.laps} laps{random} of {tracks}"


@dataclass(frozen=True)
class Evaluation:
    """What a driver has driven on a course.

    Attributes:
        driver: Who drove.
        course: What it was to drive.
        episodes: Track by track, those from the line first.
    """

    driver: Driver
    course: Course
    episodes: list[Episode]

    @property
    def by_track(self) -> dict[str, list[Episode]]:
        """The episodes by track."""
        return {track.id: [e for e in self.episodes if e.track_id == track.id] for track in self.course.tracks}

    @property
    def from_line(self) -> dict[str, list[Episode]]:
        """Those from the standing start, by track."""
        return {track_id: [e for e in episodes if e.start == LINE] for track_id, episodes in self.by_track.items()}


def evaluate(driver: Driver, course: Course, stress: Stress = NO_STRESS) -> Evaluation:
    """Let a driver drive a course.

    Args:
        driver: Who drives; it sees raw observations.
        course: What it is to drive.
        stress: What is done to it.

    Raises:
        BridgeError: The game cannot be reached or is gone.
    """
    with contextlib.closing(CourseCars(course)) as cars:
        return Evaluation(driver, course, cars.drive(driver, driver.action_repeat, stress=stress))


class CourseCars:
    """The cars of a course, one for each episode, to drive it again and again."""

    def __init__(self, course: Course) -> None:
        """Make them; nothing is connected yet."""
        self.course = course
        self._starts = _places(course)
        self._engine: Engine | None = None

    def drive(
        self, policy: Policy, action_repeat: int = 1, show: bool = True, stress: Stress = NO_STRESS
    ) -> list[Episode]:
        """Drive all episodes; after an error, the next drive reaches the game anew.

        Args:
            policy: The driver; it sees raw observations.
            action_repeat: Ticks that each of its actions is held.
            show: Whether a terminal shows a bar with the laps.
            stress: What is done to it.

        Returns:
            The episodes, track by track, those from the line first.

        Raises:
            BridgeError: The game cannot be reached or is gone.
        """
        if self._engine is None:
            self._engine = _make_engine(self.course, self._starts)
        try:
            return self._drive(self._engine, policy, action_repeat, show, Stressed(stress, self.course.seed))
        except BridgeError:
            self.close()
            raise

    def _drive(
        self, engine: Engine, policy: Policy, action_repeat: int, show: bool, stressed: Stressed
    ) -> list[Episode]:
        tracks, patience = self.course.tracks, self.course.patience
        results = [
            Episode(track.id, laps, start, length=track.length if isinstance(track, Track) else None)
            for start, laps in self.course.drives
            for track in tracks
        ]
        running = list(range(len(results)))
        disable = None if show else True  # None: where there is no terminal
        with tqdm(total=sum(result.laps_asked for result in results), unit="lap", disable=disable, leave=False) as bar:
            engine.begin()
            actions, ticks = None, 0
            while running:
                if actions is None or ticks % action_repeat == 0:
                    actions = policy(stressed.seen(engine.observations.astype(np.float32)))
                ticks += 1
                done = stressed.done(actions)
                engine.step(done)
                for index in running:
                    self._count(results[index], engine, index, done[index])
                bar.n = sum(len(result.lap_ticks) for result in results)
                bar.set_postfix_str(f"{results[running[0]].steps:,} ticks", refresh=False)
                bar.update(0)
                running = [
                    index
                    for index in running
                    if not (engine.terminated[index] or engine.truncated[index])
                    and not results[index].is_over(patience[index % len(tracks)])
                ]
        return [episode for track in tracks for episode in results if episode.track_id == track.id]

    def _count(self, episode: Episode, engine: Engine, car: int, action: npt.NDArray[np.floating]) -> None:
        """Add the step that a car has just driven to its episode."""
        if self.course.keeps_actions and episode.start == LINE:
            episode.actions.append(action)
        seen = engine.terminal_observations.get(car, engine.observations[car])
        episode.count_step(engine.infos[car], float(engine.rewards[car]), action, seen)
        episode.was_cut = bool(engine.truncated[car])

    def close(self) -> None:
        """End it; twice is fine."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def _places(course: Course) -> list[Placement | None]:
    """Return where each car starts, those of all tracks in turn; a place at rest is that of the one moving."""
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


def _make_engine(course: Course, starts: Sequence[Placement | None]) -> Engine:
    most = max(course.laps, course.random_laps + 1) * max(course.patience) + 1
    limits = EpisodeLimits(most, course.config.episode.stillness_timeout_ticks)
    config = AiConfig(_visible(course.config.weights), limits)
    if course.bridge is not None:
        tracks = course.tracks
        return BridgeEngine(course.bridge, tracks, len(starts), config, starts.__getitem__, may_restart=False)
    known = [track for track in course.tracks if isinstance(track, Track)]
    return SimulatorEngine(known, len(starts), config, starts.__getitem__)


def _visible(weights: RewardWeights) -> RewardWeights:
    """Return weights that show in the reward's components when a car is off the road, also where that costs nothing."""
    if weights.off_track_penalty != 0:
        return weights
    return dataclasses.replace(weights, off_track_penalty=-IMPERCEPTIBLE)


def without_time_for_a_lap(tracks: Sequence[AnyTrack], config: AiConfig) -> list[str]:
    """Return a sentence for each track on which ``maxSteps`` ends every episode before a lap is possible."""
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
