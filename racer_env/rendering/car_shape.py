"""The shape of a car, as on the page: body, wings, cockpit, wheels of which the front ones turn, and its shadow."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pygame

from racer_env.rendering import style
from racer_env.rendering.camera import turned

# Along and across the car, in units; the game only defines the width.
LENGTH, WIDTH = 4.0, 2.0
FRONT, REAR = 1.25, -1.3  # axles
TRACK = 0.92  # from the middle of an axle to a wheel

FloatArray = npt.NDArray[np.float64]


def _mirrored(*half: tuple[float, float]) -> FloatArray:
    """Return the outline (2n, 2) whose left half these points are, from the front to the rear."""
    return np.array([*half, *((x, -y) for x, y in reversed(half))])


_BODY = _mirrored((2.0, 0.35), (1.3, 0.62), (0.5, 0.72), (-0.4, 0.95), (-1.7, 0.95), (-2.0, 0.7))
_COCKPIT = _mirrored((0.55, 0.34), (-0.15, 0.46), (-0.8, 0.4))
_STRIPE = _mirrored((1.9, 0.12), (0.6, 0.14))
_FRONT_WING = _mirrored((2.05, 0.95), (1.72, 0.95))
_REAR_WING = _mirrored((-1.75, 0.9), (-2.1, 0.9))
_WHEEL = _mirrored((0.42, 0.22), (-0.42, 0.22))
_SHADOW = _mirrored((2.1, 0.9), (0.5, 1.1), (-2.1, 1.1))
_SHADOW_AT = np.array([0.4, -0.55])  # east and north of the car: the sun stands in the north-west
_SHADOW_OPACITY = 0.35
_REACH = 3.1  # from the middle of the car to what is farthest from it, its shadow included
_OUTLINE, _OUTLINE_OPACITY = 0.12, 0.45
_STRIPE_OPACITY = 0.75

SMOOTHING = 4  # factor by which a car is drawn larger and then shrunk
FULL = 255


@dataclass(frozen=True)
class CarLook:
    """How a car looks.

    Attributes:
        colour: Colour of its body.
        heading: Its heading in the picture, in radians, counter-clockwise from the right.
        north: Direction of north in the picture, likewise.
        wheel_angle: Angle of the front wheels from the heading, in radians, counter-clockwise.
        is_braking: Whether its lights show.
        opacity: 1 is solid.
        has_shadow: Whether it casts a shadow.
    """

    colour: style.Colour
    heading: float
    north: float
    wheel_angle: float
    is_braking: bool
    opacity: float
    has_shadow: bool


def picture_of(look: CarLook, scale: float) -> pygame.Surface:
    """Return a picture with a car in its middle, at ``scale`` pixels per unit; its alpha is multiplied in."""
    half = math.ceil(scale * _REACH)
    large = pygame.Surface((2 * half * SMOOTHING, 2 * half * SMOOTHING), pygame.SRCALPHA)
    pixels_per_unit = scale * SMOOTHING

    def pixels(points: FloatArray, angle: float = look.heading) -> FloatArray:
        return turned(points, angle) * (pixels_per_unit, -pixels_per_unit) + half * SMOOTHING

    def draw(shape: FloatArray, colour: style.Colour, width: int = 0) -> None:
        pygame.draw.polygon(large, colour, pixels(shape).tolist(), width)

    if look.has_shadow:
        aside = pixels(_SHADOW_AT, look.north - math.pi / 2) - half * SMOOTHING
        pygame.draw.polygon(large, (0, 0, 0, round(FULL * _SHADOW_OPACITY)), (pixels(_SHADOW) + aside).tolist())
    for side in (TRACK, -TRACK):
        draw(turned(_WHEEL, look.wheel_angle) + np.array([FRONT, side]), style.TYRE)
        draw(_WHEEL + np.array([REAR, side]), style.TYRE)
    draw(_FRONT_WING, style.TYRE)
    draw(_BODY, look.colour)
    outline = style.mixed(look.colour, style.BLACK, _OUTLINE_OPACITY)
    draw(_BODY, outline, max(1, round(_OUTLINE * pixels_per_unit)))
    draw(_STRIPE, style.mixed(look.colour, style.WHITE, _STRIPE_OPACITY))
    draw(_COCKPIT, style.GLASS)
    draw(_REAR_WING, style.BRAKE_LIGHT if look.is_braking else style.TYRE)
    small = pygame.transform.smoothscale(large, (2 * half, 2 * half))
    if look.opacity < 1:
        small.fill((round(FULL * look.opacity),) * 4, special_flags=pygame.BLEND_RGBA_MULT)
    return small
