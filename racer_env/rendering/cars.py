"""Drawing cars: body with front wheels, rays, and the trail behind them."""

import math

import numpy as np
import numpy.typing as npt
import pygame

from racer_env.contract import RAY_COUNT
from racer_env.physics import Physics
from racer_env.rendering import style
from racer_env.rendering.camera import Camera
from racer_env.rendering.car_view import CarView

LENGTH, WIDTH = 4.0, 2.0  # units; the game only defines the width
SMOOTHING = 4  # factor by which a car is drawn larger and then shrunk
TRAIL_WIDTH = 3  # pixels
RAY_DOT = 3.0  # pixels, if the picture is large enough
GHOST = 190  # opacity out of 255

# Along and across the car, in units: outline, cockpit, wheel centres, and half the length and width of a wheel.
_BODY = [(2.0, 0.35), (1.3, 0.62), (0.5, 0.72), (-0.4, 0.95), (-1.7, 0.95), (-2.0, 0.7)]
_COCKPIT = [(0.55, 0.34), (-0.15, 0.46), (-0.8, 0.4)]
_FRONT, _REAR = 1.25, -1.3
_TRACK = 0.92
_WHEEL = (0.42, 0.2)
_WING = [(2.05, 0.9), (1.75, 0.9)]


def draw_trail(surface: pygame.Surface, camera: Camera, car: CarView, max_speed: float) -> None:
    """Draw where a car has been, coloured by its speed."""
    if len(car.trail) < 2:
        return
    trail = np.array(car.trail)
    pixels = camera.to_pixels(trail[:, :2])
    seen = np.hypot(*np.diff(pixels, axis=0).T) < 60.0 * camera.scale  # leaves out jumps to another start
    colours = style.speed_colours(trail[1:, 2], max_speed).tolist()
    points = pixels.tolist()
    for index in np.flatnonzero(seen).tolist():
        pygame.draw.aaline(surface, colours[index], points[index], points[index + 1], TRAIL_WIDTH)


def draw_rays(surface: pygame.Surface, camera: Camera, car: CarView, colour: style.Colour) -> None:
    """Draw what a car sees: nine rays and the points where they meet a wall."""
    if not len(car.rays):
        return
    angles = car.heading - math.pi / 2 + np.arange(RAY_COUNT) * math.pi / (RAY_COUNT - 1)
    ends = np.stack([np.cos(angles), np.sin(angles)], axis=1) * car.rays[:, None] + (car.x, car.y)
    origin = camera.to_pixels((car.x, car.y)).tolist()
    for end in camera.to_pixels(ends).tolist():
        pygame.draw.aaline(surface, colour, origin, end)
        pygame.draw.aacircle(surface, colour, end, min(RAY_DOT, max(1.0, min(camera.area[2:]) / 120)))


def draw_car(surface: pygame.Surface, camera: Camera, car: CarView, physics: Physics, is_ghost: bool = False) -> None:
    """Draw a car's body along its heading, with the front wheels turned; a ghost is see-through."""
    scale = max(camera.scale * physics.width / WIDTH, camera.min_car_length / LENGTH)
    half = math.ceil(scale * LENGTH * 0.65)
    large = pygame.Surface((2 * half * SMOOTHING, 2 * half * SMOOTHING), pygame.SRCALPHA)
    large.fill((*car.colour, 0))  # keeps smoothed edges from turning dark
    pixels_per_unit = scale * SMOOTHING

    def shape(points: npt.ArrayLike, colour: style.Colour, x: float = 0.0, y: float = 0.0, turn: float = 0.0) -> None:
        outline = np.array([x, y]) + _turned(np.asarray(points, dtype=np.float64), turn)
        placed = _turned(outline, car.heading) * (pixels_per_unit, -pixels_per_unit) + half * SMOOTHING
        pygame.draw.polygon(large, colour, placed.tolist())

    length, width = _WHEEL
    wheel = [(length, width), (length, -width), (-length, -width), (-length, width)]
    for side in (_TRACK, -_TRACK):
        shape(wheel, style.TYRE, _FRONT, side, car.wheel_angle)
        shape(wheel, style.TYRE, _REAR, side)
    shape(_mirrored(_WING), style.TYRE)
    shape(_mirrored(_BODY), car.colour)
    shape(_mirrored(_COCKPIT), style.GLASS)
    small = pygame.transform.smoothscale(large, (2 * half, 2 * half))
    x, y = camera.to_pixels((car.x, car.y)).tolist()
    if is_ghost:
        small.set_alpha(GHOST)
    surface.blit(small, (round(x) - half, round(y) - half))


def _mirrored(half: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return half + [(x, -y) for x, y in reversed(half)]


def _turned(points: npt.NDArray[np.float64], angle: float) -> npt.NDArray[np.float64]:
    cos, sin = math.cos(angle), math.sin(angle)
    turned: npt.NDArray[np.float64] = points @ np.array([[cos, sin], [-sin, cos]])
    return turned
