"""Holding an action for several ticks, for drivers that decide less often than the game ticks."""

from typing import NamedTuple

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
        rewards: (N,) float64, summed over the ticks.
        terminated, truncated: (N,) bool, whether an episode ended on one of the ticks.
        infos: (N,) INFO_DTYPE: components summed, ``wallContact`` if on any tick, the rest from the last tick.
        terminal_observations: Last observation (14,) of each car whose episode ended, by car.
        crossings: ``stepCount`` of the tick on which ``lap`` changed, by car; only cars whose ``lap`` changed.
    """

    rewards: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    infos: npt.NDArray[np.void]
    terminal_observations: dict[int, npt.NDArray[np.float64]]
    crossings: dict[int, int]


class ActionRepeat:
    """Drives an engine several ticks for each action.

    A car whose episode ends before the last tick has already begun the next one, and coasts through the remaining
    ticks. These belong to no decision: neither their reward nor their info counts.
    """

    def __init__(self, engine: Engine, ticks: int) -> None:
        """Hold each action for ``ticks`` ticks, at least 2."""
        self._engine = engine
        self._ticks = ticks
        self._laps: npt.NDArray[np.int64] = np.zeros(len(engine.rewards), np.int64)

    def begin(self) -> None:
        """Begin an episode for every car."""
        self._engine.begin()
        self._laps[:] = [info["lap"] for info in self._engine.reset_infos]

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
        for car in engine.terminal_observations:
            self._laps[car] = engine.reset_infos[car]["lap"]


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
