"""From a driver's decision to the engine's ticks: one tick for each action, or several under one."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from racer_env.contract import REWARD_COMPONENTS, STEP_INFO
from racer_env.engine import Engine

# How an info's fields are merged over the ticks of a decision: components are summed, flags are true if they were
# true on any tick, and everything else is taken from the last tick.
SUMMED = REWARD_COMPONENTS
ANY = tuple(field.name for field in STEP_INFO if field.type is bool)
LATEST = tuple(field.name for field in STEP_INFO if field.name not in (*SUMMED, *ANY))


class Decision(NamedTuple):
    """What N cars did between two decisions of their driver.

    Attributes:
        observations: (N, 14) float64, as the engine has them after the last tick.
        rewards: (N,) float64, summed over the ticks.
        terminated, truncated: (N,) bool, whether an episode ended on one of the ticks.
        infos: (N,) INFO_DTYPE: components summed, ``wallContact`` if on any tick, the rest from the last tick.
        terminal_observations: Last observation (14,) of each car whose episode ended, by car.
        crossings: ``stepCount`` of the tick on which ``lap`` changed, by car; only cars whose ``lap`` changed. Empty
            where a decision is a single tick.
        begun: The cars for which this was not a decision but the begin of an episode, see ``LateBegin``.
    """

    observations: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    infos: npt.NDArray[np.void]
    terminal_observations: dict[int, npt.NDArray[np.float64]]
    crossings: dict[int, int]
    begun: Sequence[int] = ()


class Decisions(Protocol):
    """What turns decisions into ticks of an engine."""

    def begin(self) -> None:
        """Begin an episode for every car."""

    def step(self, actions: npt.NDArray[np.floating]) -> Decision:
        """Drive by one decision with actions (N, 3); raises as ``Engine.step`` does."""


class SingleTick:
    """Drives an engine one tick for each action; what it returns are the engine's own arrays."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self) -> None:
        """Begin an episode for every car."""
        self._engine.begin()

    def begin_cars(self, cars: Sequence[int]) -> None:
        """Begin an episode for some cars."""
        self._engine.begin_cars(cars)

    def step(self, actions: npt.NDArray[np.floating]) -> Decision:
        """Drive by one tick."""
        engine = self._engine
        engine.step(actions)
        return Decision(
            engine.observations,
            engine.rewards,
            engine.terminated,
            engine.truncated,
            engine.infos,
            engine.terminal_observations,
            {},
        )


class ActionRepeat:
    """Drives an engine several ticks for each action.

    A car whose episode ends before the last tick has already begun the next one, unless it begins late, and coasts
    through the remaining ticks. These belong to no decision: neither their reward nor their info counts.
    """

    def __init__(self, engine: Engine, ticks: int) -> None:
        """Hold each action for ``ticks`` ticks, at least 2."""
        self._engine = engine
        self._ticks = ticks
        self._laps: npt.NDArray[np.int64] = np.zeros(len(engine.rewards), np.int64)

    def begin(self) -> None:
        """Begin an episode for every car."""
        self._engine.begin()
        self._note_begins(range(len(self._laps)))

    def begin_cars(self, cars: Sequence[int]) -> None:
        """Begin an episode for some cars."""
        self._engine.begin_cars(cars)
        self._note_begins(cars)

    def step(self, actions: npt.NDArray[np.floating]) -> Decision:
        """Hold the actions (N, 3) for all ticks of a decision; raises as ``Engine.step`` does."""
        engine = self._engine
        held = np.array(actions, dtype=np.float64)
        decision: Decision | None = None
        crossings: dict[int, int] = {}
        for _ in range(self._ticks):
            engine.step(held if decision is not None else actions)
            if decision is None:
                running = np.ones(len(held), np.bool_)
                decision = Decision(
                    engine.observations,
                    engine.rewards.copy(),
                    engine.terminated.copy(),
                    engine.truncated.copy(),
                    engine.infos.copy(),
                    dict(engine.terminal_observations),
                    crossings,
                )
            else:
                running = ~(decision.terminated | decision.truncated)
                _add(decision, engine, running)
            self._note_laps(crossings, running)
            held[decision.terminated | decision.truncated] = 0.0
        assert decision is not None
        return decision

    def _note_laps(self, crossings: dict[int, int], running: npt.NDArray[np.bool_]) -> None:
        engine = self._engine
        for car in np.flatnonzero(running & (engine.infos["lap"] != self._laps)).tolist():
            crossings[car] = int(engine.infos["stepCount"][car])
        np.copyto(self._laps, engine.infos["lap"], where=running)
        self._note_begins(engine.terminal_observations)

    def _note_begins(self, cars: Iterable[int]) -> None:
        for car in cars:
            self._laps[car] = self._engine.reset_infos[car]["lap"]


def _add(decision: Decision, engine: Engine, running: npt.NDArray[np.bool_]) -> None:
    """Add one tick of the cars whose episode is still the one in which the decision was made."""
    latest = engine.infos
    np.add(decision.rewards, engine.rewards, out=decision.rewards, where=running)
    for name in SUMMED:
        np.add(decision.infos[name], latest[name], out=decision.infos[name], where=running)
    for name in LATEST:
        np.copyto(decision.infos[name], latest[name], where=running)
    for name in ANY:
        decision.infos[name] |= latest[name] & running
    decision.terminated[:] |= engine.terminated & running
    decision.truncated[:] |= engine.truncated & running
    for car, observation in engine.terminal_observations.items():
        if running[car]:
            decision.terminal_observations[car] = observation
