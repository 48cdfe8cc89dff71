"""The small map in the panel: the track's line, and a dot for each car."""

from collections.abc import Sequence

import numpy as np
import pygame

from racer_env.rendering import style
from racer_env.rendering.camera import Area, whole_track
from racer_env.rendering.car_view import CarView
from racer_env.tracks import Track

STEP = 6.0  # units along the centre line that are drawn as one straight piece
LINE, DOT, FOCUS_DOT = 3, 3.5, 5.0  # pixels: width of the line, and radii of the dots
START = 6.0  # pixels, half the length of the start line


class MiniMap:
    """Draws a track and its cars into a small area."""

    def __init__(self, track: Track, palette: style.Palette) -> None:
        self._track = track
        self._palette = palette
        self._road: pygame.Surface | None = None  # drawn once, as it has hundreds of pieces

    def draw(self, surface: pygame.Surface, area: Area, cars: Sequence[CarView], focus: int) -> None:
        """Draw into an area of a picture; the car in focus is on top."""
        left, top, width, height = area
        if self._road is None or self._road.get_size() != (width, height):
            self._road = self._draw_road(width, height)
        surface.blit(self._road, (left, top))
        camera = whole_track(self._track, area)
        for index in sorted(range(len(cars)), key=lambda index: index == focus):
            place = camera.to_pixels((cars[index].x, cars[index].y)).tolist()
            radius = FOCUS_DOT if index == focus else DOT
            pygame.draw.aacircle(surface, self._palette.panel, place, radius + 1.5)
            pygame.draw.aacircle(surface, cars[index].colour, place, radius)

    def _draw_road(self, width: int, height: int) -> pygame.Surface:
        picture = pygame.Surface((width, height), depth=32)
        picture.fill(self._palette.panel)
        line, camera = self._track.geometry.centre_line, whole_track(self._track, (0, 0, width, height))
        points, tangents = line.point_and_tangent_at(np.arange(0.0, self._track.length, STEP))
        pixels = camera.to_pixels(points)
        for start, end in zip(pixels.tolist(), np.roll(pixels, -1, axis=0).tolist(), strict=True):
            pygame.draw.aaline(picture, self._palette.text_dim, start, end, LINE)
        across = tangents[0, ::-1] * START  # as y runs down in pixels
        pygame.draw.aaline(picture, self._palette.text, (pixels[0] - across).tolist(), (pixels[0] + across).tolist(), 2)
        return picture
