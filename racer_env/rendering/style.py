"""Colours, and how a speed maps to one."""

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int]

OUTSIDE: Colour = (38, 58, 44)
RUNOFF: Colour = (124, 106, 78)
SHOULDER: Colour = (104, 110, 88)
ROAD: Colour = (64, 67, 74)
ROAD_EDGE: Colour = (226, 228, 230)
CENTRE_LINE: Colour = (92, 96, 104)
WALL: Colour = (196, 64, 54)
WHITE: Colour = (245, 246, 248)
BLACK: Colour = (16, 18, 22)
RAY: Colour = (255, 214, 102)
TYRE: Colour = (18, 18, 20)
GLASS: Colour = (30, 40, 54)

PANEL: Colour = (22, 25, 31)
PANEL_LINE: Colour = (52, 58, 70)
TEXT: Colour = (236, 239, 244)
TEXT_DIM: Colour = (146, 154, 168)
THROTTLE: Colour = (80, 200, 120)
BRAKE: Colour = (235, 84, 76)
STEER: Colour = (104, 170, 255)

# Colours of the first, second, ... car: distinct for colour-blind people too, and on asphalt.
CARS: tuple[Colour, ...] = (
    (255, 176, 46),
    (92, 178, 255),
    (240, 108, 164),
    (120, 222, 140),
    (196, 150, 255),
    (240, 240, 240),
)

_SPEED_STOPS = np.array([[228, 66, 54], [250, 186, 62], [246, 240, 146], [96, 206, 236], [58, 136, 250]], np.float64)


def car_colour(index: int) -> Colour:
    """Return the colour of the car with that index; colours repeat."""
    return CARS[index % len(CARS)]


def speed_colours(speeds: npt.ArrayLike, max_speed: float) -> npt.NDArray[np.uint8]:
    """Return colours (..., 3) for speeds (...): red is standstill, yellow half of ``max_speed``, blue ``max_speed``."""
    share = np.clip(np.asarray(speeds, dtype=np.float64) / max_speed, 0.0, 1.0) * (len(_SPEED_STOPS) - 1)
    low = np.minimum(share.astype(int), len(_SPEED_STOPS) - 2)
    blend = (share - low)[..., None]
    colours: npt.NDArray[np.uint8] = np.rint(_SPEED_STOPS[low] * (1.0 - blend) + _SPEED_STOPS[low + 1] * blend).astype(
        np.uint8
    )
    return colours
