"""A run's log, read back from its TensorBoard events."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator

from racer_env.errors import RunError
from training.console.messages import without_warnings_of

FloatArray = npt.NDArray[np.float64]

# A gap between two points is a pause if it is this many times longer than most, and longer than this many seconds.
PAUSE_FACTOR, SHORTEST_PAUSE = 50.0, 60.0


@dataclass(frozen=True)
class Curve:
    """A figure over the course of a run.

    Attributes:
        steps: (n,) environment steps, increasing.
        minutes: (n,) minutes of training since the run began, without the time between its parts.
        values: (n,) finite values of the figure.
    """

    steps: FloatArray
    minutes: FloatArray
    values: FloatArray


class RunLog:
    """The scalars of a run's events; if the run was resumed, of all its parts."""

    def __init__(self, folder: Path) -> None:
        """Read the events in a folder.

        Raises:
            RunError: There are no events, or none can be read.
        """
        if not any(folder.glob("events.out.tfevents.*")):
            raise RunError(f"no TensorBoard events in {folder}; expected the folder of a run, as training makes it")
        self._events = EventAccumulator(str(folder), size_guidance={SCALARS: 0})
        with without_warnings_of("tensorboard"):  # it warns of points that a resumed run has hidden on purpose
            self._events.Reload()
        self.tags: list[str] = sorted(self._events.Tags()["scalars"])
        if not self.tags:
            raise RunError(f"the TensorBoard events in {folder} hold no figures: damaged, or nothing was trained")
        self._clock = self._make_clock()
        self._pace = self._make_pace()

    def curve(self, tag: str) -> Curve | None:
        """Return the curve of a tag; None if the run has no such tag, or no finite value for it."""
        if tag not in self.tags:
            return None
        events = self._events.Scalars(tag)
        rows = [(event.step, event.wall_time, event.value) for event in events]
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)  # a run that went on from earlier may have none left
        table = table[np.isfinite(table).all(axis=1)]
        table = table[np.argsort(table[:, 0], kind="stable")]
        if not len(table):
            return None
        return Curve(table[:, 0], np.interp(table[:, 1], *self._clock), table[:, 2])

    @property
    def minutes(self) -> float:
        """Total minutes of training."""
        return float(self._clock[1][-1])

    def minutes_at(self, steps: float) -> float:
        """Return the minutes of training at a step."""
        return float(np.interp(steps, *self._pace))

    def _make_pace(self) -> tuple[FloatArray, FloatArray]:
        """Return steps and the minutes of training by each."""
        points = {event.step: event.wall_time for tag in self.tags for event in self._events.Scalars(tag)}
        steps = np.array(sorted(points), dtype=np.float64)
        return steps, np.interp([points[step] for step in sorted(points)], *self._clock)

    def _make_clock(self) -> tuple[FloatArray, FloatArray]:
        """Return wall times and the minutes of training by each; pauses between the parts of a run do not count."""
        every = [event.wall_time for tag in self.tags for event in self._events.Scalars(tag)]
        times = np.unique(np.array(every or [0.0]))
        gaps = np.diff(times)
        longest = max(float(np.median(gaps)) * PAUSE_FACTOR, SHORTEST_PAUSE) if len(gaps) else 0.0
        return times, np.concatenate([[0.0], np.cumsum(np.where(gaps > longest, 0.0, gaps))]) / 60.0
