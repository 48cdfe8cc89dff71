"""Whether a bridge and the embedded simulator agree: every number of the same drives, compared."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from racer_env.bridge.bridge import Bridge
from racer_env.bridge.client import BridgeClient
from racer_env.config import AiConfig
from racer_env.contract import (
    OBSERVATION_NAMES,
    RAY_COUNT,
    RAYS,
    STEP_INFO,
    STEP_INFO_KEYS,
    EpisodeLimits,
    RewardWeights,
)
from racer_env.errors import TrackError
from racer_env.physics import load_physics
from racer_env.printable import MAX_NAME, printable
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import reset_info
from racer_env.tracks import Track
from racer_env.tracks.starts import standing_start
from training.console.messages import count_of, say
from training.drivers.scripted import scripted_driver
from training.engines.roads import seen_difference
from training.engines.speed_options import HOLD_TICKS

FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-9
NEAR_TIE = 1e-5  # laps; the search for the nearest centre-line point is finer than that
NOISE = 0.1  # standard deviation of the noise on the scripted driver's actions

# All weights differ and none is 0, so that mixed-up components show.
_WEIGHTS = {
    field.name: -(index + 1) / 1000 if field.name.endswith("_penalty") else (index + 1) / 200
    for index, field in enumerate(dataclasses.fields(RewardWeights))
    if field.name.endswith(("_penalty", "_bonus"))
}
CONFIG = AiConfig(RewardWeights(**_WEIGHTS), EpisodeLimits(max_steps=1500, stillness_timeout_ticks=120))
# Names of what is compared; an observation's speed differs from the reward component of that name.
_IN_WORDS = tuple(name.replace("_", " ") for name in OBSERVATION_NAMES)
OBSERVED = (*_IN_WORDS[RAYS], *(f"observed {name}" for name in _IN_WORDS[RAY_COUNT:]))
CONTINUOUS_INFO = tuple(field.name for field in STEP_INFO if field.type is float)
DISCRETE_INFO = tuple(field.name for field in STEP_INFO if field.type is not float)
CONTINUOUS = (*OBSERVED, *CONTINUOUS_INFO, "reward")
DISCRETE = (*DISCRETE_INFO, "terminated", "truncated")
QUANTITIES = (*CONTINUOUS, *DISCRETE)


@dataclass
class Comparison:
    """The result so far of a comparison on one track.

    Attributes:
        episodes, ticks, laps: Number of each that was driven.
        ties: Ticks that were skipped because two points of the centre line were equally near.
        largest: Largest absolute difference of each continuous quantity, by name; NaN counts as infinite.
        first_discrete: Where a discrete quantity first differs, in words; None if none does.
        another_track: How the bridge's track differs, in words; None if it seems to be the same.
    """

    episodes: int = 0
    ticks: int = 0
    laps: int = 0
    ties: int = 0
    largest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CONTINUOUS, 0.0))
    first_discrete: str | None = None
    another_track: str | None = None

    @property
    def is_equal(self) -> bool:
        """Whether all quantities agree."""
        agrees = max(self.largest.values()) <= TOLERANCE and self.first_discrete is None
        return agrees and self.another_track is None

    def add(self, embedded: FloatArray, bridge: FloatArray) -> None:
        """Add an episode to the comparison.

        Args:
            embedded, bridge: (1 + T, 30) results of each engine for the reset and the same actions, in the order of
                QUANTITIES.
        """
        self.episodes += 1
        self.ticks += len(embedded) - 1
        self.laps += int(embedded[-1, QUANTITIES.index("lap")]) - 1
        differences = np.abs(embedded - bridge)
        differences[np.isnan(differences)] = np.inf
        self._pass_over_tie(differences)
        for name, worst in zip(CONTINUOUS, differences.max(axis=0), strict=False):
            self.largest[name] = max(self.largest[name], float(worst))
        wrong = differences[:, len(CONTINUOUS) :] > 0
        if wrong.any() and self.first_discrete is None:
            tick = int(np.argmax(wrong.any(axis=1)))
            column = len(CONTINUOUS) + int(np.argmax(wrong[tick]))
            self.first_discrete = (
                f"{QUANTITIES[column]} differs first, on tick {tick} of episode {self.episodes}: "
                f"{bridge[tick, column]:g} against {embedded[tick, column]:g} in the simulator"
            )

    def _pass_over_tie(self, differences: FloatArray) -> None:
        """Forgive one tick of an episode on which two points of the centre line are equally near.

        The search for the nearest point then depends on the last bit of the position, and either point is right. The
        difference shows in the arc length of that tick, and in the progress of that tick and the next.
        """
        arc_length, distance = (QUANTITIES.index(f"observed {what}") for what in ("arc length", "centre distance"))
        off = (differences[:, arc_length] > TOLERANCE) & (differences[:, arc_length] < NEAR_TIE)
        ties = np.flatnonzero(off & (differences[:, distance] <= TOLERANCE))
        if len(ties) == 1:
            self.ties += 1
            for name in ("observed arc length", "progress", "reward"):
                differences[ties[0] : ties[0] + 2, QUANTITIES.index(name)] = 0.0


def has_same_physics(bridge: Bridge) -> bool:
    """Return whether a bridge has the physics used here, as far as it reports them; say so if it has others."""
    ours, theirs = load_physics().fingerprint, bridge.peer.physics
    if theirs is None or theirs == ours:
        return True
    say(f"the bridge has other physics: {theirs} against {ours} here")
    return False


def compare_track(bridge: Bridge, track: Track, episodes: int, seed: int) -> Comparison:
    """Drive the same actions on both engines, and compare every number.

    Args:
        bridge: The bridge to compare.
        track: Track to drive on; the bridge must have a track of its id.
        episodes: Number of episodes, alternately with random actions and with those of a scripted driver.
        seed: Seed of the actions.

    Raises:
        BridgeError: The bridge fails.
        TrackError: The bridge has no such track.
    """
    result = Comparison(another_track=_described_difference(bridge, track))
    if result.another_track is not None:
        return result
    simulator, random = Simulator([track], 1, CONFIG), np.random.default_rng(seed)
    with (
        BridgeClient(bridge.urls[0]) as client,
        # None shows the bar in a terminal only.
        tqdm(total=episodes, desc=printable(track.id, MAX_NAME), unit="episode", disable=None) as bar,
    ):
        for episode in range(episodes):
            result.add(*_drive_both(client, simulator, random, has_driver=episode % 2 == 1))
            bar.set_postfix_str(f"{result.ticks:,} ticks, difference {max(result.largest.values()):.0e}")
            bar.update()
        if not result.is_equal:
            result.another_track = seen_difference(client, simulator, CONFIG, TOLERANCE)
    return result


def _described_difference(bridge: Bridge, track: Track) -> str | None:
    """Compare a track with the bridge's description of its own, if it has one."""
    if not bridge.has_extensions:
        return None
    if track.id not in bridge.peer.tracks:
        raise TrackError(f"the bridge has no track {track.id!r}; it has: {', '.join(sorted(bridge.peer.tracks))}")
    return bridge.difference_from(track)


