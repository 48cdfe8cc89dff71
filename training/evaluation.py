"""Driving a trained policy and measuring how it does, lap by lap."""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from racer_env.tracks import AnyTrack
from racer_env.bridge.bridge import Bridge
from racer_env.bridge.engine import BridgeEngine
from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits, RewardWeights
from racer_env.engine import Engine
from racer_env.errors import BridgeError
from racer_env.contract import TICKS_PER_SECOND
from racer_env.tracks import known_track
from racer_env.simulator.engine import SimulatorEngine
from racer_env.contract import Placement
from racer_env.tracks.starts import random_placement
from racer_env.tracks import Track
from training.smoothness import Stalls, SteeringMeter
from training.stress import NO_STRESS, Stress, Stressed

CUT_CORNERS = 0.8  # of the centre line's length; no racing line is shorter on any shipped track
IMPERCEPTIBLE = 1e-300  # added to a reward, it changes nothing
ASSUMED_LENGTH = 5_000.0  # units; of a track that its bridge does not describe
STEER, ARC_LENGTH = 11, 12  # in an observation
SLOWEST_PACE = 30.0  # units/s; an episode ends when a lap takes longer than at this pace
LINE, MOVING, STANDING = "line", "moving", "standing"  # how an episode starts: at the line, or anywhere

# From observations (N, 14) to actions (N, 3).
Policy = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.floating]]


@dataclass
class Episode:
    """One drive.

    Attributes:
        track_id: Where.
        laps_asked: How many laps it should drive, from line to line.
        start: LINE is the standing start, MOVING is anywhere on the move, and STANDING anywhere at rest.
        lap_ticks: Ticks of every completed lap.
        clean: For each of them, whether no wall was touched.
        steps: Ticks driven.
        wall_ticks: Ticks in contact with a wall.
        off_track_ticks: Ticks off the road.
        reward: Sum of the raw rewards.
        was_cut: Whether the game ended it by its own limit of steps.
        actions: The action of every tick, (3,); empty where the course keeps none.
        length: Of the track in units; None where only a bridge knows it.
        steering: How it steered.
        stalls: How often it stopped getting on.
        ticks_before: Until the line was crossed for the first time, after a start elsewhere.
    """

    track_id: str
    laps_asked: int
    start: str = LINE
    lap_ticks: list[int] = field(default_factory=list)
    clean: list[bool] = field(default_factory=list)
    steps: int = 0
    wall_ticks: int = 0
    off_track_ticks: int = 0
    reward: float = 0.0
    was_cut: bool = False
    actions: list[npt.NDArray[np.floating]] = field(default_factory=list, repr=False)
    length: float | None = None
    ticks_before: int = 0
    stalls: int = 0
    steering: SteeringMeter = field(default_factory=SteeringMeter, repr=False, compare=False)
    _stalls: Stalls | None = field(default=None, repr=False, compare=False)
    _touched: bool = False  # a wall, on the running lap

    def count_step(
        self,
        info: npt.NDArray[np.void],
        reward: float,
        action: npt.NDArray[np.floating],
        observation: npt.NDArray[np.floating],
    ) -> None:
        """Add the step that a car has just driven.

        Args:
            info: INFO_DTYPE record.
            reward: Sum of the components.
            action: (3,) that it was driven with.
            observation: (14,) after it.
        """
        self.steering.see(float(action[0]), float(observation[STEER]))
        if self._stalls is None:
            self._stalls = Stalls(self.length or ASSUMED_LENGTH, TICKS_PER_SECOND)
        self._stalls.see(float(observation[ARC_LENGTH]))
        self.stalls = self._stalls.count
        self.steps += 1
        self.wall_ticks += bool(info["wallContact"])
        self.off_track_ticks += info["offTrack"] != 0
        self.reward += reward
        self._touched |= bool(info["wallContact"])
        if info["lap"] == 0:
            self.ticks_before, self._touched = self.steps + 1, False
        elif info["lap"] - 1 > len(self.lap_ticks):
            self.lap_ticks.append(self.ticks_of_lap)
            self.clean.append(not self._touched)
            self._touched = False

    @property
    def ticks_of_lap(self) -> int:
        """Ticks since the running lap began."""
        return self.steps - self.ticks_before - sum(self.lap_ticks)

    @property
    def lap_times(self) -> list[float]:
        """Times of the completed laps, in seconds."""
        return [ticks / TICKS_PER_SECOND for ticks in self.lap_ticks]

    @property
    def clean_lap_ticks(self) -> list[int]:
        """Ticks of the laps that touched no wall."""
        return [ticks for ticks, is_clean in zip(self.lap_ticks, self.clean, strict=True) if is_clean]

    @property
    def is_clean(self) -> bool:
        """Whether all laps were driven and none touched a wall."""
        return len(self.clean) == self.laps_asked and all(self.clean)

    @property
    def is_success(self) -> bool:
        """Whether all laps were driven, no wall was touched from start to end, and it never stalled."""
        return len(self.lap_ticks) == self.laps_asked and not self.wall_ticks and not self.stalls


