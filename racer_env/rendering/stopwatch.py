"""Lap times of a car while it drives, from the numbers in its infos."""

from racer_env.contract import TICKS_PER_SECOND


class Stopwatch:
    """Times the laps of one car; as in ``RacerEnv``, lap 0 is the stretch to the line after a start elsewhere.

    Attributes:
        lap: Number of the running lap.
        last, best: Seconds of the last and of the fastest completed lap, or None.
    """

    def __init__(self) -> None:
        self.begin(1)

    def begin(self, lap: int) -> None:
        """Begin an episode on that lap; the best lap is forgotten."""
        self.lap = lap
        self.last: float | None = None
        self.best: float | None = None
        self._since = 0
        self._ticks = 0

    def see(self, lap: int, step_count: int) -> None:
        """Take a tick's lap number and step count."""
        self._ticks = step_count
        if lap == self.lap:
            return
        if self.lap > 0:
            self.last = (step_count - self._since) / TICKS_PER_SECOND
            self.best = self.last if self.best is None else min(self.best, self.last)
        self.lap, self._since = lap, step_count

    @property
    def current(self) -> float | None:
        """Seconds of the running lap; None before the first crossing of the line after a start elsewhere."""
        return (self._ticks - self._since) / TICKS_PER_SECOND if self.lap > 0 else None
