"""How a driver steers and whether it keeps moving: what makes it worth watching."""

from collections import deque

HYSTERESIS = 0.05  # of the steering in [-1, 1]; smaller moves are no change of mind
STALL_SECONDS, STALL_UNITS = 3.0, 3.0  # who gets on by less than so many units in so many seconds has stalled


class SignChanges:
    """Counts how often a number goes from one side of 0 to the other, by more than the hysteresis.

    Attributes:
        count: How often so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._side = 0

    def see(self, value: float) -> None:
        """Take the next number."""
        side = (value > HYSTERESIS) - (value < -HYSTERESIS)
        if side and side == -self._side:
            self.count += 1
        self._side = side or self._side


class Reversals:
    """Counts how often a number that went up goes down, or the other way round, by more than the hysteresis.

    Attributes:
        count: How often so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._direction = 0
        self._turn: float | None = None  # the farthest that it went in its direction

    def see(self, value: float) -> None:
        """Take the next number."""
        if self._turn is None:
            self._turn = value
        moved = value - self._turn
        if moved * self._direction > 0:
            self._turn = value
        elif abs(moved) > HYSTERESIS:
            self.count += self._direction != 0
            self._direction, self._turn = (1 if moved > 0 else -1), value


class Stalls:
    """Counts how often a car stops getting on along its track.

    Attributes:
        count: How often so far; a stall that lasts is one.
    """

    def __init__(self, length: float, ticks_per_second: int) -> None:
        """Begin.

        Args:
            length: Of the track, in units.
            ticks_per_second: Of the game.
        """
        self.count = 0
        self._length = length
        self._recent: deque[float] = deque(maxlen=int(STALL_SECONDS * ticks_per_second))
        self._share: float | None = None
        self._is_stalled = False

    def see(self, share: float) -> None:
        """Take where the car is now, as a share of the track's length in [0, 1]."""
        if self._share is not None:
            step = share - self._share
            self._recent.append((step - round(step)) * self._length)
        self._share = share
        is_full = len(self._recent) == self._recent.maxlen
        stalls = is_full and abs(sum(self._recent)) < STALL_UNITS
        self.count += stalls and not self._is_stalled
        self._is_stalled = stalls


class SteeringMeter:
    """Everything about the steering of one drive.

    Attributes:
        command, wheel: Changes of sign of what the driver asks for, and of what the car makes of it.
        reversals: Of the command.
        total_change: Sum of the absolute changes of the command from tick to tick.
    """

    def __init__(self) -> None:
        self.command = SignChanges()
        self.wheel = SignChanges()
        self.reversals = Reversals()
        self.total_change = 0.0
        self._before: float | None = None

    def see(self, command: float, wheel: float) -> None:
        """Take the steering of a tick: the command, and the smoothed steer after it, both in [-1, 1]."""
        command = min(max(command, -1.0), 1.0)
        self.command.see(command)
        self.wheel.see(wheel)
        self.reversals.see(command)
        if self._before is not None:
            self.total_change += abs(command - self._before)
        self._before = command
