"""Drive both engines where the last bit decides, and count what differs: ``python -m tests.provoke``.

Every car starts at a knife edge: with the last bit of its speed another one, it touches a wall a tick earlier, or stays
on the road, or passes another gate. It then goes on at random, mostly at walls, whose contacts make any difference
larger. The engines are the same to the last bit, so nothing may differ.
"""

import argparse
import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from racer_env.bridge.bridge import Bridge
from racer_env.bridge.engine import BridgeEngine
from racer_env.bridge.url import AUTO
from racer_env.contract import Placement
from racer_env.engine import Engine
from racer_env.errors import RacerError
from racer_env.simulator.engine import SimulatorEngine
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import ALL_TRACKS, Track, load_tracks
from racer_env.tracks.starts import random_placement, start_for
from tests.helpers import FloatArray, with_limits

LIMITS = with_limits(max_steps=400, stillness_timeout_ticks=60)
SLOW, FAST = 10.0, 150.0  # units/s, between which the edge is looked for
HALVINGS = 54  # until only neighbouring doubles are left
EDGE_TICKS = 30  # what happens in them depends on the last bit
HOLD_TICKS = 15
FLAGS = ("wall", "offTrack", "backward", "stillness")  # numbers that stand for yes or no


@dataclass
class Differences:
    """What two engines did differently.

    Attributes:
        ticks: Ticks of all cars.
        contacts: Those of them with a wall contact.
        numbers: Cars one of whose numbers ever differed, be it by a bit.
        discrete: Cars one of whose counters or flags ever differed.
        largest: Largest difference of a number.
    """

    ticks: int = 0
    contacts: int = 0
    numbers: int = 0
    discrete: int = 0
    largest: float = 0.0


def provoke(tracks: Sequence[Track], bridge: Bridge, cars: int, ticks: int, seed: int = 0) -> Differences:
    """Drive so many cars for so many ticks each on both engines."""
    random = np.random.default_rng(seed)
    held = random.uniform((-1.0, -0.2, -0.6), (1.0, 1.6, 1.0), (-(-ticks // HOLD_TICKS), cars, 3))
    actions = np.repeat(held, HOLD_TICKS, axis=0)
    placements = _find_edges(tracks, Simulator(tracks, cars, LIMITS), actions[:EDGE_TICKS], random)
    embedded = SimulatorEngine(tracks, cars, LIMITS, placements.__getitem__)
    over_bridge = BridgeEngine(bridge, tracks, cars, LIMITS, placements.__getitem__, may_restart=False)
    with contextlib.closing(over_bridge):
        return _compare(embedded, over_bridge, actions[:ticks])


def _find_edges(
    tracks: Sequence[Track], simulator: Simulator, actions: FloatArray, random: np.random.Generator
) -> list[Placement]:
    """Return starts anywhere on the road, in any direction, at the edge between two speeds."""
    cars = actions.shape[1]
    drawn = [random_placement(tracks[car % len(tracks)].geometry, random) for car in range(cars)]
    turned = [placement._replace(heading=random.uniform(-np.pi, np.pi)) for placement in drawn]
    starts = [start_for(simulator.track_of(car).geometry, placement) for car, placement in enumerate(turned)]

    def histories(speeds: FloatArray) -> npt.NDArray[np.int64]:
        placed = zip(starts, speeds.tolist(), strict=True)
        simulator.place(range(cars), [replace(start, speed=speed) for start, speed in placed])
        return _histories(simulator, actions)

    slow, fast = np.full(cars, SLOW), np.full(cars, FAST)
    of_slow = histories(slow)
    for _ in range(HALVINGS):
        middle = (slow + fast) / 2.0
        is_slow = histories(middle) == of_slow
        slow, fast = np.where(is_slow, middle, slow), np.where(is_slow, fast, middle)
    speeds = np.where(random.random(cars) < 0.5, slow, fast).tolist()
    return [placement._replace(speed=speed) for placement, speed in zip(turned, speeds, strict=True)]


def _histories(simulator: Simulator, actions: FloatArray) -> npt.NDArray[np.int64]:
    """Drive, and return for each car a number that stands for all that was counted or flagged."""
    history = np.zeros(len(simulator.cars), np.int64)
    for action in actions:
        simulator.step(action)
        infos = simulator.infos
        history = history * 31 + infos["checkpoint"] + 1000 * infos["wallContact"]
        for name in FLAGS:
            history = history * 2 + (infos[name] != 0.0)
    return history


def _compare(embedded: Engine, over_bridge: Engine, actions: FloatArray) -> Differences:
    """Drive the same actions on both engines."""
    cars = actions.shape[1]
    result = Differences(ticks=len(actions) * cars)
    numbers, discrete = np.zeros(cars, np.bool_), np.zeros(cars, np.bool_)
    embedded.begin()
    over_bridge.begin()
    for action in actions:
        embedded.step(action)
        over_bridge.step(action)
        result.contacts += int(embedded.infos["wallContact"].sum())
        for name, here, there in _pairs(embedded, over_bridge):
            difference = np.abs(here.astype(np.float64) - there).reshape(cars, -1).max(axis=1)
            numbers |= ~(difference == 0.0)  # which a NaN is not either
            result.largest = max(result.largest, float(difference.max()))
            if here.dtype != np.float64 or name in FLAGS:
                discrete |= here != there
    result.numbers, result.discrete = int(numbers.sum()), int(discrete.sum())
    return result


def _pairs(embedded: Engine, over_bridge: Engine) -> list[tuple[str, npt.NDArray[np.generic], npt.NDArray[np.generic]]]:
    """Return the name of all that a step tells, with what each engine told."""
    names = ("observations", "rewards", "terminated", "truncated")
    own = [(name, getattr(embedded, name), getattr(over_bridge, name)) for name in names]
    infos = [(name, embedded.infos[name], over_bridge.infos[name]) for name in embedded.infos.dtype.names or ()]
    return [*own, *infos]


def main(argv: Sequence[str] | None = None) -> int:
    """Provoke, and return 0 if the engines are the same to the last bit."""
    parser = argparse.ArgumentParser(prog="python -m tests.provoke", description=__doc__)
    parser.add_argument("--cars", type=int, default=2304, help="(default: %(default)s)")
    parser.add_argument("--ticks", type=int, default=450, help="of each car (default: %(default)s)")
    parser.add_argument("--track-id", nargs="+", default=[ALL_TRACKS], help="as for the scripts (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of starts and actions (default: %(default)s)")
    options = parser.parse_args(argv)
    try:
        tracks = load_tracks(options.track_id, None)
        with contextlib.closing(Bridge(AUTO, tracks=tracks)) as bridge:
            found = provoke(tracks, bridge, options.cars, options.ticks, options.seed)
    except RacerError as error:
        parser.error(str(error))
    print(
        f"{found.ticks:,} ticks of {options.cars:,} cars, {found.contacts:,} of them at a wall: numbers of "
        f"{found.numbers:,} cars differ, by up to {found.largest:.1e}, and discrete values of {found.discrete:,} cars"
    )
    return 1 if found.numbers or found.discrete else 0


if __name__ == "__main__":
    sys.exit(main())
