"""How smoothly a driver steers and whether it keeps moving, which make it worth watching."""

from collections import deque

HYSTERESIS = 0.05  # steering in [-1, 1]; smaller moves do not count
STALL_SECONDS, STALL_UNITS = 3.0, 3.0  # a car that advances less than this in that time has stalled


class SignChanges:
    """Counts how often a number changes sign, by more than the hysteresis.

    Attributes:
        count: Number of changes so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._side = 0

    def see(self, value: float) -> None:
        """Process the next number."""
        side = (value > HYSTERESIS) - (value < -HYSTERESIS)
        if side and side == -self._side:
            self.count += 1
        self._side = side or self._side


class Reversals:
    """Counts how often a number turns from rising to falling or the other way round, by more than the hysteresis.

    Attributes:
        count: Number of reversals so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._direction = 0
        self._turn: float | None = None  # the extreme value in the current direction

    def see(self, value: float) -> None:
        """Process the next number."""
        if self._turn is None:
            self._turn = value
        moved = value - self._turn
        if moved * self._direction > 0:
            self._turn = value
        elif abs(moved) > HYSTERESIS:
            self.count += self._direction != 0
            self._direction, self._turn = (1 if moved > 0 else -1), value


class Stalls:
    """Counts how often a car stops making progress along its track.

    Attributes:
        count: Number of stalls so far; one that lasts counts once.
    """

    def __init__(self, length: float, ticks_per_second: int) -> None:
        """Begin at no stalls.

        Args:
            length: Length of the track, in units.
            ticks_per_second: Tick rate of the game.
        """
        self.count = 0
        self._length = length
        self._recent: deque[float] = deque(maxlen=int(STALL_SECONDS * ticks_per_second))
        self._share: float | None = None
        self._is_stalled = False

    def see(self, share: float) -> None:
        """Process the car's position as a share of the track's length in [0, 1]."""
        if self._share is not None:
            step = share - self._share
            self._recent.append((step - round(step)) * self._length)
        self._share = share
        is_full = len(self._recent) == self._recent.maxlen
        stalls = is_full and abs(sum(self._recent)) < STALL_UNITS
        self.count += stalls and not self._is_stalled
        self._is_stalled = stalls


class SteeringMeter:
    """All measures of the steering in one drive.

    Attributes:
        command, wheel: Changes of sign of the driver's steering, and of the smoothed steer of the car.
        reversals: Reversals of the driver's steering.
        total_change: Sum of the absolute changes of the driver's steering from tick to tick.
    """

    def __init__(self) -> None:
        self.command = SignChanges()
        self.wheel = SignChanges()
        self.reversals = Reversals()
        self.total_change = 0.0
        self._before: float | None = None

    def see(self, command: float, wheel: float) -> None:
        """Process a tick: the driver's steering, and the smoothed steer after it, both in [-1, 1]."""
        command = min(max(command, -1.0), 1.0)
        self.command.see(command)
        self.wheel.see(wheel)
        self.reversals.see(command)
        if self._before is not None:
            self.total_change += abs(command - self._before)
        self._before = command
