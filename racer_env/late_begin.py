"""Beginning episodes one step late, as Gymnasium's ``AutoresetMode.NEXT_STEP`` says."""

import numpy as np
import numpy.typing as npt

from racer_env.action_repeat import ActionRepeat, Decision, SingleTick
from racer_env.contract import checked_actions


class LateBegin:
    """Begins the next episode of a finished car in the step after, in which the car does nothing else.

    In the step that ends its episode, a car keeps its last observation. In the next one its action is ignored, its
    reward is 0, and the observation is the first of the new episode.
    """

    def __init__(self, decisions: SingleTick | ActionRepeat, num_cars: int) -> None:
        """Drive the ``num_cars`` cars of an engine that begins late."""
        self._decisions = decisions
        self._num_cars = num_cars
        self._finished: list[int] = []

    def begin(self) -> None:
        """Begin an episode for every car."""
        self._finished = []
        self._decisions.begin()

    def step(self, actions: npt.NDArray[np.floating]) -> Decision:
        """Drive by one decision; ``begun`` are the cars that begin an episode instead."""
        begun = self._finished
        decision = self._step_and_begin(actions, begun) if begun else self._decisions.step(actions)
        self._finished = list(decision.terminal_observations)
        observations = decision.observations.copy()
        for car, last in decision.terminal_observations.items():
            observations[car] = last  # with several ticks in a decision, a finished car has driven on
        return decision._replace(observations=observations, begun=tuple(begun))

    def _step_and_begin(self, actions: npt.NDArray[np.floating], begun: list[int]) -> Decision:
        actions = checked_actions(actions, self._num_cars).copy()
        actions[begun] = 0.0  # whatever these cars do now belongs to no episode
        decision = self._decisions.step(actions)
        for array in (decision.rewards, decision.terminated, decision.truncated, decision.infos):
            array[begun] = np.zeros((), array.dtype)
        for dictionary in (decision.terminal_observations, decision.crossings):
            for car in begun:
                dictionary.pop(car, None)
        self._decisions.begin_cars(begun)
        return decision