def _drive_both(
    client: BridgeClient, simulator: Simulator, random: np.random.Generator, has_driver: bool
) -> tuple[FloatArray, FloatArray]:
    """Drive an episode on both engines until it ends on either, and return the results of each, (1 + T, 30)."""
    simulator.place([0], [standing_start(simulator.tracks[0].geometry)])
    observation, begun = client.reset(simulator.tracks[0].id, CONFIG)
    embedded = [_reset_row(simulator.observations[0], reset_info(simulator.cars[0]))]
    bridge = [_reset_row(observation, begun)]
    action = np.zeros(3)
    for tick in range(CONFIG.episode.max_steps):
        if has_driver:
            action = scripted_driver(simulator.observations)[0] + random.normal(0.0, NOISE, 3)
        elif tick % HOLD_TICKS == 0:
            action = random.uniform((-1.2, -0.2, -0.6), (1.2, 1.2, 1.2))  # also beyond the bounds, to test clamping
        simulator.step(action[None])
        result = client.step(action)
        ends = (simulator.terminated[0], simulator.truncated[0])
        embedded.append(_row(simulator.observations[0], simulator.infos[0], simulator.rewards[0], ends))
        bridge.append(_row(result.observation, result.info, result.reward, (result.terminated, result.truncated)))
        if any(ends) or result.terminated or result.truncated:
            break
    return np.array(embedded, np.float64), np.array(bridge, np.float64)


def _row(observation: FloatArray, info: Any, reward: float, ends: tuple[bool, bool]) -> list[float]:
    """Return a step in the order of QUANTITIES."""
    continuous, discrete = ([info[name] for name in names] for names in (CONTINUOUS_INFO, DISCRETE_INFO))
    return [*observation, *continuous, reward, *discrete, *ends]


def _reset_row(observation: FloatArray, info: dict[str, Any]) -> list[float]:
    """Return a reset in the form of a step; quantities that it does not report are 0."""
    told = {**dict.fromkeys(STEP_INFO_KEYS, 0.0), **info, "speed": 0.0, "rawSpeed": info["speed"]}
    return _row(observation, told, 0.0, (False, False))


def format_comparison(track: Track, result: Comparison) -> list[str]:
    """Return lines of text with the result of a comparison."""
    if result.episodes == 0:
        return [f"the bridge's {track.id} is another track: {result.another_track}"]
    lines = [
        f"{track.id} ({track.name}): {count_of(result.episodes, 'episode')}, {count_of(result.ticks, 'tick')}, "
        f"{count_of(result.laps, 'lap')}, "
        f"{'equal' if result.is_equal else 'DIFFERENT'}"
    ]
    if result.another_track is not None:
        lines.append(f"  the bridge's {track.id} is another track: {result.another_track}")
    lines += [f"  {'quantity':<26}largest difference"]
    rays = max(result.largest[name] for name in OBSERVED[RAYS])
    rows = {"rays": rays, **{name: result.largest[name] for name in CONTINUOUS[RAY_COUNT:]}}
    lines += [f"  {name:<26}{worst:.1e}{'  <-' if worst > TOLERANCE else ''}" for name, worst in rows.items()]
    lines.append(f"  {result.first_discrete or 'discrete values are the same on every tick'}")
    if result.ties:
        lines.append(
            f"  passed over {count_of(result.ties, 'tick')} on which two points of the centre line are equally near"
        )
    return lines