class Course:
    """Tracks with a car for each episode, to be driven again and again.

    An episode ends after its laps, by standing still, when a lap takes longer than at SLOWEST_PACE, or when the
    game ends it; ``maxSteps`` gives way to ``laps``.

    Attributes:
        tracks: Where; all episodes of all tracks drive side by side.
        laps: Per episode from the line.
        random_starts: Of each kind on each track.
    """

    def __init__(
        self,
        tracks: Sequence[AnyTrack],
        *,
        config: AiConfig,
        laps: int = 3,
        episodes: int = 1,
        bridge: Bridge | None = None,
        keeps_actions: bool = False,
        random_starts: int = 0,
        random_laps: int = 1,
        seed: int = 0,
    ) -> None:
        """Make it.

        Args:
            tracks: Where.
            config: Reward weights and the time-out for standing still.
            laps: Per episode from the line.
            episodes: From the line, per track.
            bridge: Where the game is; None is the embedded simulator.
            keeps_actions: Whether episodes keep the actions, to be recorded.
            random_starts: How many places on each track to start from too, on the move, and once more at rest.
            random_laps: Laps from each of these, after the way to the line.
            seed: Of these places, and of stress.
        """
        self.tracks = list(tracks)
        self.laps = laps
        self.random_starts = random_starts
        self._patience = [
            int((track.length if isinstance(track, Track) else ASSUMED_LENGTH) / SLOWEST_PACE * TICKS_PER_SECOND)
            for track in tracks
        ]  # ticks for a lap
        most = max(laps, random_laps + 1) * max(self._patience) + 1
        self._config = AiConfig(_visible(config.weights), EpisodeLimits(most, config.episode.stillness_timeout_ticks))
        self._bridge = bridge
        self._keeps_actions = keeps_actions
        self._seed = seed
        self._drives = [(LINE, laps)] * episodes + [(MOVING, random_laps), (STANDING, random_laps)] * random_starts
        self._starts = self._places()
        self._engine: Engine | None = None

    def _places(self) -> list[Placement | None]:
        """Return where each car starts, those of all tracks in turn; a place at rest is that of the one moving."""
        random = np.random.default_rng(self._seed)
        places: list[Placement | None] = []
        row: list[Placement] = []
        for kind, _ in self._drives:
            if kind == MOVING:
                row = [random_placement(known_track(track).geometry, random) for track in self.tracks]
            elif kind == STANDING:
                row = [place._replace(speed=0.0) for place in row]
            places.extend(row or [None] * len(self.tracks))
        return places

    def drive(
        self, policy: Policy, action_repeat: int = 1, show: bool = True, stress: Stress = NO_STRESS
    ) -> list[Episode]:
        """Drive all episodes; after an error, the next drive reaches the game anew.

        Args:
            policy: The driver; it sees raw observations.
            action_repeat: Ticks that each of its actions holds.
            show: Whether a terminal shows a bar with the laps.
            stress: What is done to it.

        Returns:
            The episodes, track by track, those from the line first.

        Raises:
            BridgeError: The game cannot be reached or is gone.
        """
        if self._engine is None:
            self._engine = _make_engine(self.tracks, self._config, self._starts, self._bridge)
        try:
            return self._drive(self._engine, policy, action_repeat, show, stress)
        except BridgeError:
            self.close()
            raise

    def _drive(self, engine: Engine, policy: Policy, action_repeat: int, show: bool, stress: Stress) -> list[Episode]:
        tracks = self.tracks
        results = [
            Episode(track.id, laps, start, length=track.length if isinstance(track, Track) else None)
            for start, laps in self._drives
            for track in tracks
        ]
        running = list(range(len(results)))
        stressed = Stressed(stress, self._seed)
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
                    if self._keeps_actions and results[index].start == LINE:
                        results[index].actions.append(done[index])
                    seen = engine.terminal_observations.get(index, engine.observations[index])
                    reward = float(engine.rewards[index])
                    results[index].count_step(engine.infos[index], reward, done[index], seen)
                    results[index].was_cut = bool(engine.truncated[index])
                bar.n = sum(len(result.lap_ticks) for result in results)
                bar.set_postfix_str(f"{results[running[0]].steps:,} ticks", refresh=False)
                bar.update(0)
                running = [
                    index
                    for index in running
                    if not (engine.terminated[index] or engine.truncated[index])
                    and len(results[index].lap_ticks) < results[index].laps_asked
                    and max(results[index].ticks_of_lap, results[index].ticks_before)
                    < self._patience[index % len(tracks)]
                ]
        return [episode for track in tracks for episode in results if episode.track_id == track.id]

    def close(self) -> None:
        """End it; twice is fine."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def drive(
    policy: Policy,
    tracks: Sequence[AnyTrack],
    *,
    config: AiConfig,
    laps: int = 3,
    episodes: int = 1,
    bridge: Bridge | None = None,
    action_repeat: int = 1,
    keeps_actions: bool = False,
    random_starts: int = 0,
    random_laps: int = 1,
    seed: int = 0,
    stress: Stress = NO_STRESS,
) -> list[Episode]:
    """Drive once; the arguments are those of ``Course`` and of its ``drive``."""
    course = Course(
        tracks,
        config=config,
        laps=laps,
        episodes=episodes,
        bridge=bridge,
        keeps_actions=keeps_actions,
        random_starts=random_starts,
        random_laps=random_laps,
        seed=seed,
    )
    with contextlib.closing(course):
        return course.drive(policy, action_repeat, stress=stress)


def _make_engine(
    tracks: Sequence[AnyTrack], config: AiConfig, starts: Sequence[Placement | None], bridge: Bridge | None
) -> Engine:
    if bridge is not None:
        return BridgeEngine(bridge, tracks, len(starts), config, starts.__getitem__, may_restart=False)
    known = [track for track in tracks if isinstance(track, Track)]
    return SimulatorEngine(known, len(starts), config, starts.__getitem__)


def _visible(weights: RewardWeights) -> RewardWeights:
    """Return weights that show in the reward's components when a car is off the road, also where that costs nothing."""
    if weights.off_track_penalty != 0:
        return weights
    return dataclasses.replace(weights, off_track_penalty=-IMPERCEPTIBLE)


