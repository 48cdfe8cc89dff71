"""How far cars have come, and the time between two of them."""

import math

CELL = 2.0  # units of progress that share an entry


class Progress:
    """How far one car has come since its start, and when it first came how far.

    Attributes:
        distance: Units along the centre line since the line was first left; below 0 behind it, and after a lost lap.
        tick: Ticks driven.
    """

    def __init__(self, length: float, arc_length: float) -> None:
        """Begin at an arc length on a track of a length, both in units; the last half of a lap is before the line."""
        self.tick = 0
        self.distance = arc_length - length if arc_length > length / 2 else arc_length
        self._length = length
        self._arc_length = arc_length
        self._reached: list[int] = []  # tick at which each cell of progress was first reached

    def see(self, arc_length: float) -> None:
        """Take a tick, after which the car is at an arc length."""
        self.tick += 1
        half = self._length / 2
        self.distance += (arc_length - self._arc_length + half) % self._length - half
        self._arc_length = arc_length
        cells = math.floor(self.distance / CELL) + 1
        self._reached.extend([self.tick] * (cells - len(self._reached)))

    def lose_lap(self, arc_length: float, laps: int) -> None:
        """Note that the car has been put at an arc length, before the line that begins its next lap.

        Args:
            arc_length: Where it is now, in units.
            laps: Number of laps that it has completed.
        """
        self._arc_length = arc_length
        self.distance = (laps - 1) * self._length + arc_length
        del self._reached[max(math.floor(self.distance / CELL) + 1, 0) :]

    def tick_at(self, distance: float) -> int | None:
        """Return the tick at which a distance was first reached; None where it was not, or lies before the start."""
        cell = math.floor(distance / CELL)
        return self._reached[cell] if 0 <= cell < len(self._reached) else None


def gap_ticks(own: Progress, other: Progress) -> int | None:
    """Return the ticks by which a car is behind another, negative where it is ahead; None where nobody can know yet.

    The one behind is now where the other one was so many ticks ago.
    """
    if own.distance <= other.distance:
        passed = other.tick_at(own.distance)
        return None if passed is None else own.tick - passed
    passed = own.tick_at(other.distance)
    return None if passed is None else passed - other.tick
