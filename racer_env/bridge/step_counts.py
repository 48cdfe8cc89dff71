"""Whether a game's steps follow each other: a reply that is repeated, stale or of another step is noticed."""

import numpy as np
import numpy.typing as npt

from racer_env.bridge.messages import StepResult, StepResults
from racer_env.errors import BridgeProtocolError

KEY = "stepCount"
UNKNOWN = -1  # before an episode's first step


class StepCounts:
    """The last ``stepCount`` of every car on a connection, which has to rise with every step of an episode."""

    def __init__(self) -> None:
        self._last = UNKNOWN
        self._last_of_many: npt.NDArray[np.int64] | int = UNKNOWN

    def begin(self) -> None:
        """Expect the first step of an episode of every car."""
        self._last = UNKNOWN
        self._last_of_many = UNKNOWN

    def checked(self, result: StepResult) -> StepResult:
        """Return one car's step.

        Raises:
            BridgeProtocolError: The count has not risen.
        """
        count = result.info[KEY]
        if count <= self._last:
            raise _standing_still("", self._last, count)
        self._last = count
        return result

    def checked_many(self, results: StepResults) -> StepResults:
        """Return a step of many cars; those that have finished begin anew.

        Raises:
            BridgeProtocolError: A count has not risen.
        """
        counts = results.infos[KEY].astype(np.int64)
        is_wrong = counts <= self._last_of_many
        if is_wrong.any():
            car = int(is_wrong.argmax())
            raise _standing_still(f" of car {car}", np.broadcast_to(self._last_of_many, counts.shape)[car], counts[car])
        counts[list(results.finished)] = UNKNOWN
        self._last_of_many = counts
        return results


def _standing_still(whose: str, before: int, now: int) -> BridgeProtocolError:
    return BridgeProtocolError(
        f"step_result.info.{KEY}{whose} must rise with every step of an episode, got {now} after {before}; "
        "is a reply repeated, or out of order?"
    )
