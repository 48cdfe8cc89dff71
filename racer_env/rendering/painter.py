"""Pictures of cars on a track."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pygame

from racer_env.errors import ConfigError
from racer_env.rendering import CAMERAS, COLOURS, DARK, HEADING, WHOLE, style
from racer_env.rendering.camera import Area, Camera, whole_track
from racer_env.rendering.car_view import CarView
from racer_env.rendering.cars import car_scale, draw_cars, draw_rays, draw_trail
from racer_env.rendering.grain import STRIPE, lawn, mown
from racer_env.rendering.mini_map import MiniMap
from racer_env.rendering.readout import Readout, draw_text
from racer_env.rendering.scenery import Scenery, possible_scale, scenery_of
from racer_env.rendering.turning import draw_turned
from racer_env.tracks import Track

SIZE = (1280, 720)
MIN_SIZE, MAX_SIZE = 64, 4096
FOLLOW_SPAN = 210.0  # units along the shorter side of what the camera that follows a car shows
MARK_OPACITY = 0.5  # of skid marks, on the road
BEHIND = 0.7  # share of the height at which the car is drawn with its heading up
LOOK_AHEAD = 18  # ticks of driving by which it looks ahead
MIN_WIDTH_WITH_READOUT = 480  # pixels


def check_size(size: Any) -> None:
    """Refuse what is not a picture size.

    Raises:
        ConfigError: It is not two whole numbers within [MIN_SIZE, MAX_SIZE].
    """
    sides = size if isinstance(size, tuple | list) and len(size) == 2 else (0, 0)
    if not all(isinstance(side, int) and MIN_SIZE <= side <= MAX_SIZE for side in sides):
        raise ConfigError(
            f"a picture's size must be width and height, whole numbers within [{MIN_SIZE}, {MAX_SIZE}], got {size!r}"
        )


class Painter:
    """Draws frames of one size and one track.

    Attributes:
        track: The track to draw.
        size: Width and height of a frame, in pixels.
        camera: WHOLE shows all of the track; FOLLOW follows the car in focus with north up, HEADING with its heading
            up.
        rays: Whether to draw the rays of the car in focus.
        trails: Whether to draw where the cars have been.
    """

    def __init__(
        self,
        track: Track,
        size: tuple[int, int] = SIZE,
        *,
        camera: str = WHOLE,
        rays: bool = True,
        trails: bool = True,
        readout: bool = True,
        colours: str = DARK,
        footer: int = 0,
    ) -> None:
        """Prepare to draw; ``footer`` is the height in pixels, at the bottom, that ``draw_footer`` writes in.

        Raises:
            ConfigError: Size, camera or colours are not valid.
        """
        if camera not in CAMERAS:
            raise ConfigError(f"camera must be {' or '.join(map(repr, CAMERAS))}, got {camera!r}")
        if colours not in COLOURS:
            raise ConfigError(f"colours must be {' or '.join(map(repr, COLOURS))}, got {colours!r}")
        check_size(size)
        self.track = track
        self.size = size
        self.camera = camera
        self.rays = rays
        self.trails = trails
        self._palette = style.PALETTES[colours]
        self._mark_colour = style.mixed(self._palette.road, self._palette.skid, MARK_OPACITY)
        self._surface = pygame.Surface(self.size, depth=32)
        width, height = self.size
        panel = max(180, min(260, width // 5)) if readout and width >= MIN_WIDTH_WITH_READOUT else 0
        self._readout = Readout((0, 0, panel, height), track.physics.max_speed, self._palette) if panel else None
        self.map_area: Area = (panel, 0, width - panel, height - footer)
        self._mini_map = MiniMap(track, self._palette)
        self._whole = whole_track(track, self.map_area)
        self._follow_scale = possible_scale(track, max(min(self.map_area[2:]) / FOLLOW_SPAN, self._whole.scale))
        self._sceneries: dict[float, Scenery] = {}  # by scale, kept while in use
        self._lawns: dict[float, pygame.Surface] = {}  # by scale; wider than the map by what repeats

    def camera_on(self, car: CarView | None) -> Camera:
        """Return the camera for a frame with this car in focus; with north up, it looks ahead as far as it has come."""
        if self.camera == WHOLE or car is None:
            return self._whole
        shorter, length = min(self.map_area[2:]), 1.6 * self._whole.min_car_length
        if self.camera == HEADING:
            scale, turn = shorter / car.pursuit.span, math.pi / 2 - car.pursuit.heading
            return Camera(car.x, car.y, scale, self.map_area, length, turn, anchor=(0.5, BEHIND))
        past_x, past_y, _ = car.trail[-LOOK_AHEAD] if len(car.trail) >= LOOK_AHEAD else (car.x, car.y, 0.0)
        x, y = 2 * car.x - past_x, 2 * car.y - past_y
        return replace(self._whole, x=x, y=y, scale=self._follow_scale, min_car_length=length)

    def draw(
        self,
        cars: Sequence[CarView],
        focus: int = 0,
        message: str = "",
        gaps: Sequence[float | None] | None = None,
    ) -> pygame.Surface:
        """Draw a frame.

        Args:
            cars: Cars to draw, in order; the one in focus comes last.
            focus: Index of the car that rays, read-out and camera belong to.
            message: Text written across the map.
            gaps: Seconds by which each car is behind the one in focus, None where unknown, for the read-out, which
                otherwise shows best laps.

        Returns:
            The picture, 32 bits a pixel; the next frame overwrites it.
        """
        focused = cars[focus] if cars else None
        camera, physics = self.camera_on(focused), self.track.physics
        surface = self._surface
        surface.set_clip(self.map_area)
        self._draw_scenery(camera)
        ordered = [car for car in cars if car is not focused] + ([focused] if focused is not None else [])
        for car in ordered:
            car.marks.draw(surface, camera, car_scale(camera, physics), self._mark_colour)
        if self.trails:
            for car in ordered:
                draw_trail(surface, camera, car, physics.max_speed)
        if self.rays and focused is not None:
            draw_rays(surface, camera, focused, self._palette.ray)
        draw_cars(surface, camera, ordered, focused, physics)
        if message:
            self._draw_message(message)
        surface.set_clip(None)
        if self._readout is not None:
            mini_map = None if camera is self._whole else self._mini_map
            self._readout.draw(surface, self.track.name, cars, focus, gaps, mini_map)
        return surface

    def draw_footer(self, text: str) -> None:
        """Write a line below the map of the last frame."""
        left, top, width, height = self.map_area
        footer = self.size[1] - top - height
        self._surface.fill(self._palette.panel, (left, top + height, width, footer))
        where = (left + 12, top + height + footer / 2)
        draw_text(self._surface, text, where, int(footer * 0.7), self._palette.text_dim, "midleft", width - 24)

    def draw_help(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write what keys do over the map of the last frame: pairs of keys and what they do."""
        left, top, width, height = self.map_area
        size = max(13, min(22, height // (2 * len(rows))))
        column = min(12 * size, width // 2)
        box = pygame.Rect(0, 0, min(36 * size, width), round((len(rows) + 1) * 1.5 * size))
        box.center = (left + width // 2, top + height // 2)
        pygame.draw.rect(self._surface, self._palette.panel, box, border_radius=6)
        for index, (keys, does) in enumerate(rows):
            x, y = box.left + size, box.top + (1.5 * index + 1) * size
            draw_text(self._surface, keys, (x, y), size, self._palette.text, width=column)
            room = box.right - size - (x + column)
            draw_text(self._surface, does, (x + column, y), size, self._palette.text_dim, width=round(room))

    def pixels(self) -> npt.NDArray[np.uint8]:
        """Return a copy of the last frame as an array (height, width, 3)."""
        width, height = self.size
        return np.frombuffer(pygame.image.tobytes(self._surface, "RGB"), np.uint8).reshape(height, width, 3).copy()

    def _draw_scenery(self, camera: Camera) -> None:
        is_whole, outside = camera is self._whole, self._palette.outside
        scale = camera.scale if is_whole else self._follow_scale
        if scale not in self._sceneries:
            self._sceneries[scale] = scenery_of(self.track, scale, self._palette)
        scenery = self._sceneries[scale]
        at = scenery.place_of(camera.x, camera.y)
        if self.camera == HEADING and not is_whole:
            stripes = (self._surface.map_rgb(mown(outside)), self._surface.map_rgb(outside))
            draw_turned(self._surface, camera, scenery.picture, at, scenery.scale, stripes, STRIPE)
        else:
            self._draw_lawn(camera)
            self._surface.blit(scenery.picture, np.round(camera.middle - at).astype(int).tolist())

    def _draw_lawn(self, camera: Camera) -> None:
        """Draw the ground that goes on beyond the map, with north up."""
        left, top, width, height = self.map_area
        scale, period = camera.scale, 2 * STRIPE
        if scale not in self._lawns:  # kept, as filling stripes takes thirty times as long as copying them
            size = (width + math.ceil(period * scale), height)
            self._lawns[scale] = lawn(size, 0.0, scale, self._palette.outside)
        x = camera.x - (camera.middle[0] - left) / scale
        self._surface.blit(self._lawns[scale], (left, top), (round(x % period * scale), 0, width, height))

    def _draw_message(self, message: str) -> None:
        left, top, width, height = self.map_area
        for offset, colour in ((2, style.BLACK), (0, style.WHITE)):
            for line, text in enumerate(message.split("\n")):
                size = max(24, height // (8 if line == 0 else 18))
                where = (left + width / 2 + offset, top + height * (0.4 + 0.11 * line) + offset)
                draw_text(self._surface, text, where, size, colour, "center", width)
