"""Lap times of a car while it drives, from the numbers in its infos."""

from racer_env.contract import TICKS_PER_SECOND


class Stopwatch:
    """Times the laps of one car; as in ``RacerEnv``, lap 0 is the stretch to the line after a start elsewhere.

    Attributes:
        lap: Number of the running lap.
        laps: Seconds of each completed lap, in order.
    """

    def __init__(self) -> None:
        self.begin(1)

    def begin(self, lap: int) -> None:
        """Begin an episode on that lap; those before it are forgotten."""
        self.laps: list[float] = []
        self.lap = lap
        self._restart(lap)

    def lose_lap(self) -> None:
        """Go on after the car has been put elsewhere: the running lap does not count, those completed do."""
        self.lap = 0
        self._restart(0)

    def _restart(self, game_lap: int) -> None:
        self._game_lap = game_lap  # differs from ``lap`` once a lap was lost, as the game counts anew then
        self._since = 0
        self._ticks = 0

    def see(self, lap: int, step_count: int) -> None:
        """Take a tick's lap number and step count."""
        self._ticks = step_count
        if lap == self._game_lap:
            return
        if self._game_lap > 0:
            self.laps.append((step_count - self._since) / TICKS_PER_SECOND)
        self.lap = self.lap + 1 if self.lap > 0 else len(self.laps) + 1
        self._game_lap, self._since = lap, step_count

    @property
    def last(self) -> float | None:
        """Seconds of the last completed lap; None without any."""
        return self.laps[-1] if self.laps else None

    @property
    def best(self) -> float | None:
        """Seconds of the fastest completed lap; None without any."""
        return min(self.laps, default=None)

    @property
    def current(self) -> float | None:
        """Seconds of the running lap; None before the first crossing of the line after a start elsewhere."""
        return (self._ticks - self._since) / TICKS_PER_SECOND if self._game_lap > 0 else None
