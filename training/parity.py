"""See whether a bridge and the embedded simulator are one game: ``python -m training.parity --bridge-url URL``."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from racer_env.bridge.url import AUTO
from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits, RewardWeights
from racer_env.errors import ConfigError, TrackError
from racer_env.contract import DT, RAY_COUNT
from racer_env.physics import load_physics
from racer_env.tracks import ALL_TRACKS, Track, load_tracks
from training.bridges import add_bridge_argument, open_bridge
from training.cli import (
    ANSWER_IS_NO,
    DONE,
    MAX_SEED,
    Parser,
    add_track_arguments,
    count_of,
    leave,
    run_script,
    say,
    whole_number,
)
from training.loading import Preparation

if TYPE_CHECKING:
    from racer_env.bridge.bridge import Bridge
    from racer_env.bridge.client import BridgeClient

FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-9
NEAR_TIE = 1e-5  # laps; the search for the nearest point of the centre line is finer than that
HOLD_TICKS = 15  # ticks that a random action is held
NOISE = 0.1  # standard deviation of what is added to the scripted driver's actions
PROBE_TICKS = 40  # of full throttle from the line, to estimate a track's length
SAME_LENGTH = 1e-3  # relative error of that estimate, and more

# All weights differ and none is 0, so that a mixed-up component shows.
CONFIG = AiConfig(
    RewardWeights(
        progress=1.0,
        speed_bonus=0.01,
        wall_penalty=-0.002,
        off_track_penalty=-0.001,
        backward_penalty=-0.0005,
        stillness_penalty=-0.003,
    ),
    EpisodeLimits(max_steps=1500, stillness_timeout_ticks=120),
)
OBSERVATION_NAMES = (
    *(f"ray {index}" for index in range(RAY_COUNT)),
    *("observed speed", "observed yaw rate", "observed steer", "observed arc length", "observed centre distance"),
)
COMPONENTS = ("progress", "speed", "wall", "offTrack", "backward", "stillness")
CONTINUOUS = (*OBSERVATION_NAMES, *COMPONENTS, "rawSpeed", "reward")
DISCRETE = ("tick", "lap", "checkpoint", "stepCount", "wallContact", "stillnessCounter", "terminated", "truncated")
QUANTITIES = (*CONTINUOUS, *DISCRETE)


@dataclass
class Comparison:
    """What a comparison on one track has found so far.

    Attributes:
        episodes, ticks, laps: How much was driven.
        ties: Ticks that were passed over because two points of the centre line were equally near.
        largest: By name of a continuous quantity, the largest absolute difference; NaN counts as infinite.
        first_discrete: Where something discrete differs first, in words; None if nothing does.
        another_track: Why the bridge's track is another one, in words; None if it seems to be the same.
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
        """Whether everything agrees."""
        agrees = max(self.largest.values()) <= TOLERANCE and self.first_discrete is None
        return agrees and self.another_track is None

    def add(self, embedded: FloatArray, bridge: FloatArray) -> None:
        """Add an episode.

        Args:
            embedded, bridge: (1 + T, 30) what each engine made of the reset and of the same actions, in the order of
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

        The search for the nearest point then hangs on the last bit of the position, and either point is right. Its
        arc length shows on that tick, and in the progress of that tick and the next.
        """
        arc_length, distance = (QUANTITIES.index(f"observed {what}") for what in ("arc length", "centre distance"))
        off = (differences[:, arc_length] > TOLERANCE) & (differences[:, arc_length] < NEAR_TIE)
        ties = np.flatnonzero(off & (differences[:, distance] <= TOLERANCE))
        if len(ties) == 1:
            self.ties += 1
            for name in ("observed arc length", "progress", "reward"):
                differences[ties[0] : ties[0] + 2, QUANTITIES.index(name)] = 0.0


