"""The static part of a picture: a track, drawn once per scale."""

import functools
import math

import numpy as np
import numpy.typing as npt
import pygame

from racer_env.rendering import style
from racer_env.rendering.camera import bounds_of
from racer_env.rendering.grain import FINEST, draw_specks, lawn
from racer_env.simulator.kernels import SHOULDER_WIDTH
from racer_env.tracks import Track

SMOOTHING = 2  # factor by which it is drawn larger and then shrunk, for smooth edges
MAX_PIXELS = 5_000_000  # pixels of a picture; a track that needs more is drawn coarser
EDGE_WIDTH = 1.2  # units; the white line along the road
WALL_WIDTH = 2.4  # units
MIN_WALL = 2.0  # pixels
ROWS, SQUARE = 2, 4.0  # rows of the start line, and the side of a square in units
STEP = 2.0  # units along the centre line that are drawn as one straight piece
DASH, GAP = 5, 7  # steps; the line in the middle of the road
KERB_WIDTH = 2.6  # units
KERB_LENGTH = 2  # steps of each block
KERB_CURVATURE, KERB_REACH = 1 / 150, 12  # 1/units from which on a curve has kerbs, measured over steps to each side
GROOVES, GROOVE_OPACITY = (0.36, 0.18), 0.1  # shares of the way from the middle to the road's edge; the wide one first
SEAM, SEAM_WIDTH, SEAM_OPACITY = 24.0, 0.5, 0.16  # units from one seam of the asphalt to the next, units, and share
WALL_FOOT = 2.6  # widths of a wall; the dark rim on the grass
SHADOW, SHADOW_OPACITY = (0.9, -1.1), 0.3  # units by which walls' shadows are off; the sun stands in the north-west

_SEE_THROUGH = (255, 0, 255)

FloatArray = npt.NDArray[np.float64]


class Scenery:
    """The picture of a track.

    Attributes:
        scale: Pixels per unit of the world.
        picture: Surface with all of the track.
    """

    def __init__(self, track: Track, scale: float, palette: style.Palette) -> None:
        """Draw the track at ``scale`` pixels per unit, or as finely as MAX_PIXELS allows."""
        left, bottom, right, top = bounds_of(track)
        self.scale = possible_scale(track, scale)
        self._left, self._top = left, top
        size = (math.ceil((right - left) * self.scale), math.ceil((top - bottom) * self.scale))
        large_size = (size[0] * SMOOTHING, size[1] * SMOOTHING)
        large = _Drawing(track, self.scale * SMOOTHING, left, top, large_size, palette)
        self.picture = pygame.transform.smoothscale(large.draw(), size)  # 32 bits a pixel, like the frame

    def place_of(self, x: float, y: float) -> tuple[float, float]:
        """Return the picture's pixel at a world point."""
        return (x - self._left) * self.scale, (self._top - y) * self.scale


def possible_scale(track: Track, scale: float) -> float:
    """Return the scale at which a track's picture can be drawn if ``scale`` is wanted."""
    left, bottom, right, top = bounds_of(track)
    return min(scale, math.sqrt(MAX_PIXELS / ((right - left) * (top - bottom))))


@functools.lru_cache(maxsize=8)
def scenery_of(track: Track, scale: float, palette: style.Palette) -> Scenery:
    """Return the picture of a track, drawn only once."""
    return Scenery(track, scale, palette)


