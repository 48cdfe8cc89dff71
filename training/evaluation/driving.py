"""Driving episodes of one or more courses side by side, in one batch of cars."""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from racer_env.engine import Engine
from racer_env.simulator.engine import SimulatorEngine
from training.evaluation.counting import Tally
from training.evaluation.episode import LINE, Episode
from training.evaluation.stress import Stress, Stressed

WORTH_LEAVING = 0.75  # share of the cars that still run, at which the others are left behind
TICKS_SHOWN = 20  # ticks between two looks at the progress bar

# Maps observations (N, 14) to actions (N, 3).
Policy = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.floating]]


class Group(NamedTuple):
    """Episodes that are driven under the same stress, by cars that follow each other.

    Attributes:
        episodes: The episodes, which are filled.
        patience: Most ticks that a lap may take, for each of them.
        stress: The noise and delay applied.
        seed: Seed of the noise.
        keeps_actions: Whether those from the line keep the actions, so that they can be recorded.
    """

    episodes: Sequence[Episode]
    patience: Sequence[int]
    stress: Stress
    seed: int
    keeps_actions: bool


def drive_together(
    engine: Engine, groups: Sequence[Group], policy: Policy, action_repeat: int, show: bool, is_reflex: bool = True
) -> None:
    """Drive all episodes of some groups, each as if alone.

    Args:
        engine: The cars, in the order of the groups.
        groups: The episodes.
        policy: The driver; it sees raw observations.
        action_repeat: Ticks that each action is held.
        show: Whether a terminal shows a progress bar of laps.
        is_reflex: Whether the driver has neither noise nor memory. Where many cars are done, the simulator then goes on
            with the others.

    Raises:
        BridgeError: The game cannot be reached, or the connection is lost.
    """
    field = _Field(engine, groups, is_reflex)
    engine.begin()
    disable = None if show else True  # None hides the bar where there is no terminal
    asked = sum(episode.laps_asked for episode in field.episodes)
    with tqdm(total=asked, unit="lap", disable=disable, leave=False) as bar:
        actions, ticks, left = None, 0, len(field.episodes)
        while left:
            if actions is None or ticks % action_repeat == 0:
                actions = policy(field.seen())
            elif len(actions) != len(field.cars):
                actions = actions[field.kept]
            ticks += 1
            left = field.step(actions)
            if ticks % TICKS_SHOWN == 0 and not bar.disable:
                bar.n = field.tally.laps
                bar.set_postfix_str(f"{ticks:,} ticks", refresh=False)
                bar.update(0)
    field.tally.settle()


class _Field:
    """The cars that still drive.

    Attributes:
        episodes: All episodes, by car.
        tally: Their counts.
        cars: Index of the car in each row of the engine.
        kept: Rows that were kept when the others were last left behind.
    """

    def __init__(self, engine: Engine, groups: Sequence[Group], may_leave: bool) -> None:
        self._may_leave = may_leave
        self.episodes = [episode for group in groups for episode in group.episodes]
        self.tally = Tally(self.episodes, [ticks for group in groups for ticks in group.patience])
        self.cars = self.kept = np.arange(len(self.episodes))
        self._engine = engine
        self._running = np.ones(len(self.episodes), np.bool_)
        self._stressed = [Stressed(group.stress, group.seed, len(group.episodes)) for group in groups]
        self._firsts = np.cumsum([0, *(len(group.episodes) for group in groups)])
        self._recorded = [
            (car, self.episodes[car].actions)
            for group, first in zip(groups, self._firsts.tolist(), strict=False)
            for car, episode in enumerate(group.episodes, first)
            if group.keeps_actions and episode.start == LINE
        ]
        self._split()

    def _split(self) -> None:
        """Note which rows of the engine belong to which group."""
        bounds = np.searchsorted(self.cars, self._firsts).tolist()
        self._parts = [slice(first, last) for first, last in itertools.pairwise(bounds)]
        self._blurred = [each for each in zip(self._stressed, self._parts, strict=True) if each[0].blurs]
        self._rows = {car: row for row, car in enumerate(self.cars.tolist())}

    def seen(self) -> npt.NDArray[np.float32]:
        """Return what the drivers see."""
        observations = self._engine.observations.astype(np.float32)
        for stressed, part in self._blurred:
            observations[part] = stressed.seen(observations[part])
        return observations

    def step(self, actions: npt.NDArray[np.floating]) -> int:
        """Drive a tick with the actions (N, 3) that the drivers chose, and return how many cars still run."""
        engine = self._engine
        driven = [stressed.done(actions[part]) for stressed, part in zip(self._stressed, self._parts, strict=True)]
        done = np.asarray(driven[0] if len(driven) == 1 else np.concatenate(driven), np.float64)
        engine.step(done)
        observations = engine.observations
        if engine.terminal_observations:
            observations = observations.copy()
            for row, observation in engine.terminal_observations.items():
                observations[row] = observation
        for car, actions_kept in self._recorded:
            row = self._rows.get(car, -1)
            if row >= 0 and self._running[row]:
                actions_kept.append(done[row])
        ends = (engine.terminated, engine.truncated)
        left = self.tally.add(self.cars, self._running, engine.infos, engine.rewards, done, observations, *ends)
        if self._may_leave and isinstance(engine, SimulatorEngine) and 0 < left <= WORTH_LEAVING * len(self.cars):
            self._leave_behind(engine)
        return left

    def _leave_behind(self, engine: SimulatorEngine) -> None:
        """Go on with the cars that still run."""
        self.kept = np.flatnonzero(self._running)
        for stressed, part in zip(self._stressed, self._parts, strict=True):
            stressed.keep(np.flatnonzero(self._running[part]))
        self._engine, self.cars = engine.only(self.kept), self.cars[self.kept]
        self._running = np.ones(len(self.cars), np.bool_)
        self._split()
