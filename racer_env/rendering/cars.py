"""Drawing cars, their rays, and the trail behind them."""

import math
from collections.abc import Sequence

import numpy as np
import pygame

from racer_env.contract import RAY_COUNT
from racer_env.physics import Physics
from racer_env.rendering import style
from racer_env.rendering.camera import Camera
from racer_env.rendering.car_shape import LENGTH, WIDTH, CarLook, picture_of
from racer_env.rendering.car_view import CarView

TRAIL_WIDTH = 3  # pixels
RAY_DOT = 3.0  # pixels, if the picture is large enough
GHOST_OPACITY = 0.75
HARD_BRAKE = 0.3  # from which the lights show
APART = 0.5  # lengths of a car within which two are at one place


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


def car_scale(camera: Camera, physics: Physics) -> float:
    """Return the pixels per unit of a car's shape; seen from far above, cars are drawn enlarged."""
    return max(camera.scale * physics.width / WIDTH, camera.min_car_length / LENGTH)


def draw_cars(
    surface: pygame.Surface, camera: Camera, cars: Sequence[CarView], focused: CarView | None, physics: Physics
) -> None:
    """Draw cars, the last on top; those that are not in focus are see-through.

    Of cars at one place, as at a start, only the one on top has a shadow: those of many would make a black spot.
    """
    places = camera.to_pixels(np.array([(car.x, car.y) for car in cars]).reshape(-1, 2))
    is_near = np.hypot(*(places[:, None] - places).T) < APART * LENGTH * car_scale(camera, physics)
    is_covered = np.tril(is_near, -1).any(axis=0)
    for car, covered in zip(cars, is_covered.tolist(), strict=True):
        _draw_car(surface, camera, car, physics, is_ghost=car is not focused, has_shadow=not covered)


def _draw_car(
    surface: pygame.Surface, camera: Camera, car: CarView, physics: Physics, is_ghost: bool, has_shadow: bool
) -> None:
    look = CarLook(
        colour=car.colour,
        heading=car.heading + camera.turn,
        north=math.pi / 2 + camera.turn,
        wheel_angle=car.wheel_angle,
        is_braking=car.brake > HARD_BRAKE,
        opacity=GHOST_OPACITY if is_ghost else 1.0,
        has_shadow=has_shadow,
    )
    picture = picture_of(look, car_scale(camera, physics))
    x, y = camera.to_pixels((car.x, car.y)).tolist()
    half = picture.get_width() // 2
    surface.blit(picture, (round(x) - half, round(y) - half), special_flags=pygame.BLEND_PREMULTIPLIED)
