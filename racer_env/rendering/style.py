"""Colours, which the page in a browser shares, and how a speed maps to one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int]


def _colour(text: str) -> Colour:
    """Return the colour that is written as ``#rrggbb``."""
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue


_SHARED: dict[str, Any] = json.loads(Path(__file__).with_name("colours.json").read_text(encoding="utf-8"))
_DARK = {name: _colour(text) for name, text in _SHARED["dark"].items()}

OUTSIDE, RUNOFF, SHOULDER = _DARK["outside"], _DARK["runoff"], _DARK["shoulder"]
ROAD, ROAD_EDGE, CENTRE_LINE = _DARK["road"], _DARK["roadEdge"], _DARK["centreLine"]
KERB, KERB_LIGHT = _DARK["kerb"], _DARK["kerbLight"]
WALL, RAY = _DARK["wall"], _DARK["ray"]
WHITE, BLACK, TYRE, GLASS = (_colour(_SHARED[name]) for name in ("white", "black", "tyre", "glass"))

PANEL, PANEL_LINE = _DARK["panel"], _DARK["panelLine"]
TEXT, TEXT_DIM = _DARK["text"], _DARK["textDim"]
THROTTLE, BRAKE, STEER = _DARK["throttle"], _DARK["brake"], _DARK["steer"]
AHEAD, BEHIND = _DARK["ahead"], _DARK["behind"]

# Colours of the first, second, ... car: distinct for colour-blind people too, and on asphalt.
CARS: tuple[Colour, ...] = tuple(_colour(text) for text in _SHARED["cars"])

_SPEED_STOPS = np.array([_colour(text) for text in _SHARED["speeds"]], np.float64)


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
