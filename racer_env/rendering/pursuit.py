"""How a camera follows a car with its heading up: it turns and zooms a little late, as on the page."""

import math

from racer_env.contract import TICKS_PER_SECOND

NEAR, FAR = 150.0, 215.0  # units of the shorter side that are seen at rest, and at top speed
TURN_RATE, ZOOM_RATE = 7.0, 1.5  # 1/s

_TURNED, _ZOOMED = (1.0 - math.exp(-rate / TICKS_PER_SECOND) for rate in (TURN_RATE, ZOOM_RATE))  # shares in a tick


class Pursuit:
    """What such a camera sees of the world.

    Attributes:
        heading: Heading that is up in the picture, in radians.
        span: Units along the shorter side of the picture.
    """

    def __init__(self, heading: float, speed: float = 0.0) -> None:
        """Begin; the arguments are those of ``see``."""
        self.cut(heading, speed)

    def cut(self, heading: float, speed: float) -> None:
        """Be at once where the car is, as at a start."""
        self.heading = heading
        self.span = _span_at(speed)

    def see(self, heading: float, speed: float) -> None:
        """Follow for a tick.

        Args:
            heading: The car's heading in radians.
            speed: Its share of the top speed.
        """
        self.heading += math.remainder(heading - self.heading, 2 * math.pi) * _TURNED
        self.span += (_span_at(speed) - self.span) * _ZOOMED


def _span_at(speed: float) -> float:
    return NEAR + (FAR - NEAR) * speed
