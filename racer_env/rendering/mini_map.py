"""The small map in the panel: the track's line, and a dot for each car."""

from collections.abc import Sequence

import numpy as np
import pygame

from racer_env.rendering import style
from racer_env.rendering.camera import Area, whole_track
from racer_env.rendering.car_view import CarView
from racer_env.tracks import Track

STEP = 6.0  # units along the centre line that are drawn as one straight piece
LINE, DOT, FOCUS_DOT = 3.0, 3.5, 5.0  # pixels: width of the line, and radii of the dots
START = 6.0  # pixels, half the length of the start line


class MiniMap:
    """Draws a track and its cars into a small area."""

    def __init__(self, track: Track) -> None:
        line = track.geometry.centre_line
        self._track = track
        self._points, self._tangents = line.point_and_tangent_at(np.arange(0.0, track.length, STEP))

    def draw(self, surface: pygame.Surface, area: Area, cars: Sequence[CarView], focus: int) -> None:
        """Draw into an area of a picture; the car in focus is on top."""
        camera = whole_track(self._track, area)
        points = camera.to_pixels(self._points)
        for start, end in zip(points.tolist(), np.roll(points, -1, axis=0).tolist(), strict=True):
            pygame.draw.aaline(surface, style.TEXT_DIM, start, end, round(LINE))
        across = np.array([self._tangents[0, 1], self._tangents[0, 0]]) * START  # y runs down in pixels
        pygame.draw.aaline(surface, style.TEXT, (points[0] - across).tolist(), (points[0] + across).tolist(), 2)
        for index in sorted(range(len(cars)), key=lambda index: index == focus):
            place = camera.to_pixels((cars[index].x, cars[index].y)).tolist()
            radius = FOCUS_DOT if index == focus else DOT
            pygame.draw.aacircle(surface, style.PANEL, place, radius + 1.5)
            pygame.draw.aacircle(surface, cars[index].colour, place, radius)