def summarise(episodes: Sequence[Episode]) -> dict[str, float | int | None]:
    """Return the figures of some episodes as the table and the JSON output name them.

    Successes from random starts count apart; all other figures are of the episodes from the line.
    """
    anywhere = {kind: [e.is_success for e in episodes if e.start == kind] for kind in (MOVING, STANDING)}
    episodes = [episode for episode in episodes if episode.start == LINE]
    lap_times = [lap_time for episode in episodes for lap_time in episode.lap_times]
    steps = sum(episode.steps for episode in episodes)
    meters, seconds = [episode.steering for episode in episodes], steps / TICKS_PER_SECOND
    return {
        "episodes": len(episodes),
        "success": sum(episode.is_success for episode in episodes) / len(episodes),
        "laps": len(lap_times),
        "laps_asked": sum(episode.laps_asked for episode in episodes),
        "clean_laps": sum(sum(episode.clean) for episode in episodes),
        "completion": len(lap_times) / sum(episode.laps_asked for episode in episodes),
        "mean_lap_time_sec": float(np.mean(lap_times)) if lap_times else None,
        "best_lap_time_sec": min(lap_times) if lap_times else None,
        "std_lap_time_sec": float(np.std(lap_times)) if lap_times else None,
        "pace_units_per_sec": pace_of(episodes),
        "wall_contact_ticks": sum(episode.wall_ticks for episode in episodes),
        "off_track_share": sum(episode.off_track_ticks for episode in episodes) / steps,
        "mean_reward": float(np.mean([episode.reward for episode in episodes])),
        "steer_sign_changes_per_sec": sum(meter.command.count for meter in meters) / seconds,
        "wheel_sign_changes_per_sec": sum(meter.wheel.count for meter in meters) / seconds,
        "steer_reversals_per_sec": sum(meter.reversals.count for meter in meters) / seconds,
        "mean_steer_change": sum(meter.total_change for meter in meters) / steps,
        "stalls": sum(episode.stalls for episode in episodes),
        **{f"{kind}_start_success": sum(good) / len(good) if good else None for kind, good in anywhere.items()},
    }


def pace_of(episodes: Sequence[Episode]) -> float | None:
    """Return length over lap time of all laps, in units/s; None where there is none, or a length is not known."""
    units, seconds = 0.0, 0.0
    for episode in episodes:
        if episode.length is None:
            return None
        units += episode.length * len(episode.lap_ticks)
        seconds += sum(episode.lap_times)
    return units / seconds if seconds else None


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