def make_parser() -> Parser:
    """Return the command line."""
    parser = Parser(
        prog="python -m training.parity",
        description="Drive the same actions over a bridge and in the embedded simulator, and compare every number. "
        "Exit code 0: equal, 1: different, 2: could not run.",
    )
    add_bridge_argument(parser, f"'{AUTO}'")
    add_track_arguments(parser, "all of --tracks-dir", has_config=False)
    parser.add_argument(
        "--episodes",
        type=whole_number(1, 10_000),
        default=6,
        help="per track, by turns with random actions and with a scripted driver's (default: 6)",
    )
    parser.add_argument("--seed", type=whole_number(0, MAX_SEED), default=0, help="of the actions (default: 0)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_compare, make_parser().parse_args(argv))


def _compare(arguments: argparse.Namespace) -> int:
    tracks = load_tracks(arguments.track_id or [ALL_TRACKS], arguments.tracks_dir)
    with open_bridge(arguments, default=AUTO, any_physics=True) as bridge:
        if bridge is None or len(bridge.urls) != 1:
            raise ConfigError("--bridge-url must be one bridge, which is compared with the embedded simulator")
        same_physics = _compare_physics(bridge)
        with Preparation(tracks[0]):
            pass
        results = [_compare_track(bridge, track, arguments.episodes, arguments.seed) for track in tracks]
    for track, result in zip(tracks, results, strict=True):
        for line in format_comparison(track, result):
            say(line)
    is_equal = same_physics and all(result.is_equal for result in results)
    say("equal: the bridge and the simulator are one game" if is_equal else "different")
    return DONE if is_equal else ANSWER_IS_NO


def _compare_physics(bridge: "Bridge") -> bool:
    ours, theirs = load_physics().fingerprint, bridge.peer.physics
    if theirs is None or theirs == ours:
        return True
    say(f"the bridge has other physics: {theirs} against {ours} here")
    return False


def _compare_track(bridge: "Bridge", track: Track, episodes: int, seed: int) -> Comparison:
    from tqdm import tqdm

    from racer_env.bridge.client import BridgeClient
    from racer_env.simulator.simulator import Simulator

    result = Comparison(another_track=_described_difference(bridge, track))
    if result.another_track is not None:
        return result
    simulator, random = Simulator([track], 1, CONFIG), np.random.default_rng(seed)
    with (
        BridgeClient(bridge.urls[0]) as client,
        # Only in a terminal.
        tqdm(total=episodes, desc=track.id, unit="episode", disable=None) as bar,
    ):
        for episode in range(episodes):
            result.add(*_drive_both(client, simulator, random, has_driver=episode % 2 == 1))
            bar.set_postfix_str(f"{result.ticks:,} ticks, difference {max(result.largest.values()):.0e}")
            bar.update()
        if not result.is_equal:
            result.another_track = _seen_difference(client, simulator)
    return result


def _described_difference(bridge: "Bridge", track: Track) -> str | None:
    """Compare a track with what the bridge says about its own, if it says anything."""
    if not bridge.has_extensions:
        return None
    if track.id not in bridge.peer.tracks:
        raise TrackError(f"the bridge has no track {track.id!r}; it has: {', '.join(sorted(bridge.peer.tracks))}")
    theirs = bridge.peer.tracks[track.id]
    if theirs.fingerprint == track.fingerprint:
        return None
    return f"total length {theirs.length:,.3f} against {track.length:,.3f} units"


def _drive_both(
    client: "BridgeClient", simulator: Any, random: np.random.Generator, has_driver: bool
) -> tuple[FloatArray, FloatArray]:
    """Drive an episode on both engines, until it ends on either, and return what each made of it, (T, 30)."""
    from racer_env.tracks.starts import standing_start
    from racer_env.spaces import reset_info
    from training.driver import scripted_driver

    simulator.place([0], [standing_start(simulator.tracks[0].geometry)])
    observation, begun = client.reset(simulator.tracks[0].id, CONFIG)
    embedded = [_reset_row(simulator.observations[0], reset_info(simulator.cars[0]))]
    bridge = [_reset_row(observation, begun)]
    action = np.zeros(3)
    for tick in range(CONFIG.episode.max_steps):
        if has_driver:
            action = scripted_driver(simulator.observations)[0] + random.normal(0.0, NOISE, 3)
        elif tick % HOLD_TICKS == 0:
            action = random.uniform((-1.2, -0.2, -0.6), (1.2, 1.2, 1.2))  # beyond the bounds, which clamp
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
    names = (*COMPONENTS, "rawSpeed")
    counts = DISCRETE[: -len(ends)]
    return [*observation, *(info[name] for name in names), reward, *(info[name] for name in counts), *ends]


def _reset_row(observation: FloatArray, info: dict[str, Any]) -> list[float]:
    """Return a reset as if it were a step; what it does not tell is 0."""
    told = {**dict.fromkeys((*COMPONENTS, *DISCRETE), 0.0), **info, "speed": 0.0, "rawSpeed": info["speed"]}
    return _row(observation, told, 0.0, (False, False))


def _seen_difference(client: "BridgeClient", simulator: Any) -> str | None:
    """Look whether the tracks differ, as far as driving shows it: by length, or by what is seen from the line."""
    from racer_env.tracks.starts import standing_start

    track = simulator.tracks[0]
    throttle = np.array([0.0, 1.0, 0.0])
    first_there, _ = client.reset(track.id, CONFIG)
    simulator.place([0], [standing_start(track.geometry)])
    first_here = simulator.observations[0].copy()
    moved = np.zeros(2)  # here, there
    progress = np.zeros(2)
    for _ in range(PROBE_TICKS):
        simulator.step(throttle[None])
        there, here = client.step(throttle).info, simulator.infos[0]
        moved += np.array([here["rawSpeed"], there["rawSpeed"]]) * DT
        progress += np.array([here["progress"], there["progress"]])
    if (progress > 0).all():
        # What the way along the line makes of the way driven is the same on both, nearly.
        length = track.length * (moved[1] / progress[1]) / (moved[0] / progress[0])
        if abs(length / track.length - 1) > SAME_LENGTH:
            return f"total length about {length:,.0f} against {track.length:,.0f} units, estimated from a drive"
    wrong = np.flatnonzero(~(np.abs(first_there - first_here) <= TOLERANCE))
    if len(wrong):
        name = OBSERVATION_NAMES[wrong[0]]
        return f"from the start line, {name} is {first_there[wrong[0]]:.6g} against {first_here[wrong[0]]:.6g}"
    return None


def format_comparison(track: Track, result: Comparison) -> list[str]:
    """Return the lines that say what a comparison has found."""
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
    rays = max(result.largest[name] for name in OBSERVATION_NAMES[:RAY_COUNT])
    rows = {"rays": rays, **{name: result.largest[name] for name in CONTINUOUS[RAY_COUNT:]}}
    lines += [f"  {name:<26}{worst:.1e}{'  <-' if worst > TOLERANCE else ''}" for name, worst in rows.items()]
    lines.append(f"  {result.first_discrete or 'discrete values are the same on every tick'}")
    if result.ties:
        lines.append(
            f"  passed over {count_of(result.ties, 'tick')} on which two points of the centre line are equally near"
        )
    return lines


if __name__ == "__main__":
    leave(main())