class _Drawing:
    """Draws a track, from the outside in."""

    def __init__(
        self, track: Track, scale: float, left: float, top: float, size: tuple[int, int], palette: style.Palette
    ) -> None:
        self.track = track
        self._palette = palette
        self.scale = scale
        self.origin = np.array([left, top])
        self.surface = pygame.Surface(size, depth=32)
        line = track.geometry.centre_line
        self.distance = np.arange(0.0, track.length, STEP)
        self.half_width = line.half_width_at(self.distance)
        self.centre, tangent = line.point_and_tangent_at(self.distance)
        self.normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)

    def draw(self) -> pygame.Surface:
        """Return the picture."""
        self.surface.fill(self._palette.runoff)
        self._band(self.half_width + SHOULDER_WIDTH, self._palette.shoulder)
        self._band(self.half_width, self._palette.road_edge)
        self._band(self.half_width - EDGE_WIDTH, self._palette.road)
        self._grooves()
        if self.scale >= FINEST * SMOOTHING:
            left, top = self.origin.tolist()
            draw_specks(self.surface, left, top, self.scale)
        self._kerbs()
        self._outside()
        self._shade()
        self._dashes()
        self._start_line()
        self._walls(self.surface, self._palette.wall, WALL_WIDTH)
        return self.surface

    def _pixels(self, points: FloatArray) -> list[tuple[float, float]]:
        pixels = (points - self.origin) * (self.scale, -self.scale)
        return [(float(x), float(y)) for x, y in pixels]

    def _band(self, reach: FloatArray, colour: style.Colour) -> None:
        """Fill the band within ``reach`` of the centre line, piece by piece, as it may overlap itself in a curve."""
        left, right = self.centre + self.normal * reach[:, None], self.centre - self.normal * reach[:, None]
        corners = np.stack([left, np.roll(left, -1, axis=0), np.roll(right, -1, axis=0), right], axis=1)
        for quad in ((corners - self.origin) * (self.scale, -self.scale)).tolist():
            pygame.draw.polygon(self.surface, colour, quad)

    def _grooves(self) -> None:
        """Draw bands in the middle of the road, where tyres have left rubber."""
        colour = self._palette.road
        for share in GROOVES:
            colour = style.mixed(colour, (0, 0, 0), GROOVE_OPACITY)
            self._band(share * self.half_width, colour)

    def _kerbs(self) -> None:
        """Draw red and white blocks along both edges of every curve."""
        before, after = np.roll(self.normal, KERB_REACH, axis=0), np.roll(self.normal, -KERB_REACH, axis=0)
        turned = np.arccos(np.clip((before * after).sum(axis=1), -1.0, 1.0))
        curved = turned > KERB_CURVATURE * 2 * KERB_REACH * STEP
        for side in (1.0, -1.0):
            edge = self.centre + self.normal * (side * self.half_width)[:, None]
            beyond = edge + self.normal * side * KERB_WIDTH
            corners = np.stack([edge, np.roll(edge, -1, axis=0), np.roll(beyond, -1, axis=0), beyond], axis=1)
            for index in np.flatnonzero(curved).tolist():
                colour = self._palette.kerb_light if index // KERB_LENGTH % 2 else self._palette.kerb
                pygame.draw.polygon(self.surface, colour, self._pixels(corners[index]))

    def _dashes(self) -> None:
        width = max(1, round(0.5 * self.scale))
        for first in range(0, len(self.centre) - DASH, DASH + GAP):
            dash = self._pixels(self.centre[first : first + DASH])
            pygame.draw.lines(self.surface, self._palette.centre_line, False, dash, width)

    def _start_line(self) -> None:
        """Draw a band of squares across the road."""
        across, half_width = self.normal[0], float(self.half_width[0])
        along = np.array([across[1], -across[0]]) * SQUARE
        count = max(2, 2 * round(half_width / SQUARE))
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) @ np.stack([across * 2 * half_width / count, along])
        for row in range(ROWS):
            for column in range(count):
                corner = self.centre[0] + across * half_width * (2 * column / count - 1) + along * row
                colour = style.WHITE if (row + column) % 2 else style.BLACK
                pygame.draw.polygon(self.surface, colour, self._pixels(corner + square))

    def _outside(self) -> None:
        """Paint over what lies beyond the walls."""
        cover = lawn(self.surface.get_size(), float(self.origin[0]), self.scale, self._palette.outside)
        self._walls(cover, self._palette.wall_shadow, WALL_FOOT * WALL_WIDTH)
        walls = np.concatenate([self.track.geometry.outer_wall, self.track.geometry.inner_wall])
        pygame.draw.polygon(cover, _SEE_THROUGH, self._pixels(walls))  # a ring, as lines in between cut themselves out
        cover.set_colorkey(_SEE_THROUGH)
        self.surface.blit(cover, (0, 0))

    def _shade(self) -> None:
        """Darken the seams of the asphalt and the ground beside the walls, together, as they do not meet."""
        shade = pygame.Surface(self.surface.get_size(), depth=32)
        shade.fill((255, 255, 255))
        self._seams(shade, style.mixed((255, 255, 255), (0, 0, 0), SEAM_OPACITY))
        self._walls(shade, style.mixed((255, 255, 255), (0, 0, 0), SHADOW_OPACITY), WALL_WIDTH, SHADOW)
        self.surface.blit(shade, (0, 0), special_flags=pygame.BLEND_RGB_MULT)

    def _seams(self, surface: pygame.Surface, colour: style.Colour) -> None:
        line, count = self.track.geometry.centre_line, 2 * round(self.track.length / SEAM / 2)
        distance = np.linspace(0.0, self.track.length, count, endpoint=False)
        centre, along = line.point_and_tangent_at(distance)
        aside = np.stack([-along[:, 1], along[:, 0]], axis=1) * (line.half_width_at(distance) - EDGE_WIDTH)[:, None]
        thick = along * max(0.0, SEAM_WIDTH - 1 / self.scale) / 2  # a polygon is a pixel thicker than its corners
        corners = np.stack([thick + aside, thick - aside, -thick - aside, -thick + aside], axis=1)
        for seam in centre[:, None] + corners:
            pygame.draw.polygon(surface, colour, self._pixels(seam))

    def _walls(
        self, surface: pygame.Surface, colour: style.Colour, width: float, offset: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Draw lines along the walls, of a width in units, which are ``offset`` units off."""
        half = max(MIN_WALL * SMOOTHING, width * self.scale) / 2
        for wall in (self.track.geometry.outer_wall, self.track.geometry.inner_wall):
            begin = (wall[:-1] + offset - self.origin) * (self.scale, -self.scale)
            along = np.roll(begin, -1, axis=0) - begin
            aside = along[:, ::-1] * (-1.0, 1.0) * (half / np.hypot(*along.T))[:, None]
            # Quadrilaterals, as pygame's slanting lines are thinner than their joints.
            corners = np.stack([begin + aside, begin + along + aside, begin + along - aside, begin - aside], axis=1)
            for quad, joint in zip(corners.tolist(), begin.tolist(), strict=True):
                pygame.draw.polygon(surface, colour, quad)
                pygame.draw.circle(surface, colour, joint, half)
