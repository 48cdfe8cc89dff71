"""A beat by the wall clock: how many frames have become due, and whether they are made in time."""

import time
from collections import deque
from collections.abc import Callable

MAX_DUE = 10  # frames that may be made up for; what is later than that is left out
SPAN = 2.0  # seconds over which the pace is measured


class Metronome:
    """Says when a frame is due. It keeps the average pace, whatever a single wait costs."""

    def __init__(
        self, now: Callable[[], float] = time.perf_counter, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        """Begin with the first wait; ``now`` and ``sleep`` are the clock, in seconds."""
        self._now = now
        self._sleep = sleep
        self._due = 0.5  # frames; half a frame of reserve, so that a wait may be a little short or long
        self._last: float | None = None
        self._made: deque[tuple[float, float]] = deque()  # when a wait ended, and the frames that it gave, in seconds

    def wait(self, fps: float, most: int = MAX_DUE) -> int:
        """Wait until a frame is due.

        Args:
            fps: Frames a second.
            most: Most frames that the caller makes at once.

        Returns:
            Number of frames that the caller makes now, from 1 to ``most``. The others remain due.
        """
        if self._last is None:
            self._last = self._now() - 1 / fps
        self._pass_time(fps)
        if self._due < 1.5:
            self._sleep((1.5 - self._due) / fps)
            self._pass_time(fps)
        frames = min(max(int(self._due), 1), most)
        self._due = min(self._due - frames, MAX_DUE)
        self._made.append((self._last, frames / fps))
        while self._made[-1][0] - self._made[0][0] > SPAN:
            self._made.popleft()
        return frames

    @property
    def pace(self) -> float:
        """Seconds of frames made in a second of real time, over the last two seconds; 1 as long as it is not known."""
        passed = self._made[-1][0] - self._made[0][0] if self._made else 0.0
        if passed < SPAN / 2:
            return 1.0
        return sum(seconds for _, seconds in list(self._made)[1:]) / passed

    def _pass_time(self, fps: float) -> None:
        assert self._last is not None
        now = self._now()
        self._due += (now - self._last) * fps
        self._last = now
