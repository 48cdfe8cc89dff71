"""Colours, which the page in a browser shares, and how a speed maps to one."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.rendering import COLOURS

Colour = tuple[int, int, int]


def _colour(text: str) -> Colour:
    """Return the colour that is written as ``#rrggbb``."""
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue


_SHARED: dict[str, Any] = json.loads(Path(__file__).with_name("colours.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Palette:
    """The colours of one scheme: of the ground, of what is drawn on it, and of the panel beside it."""

    outside: Colour
    runoff: Colour
    shoulder: Colour
    road: Colour
    road_edge: Colour
    centre_line: Colour
    kerb: Colour
    kerb_light: Colour
    wall: Colour
    wall_shadow: Colour
    ray: Colour
    skid: Colour
    panel: Colour
    panel_line: Colour
    text: Colour
    text_dim: Colour
    throttle: Colour
    brake: Colour
    steer: Colour
    ahead: Colour
    behind: Colour


def _palette(colours: str) -> Palette:
    def key(name: str) -> str:
        first, *others = name.split("_")
        return first + "".join(map(str.capitalize, others))

    shared = _SHARED[colours]
    return Palette(**{field.name: _colour(shared[key(field.name)]) for field in dataclasses.fields(Palette)})


PALETTES = {colours: _palette(colours) for colours in COLOURS}

# The same on any ground.
WHITE, BLACK, TYRE, GLASS, BRAKE_LIGHT = (
    _colour(_SHARED[name]) for name in ("white", "black", "tyre", "glass", "brakeLight")
)

# Colours of the first, second, ... car: distinct for colour-blind people too, and on asphalt.
CARS: tuple[Colour, ...] = tuple(_colour(text) for text in _SHARED["cars"])

_SPEED_STOPS = np.array([_colour(text) for text in _SHARED["speeds"]], np.float64)


def car_colour(index: int) -> Colour:
    """Return the colour of the car with that index; colours repeat."""
    return CARS[index % len(CARS)]


def mixed(colour: Colour, other: Colour, opacity: float) -> Colour:
    """Return a colour with another one over it that has that opacity."""
    red, green, blue = (round(under + (over - under) * opacity) for under, over in zip(colour, other, strict=True))
    return red, green, blue


def speed_colours(speeds: npt.ArrayLike, max_speed: float) -> npt.NDArray[np.uint8]:
    """Return colours (..., 3) for speeds (...): red is standstill, yellow half of ``max_speed``, blue ``max_speed``."""
    share = np.clip(np.asarray(speeds, dtype=np.float64) / max_speed, 0.0, 1.0) * (len(_SPEED_STOPS) - 1)
    low = np.minimum(share.astype(int), len(_SPEED_STOPS) - 2)
    blend = (share - low)[..., None]
    colours: npt.NDArray[np.uint8] = np.rint(_SPEED_STOPS[low] * (1.0 - blend) + _SPEED_STOPS[low + 1] * blend).astype(
        np.uint8
    )
    return colours
