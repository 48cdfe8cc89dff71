"""The panel beside the track: speed, inputs, lap times, and the driver's name."""

import functools
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pygame

from racer_env.printable import printable
from racer_env.rendering import style
from racer_env.rendering.camera import Area
from racer_env.rendering.car_view import CarView
from racer_env.rendering.mini_map import MiniMap
from racer_env.rendering.stopwatch import Stopwatch

PADDING = 16
LAPS_LISTED = 5  # the latest ones
MAP_SHARE = 0.5  # height of the map, as a share of its width
_UNIT = "units/s"


@functools.cache
def _font_path() -> str | None:
    """Return Matplotlib's font file without importing Matplotlib; SDL's own font spaces its letters badly."""
    found = importlib.util.find_spec("matplotlib")
    folder = Path(found.origin).parent if found is not None and found.origin is not None else Path()
    path = folder / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
    return str(path) if path.is_file() else None


@functools.lru_cache(maxsize=32)
def _font(size: int) -> pygame.font.Font:
    pygame.font.init()
    return pygame.font.Font(_font_path(), round(size * 0.72))


@functools.lru_cache(maxsize=2048)
def _rendered(text: str, size: int, colour: style.Colour) -> pygame.Surface:
    return _font(size).render(text, True, colour)


@functools.lru_cache(maxsize=2048)
def _fitting(text: str, size: int, width: int | None) -> str:
    """Return as much of the text as fits into a width in pixels."""
    if width is None or _font(size).size(text)[0] <= width:
        return text
    while text and _font(size).size(text + "...")[0] > width:
        text = text[:-1]
    return text + "..."


@functools.lru_cache(maxsize=8)
def _colour_bar(width: int, height: int) -> pygame.Surface:
    row = style.speed_colours(np.arange(width), max(width - 1, 1))
    return pygame.surfarray.make_surface(np.repeat(row[:, None], height, axis=1))


def draw_text(
    surface: pygame.Surface,
    text: str,
    where: tuple[float, float],
    size: int,
    colour: style.Colour,
    anchor: str = "topleft",
    width: int | None = None,
) -> pygame.Rect:
    """Draw a line of text, cut at ``width`` pixels, and return the rectangle it covers."""
    picture = _rendered(_fitting(printable(text), size, width), size, colour)
    place = picture.get_rect(**{anchor: (round(where[0]), round(where[1]))})
    surface.blit(picture, place)
    return place


def seconds(time: float | None) -> str:
    """Return a lap time as displayed."""
    return "-" if time is None else f"{time:.2f} s"


class Readout:
    """Draws the panel into an area of a picture."""

    def __init__(self, area: Area, max_speed: float, palette: style.Palette) -> None:
        self.area = area
        self.max_speed = max_speed
        self._palette = palette
        self._small = max(13, min(22, area[3] // 32))
        self._large = max(34, min(84, area[3] // 9))

    def draw(
        self,
        surface: pygame.Surface,
        title: str,
        cars: Sequence[CarView],
        focus: int,
        gaps: Sequence[float | None] | None = None,
        mini_map: MiniMap | None = None,
    ) -> None:
        """Draw the panel for the car in focus, with a line for each car if there are several.

        Args:
            surface: The picture.
            title: Name of the track.
            cars: All cars.
            focus: Index of the car in focus.
            gaps: Seconds by which each car is behind the one in focus, None where unknown; None shows best laps.
            mini_map: Map to draw at the bottom, if there is room; None draws none.
        """
        left, top, width, height = self.area
        surface.fill(self._palette.panel, self.area)
        pygame.draw.line(surface, self._palette.panel_line, (left + width - 1, top), (left + width - 1, top + height))
        x, inner = left + PADDING, width - 2 * PADDING
        y = float(top + PADDING)
        name = draw_text(surface, title, (x, y), self._small, self._palette.text_dim, width=inner)
        y = name.bottom + self._small * 0.4
        if cars:
            car = cars[focus]
            y = self._name(surface, car, x, y, inner) + self._small * 0.8
            y = self._speed(surface, car, x, y, inner) + self._small * 0.7
            y = self._inputs(surface, car, x, y, inner) + self._small * 0.6
            y = self._laps(surface, car, x, y, inner) + self._small * 0.6
        bottom = top + height - PADDING - self._small * 1.6
        if y < bottom:
            self._legend(surface, x, bottom, inner)
        list_height = self._small * (1.5 * min(len(cars), 3) + 1) if len(cars) > 1 else 0
        if mini_map is not None and y + list_height < bottom - inner * MAP_SHARE:
            bottom -= inner * MAP_SHARE + self._small * 0.5
            mini_map.draw(surface, (round(x), round(bottom), inner, round(inner * MAP_SHARE)), cars, focus)
        if len(cars) > 1 and y + 4 * self._small < bottom:
            self._list(surface, cars, focus, gaps, x, y, inner, bottom - self._small)

    def _name(self, surface: pygame.Surface, car: CarView, x: float, y: float, width: int) -> float:
        side = self._small * 0.62
        room = int(width - side - 8)
        place = draw_text(surface, car.name, (x + side + 8, y), self._small, self._palette.text, width=room)
        self._swatch(surface, car, x, place.centery, side)
        return place.bottom

    def _swatch(self, surface: pygame.Surface, car: CarView, left: float, middle: int, side: float) -> None:
        """Draw a square in a car's colour, with an outline that pale ones need on a light panel."""
        square, radius = pygame.Rect(round(left), round(middle - side / 2), round(side), round(side)), round(side / 4)
        pygame.draw.rect(surface, car.colour, square, border_radius=radius)
        pygame.draw.rect(surface, self._palette.text_dim, square, 1, border_radius=radius)

    def _speed(self, surface: pygame.Surface, car: CarView, x: float, y: float, width: int) -> float:
        number = draw_text(surface, f"{car.speed:.0f}", (x, y), self._large, self._palette.text)
        beside = (number.right + 8, number.bottom - self._large * 0.2)
        draw_text(surface, _UNIT, beside, self._small, self._palette.text_dim, "bottomleft")
        return number.bottom

    def _inputs(self, surface: pygame.Surface, car: CarView, x: float, y: float, width: int) -> float:
        label = max(_font(self._small).size(text)[0] for text in ("throttle", "brake", "steer")) + 10
        bar, thick = width - label, max(6, self._small // 2)
        for name, value, colour in (
            ("throttle", car.throttle, self._palette.throttle),
            ("brake", car.brake, self._palette.brake),
            ("steer", car.steer, self._palette.steer),
        ):
            place = draw_text(surface, name, (x, y), self._small, self._palette.text_dim)
            box = pygame.Rect(round(x + label), round(place.centery - thick / 2), bar, thick)
            pygame.draw.rect(surface, self._palette.panel_line, box, border_radius=thick // 2)
            if name == "steer":
                reach = round(value * bar / 2)
                filled = pygame.Rect(box.centerx + min(reach, 0), box.top, abs(reach), thick)
            else:
                filled = pygame.Rect(box.left, box.top, round(value * bar), thick)
            pygame.draw.rect(surface, colour, filled, border_radius=thick // 2)
            if name == "steer":
                pygame.draw.line(surface, self._palette.text, (box.centerx, box.top - 2), (box.centerx, box.bottom + 1))
            y = place.bottom + self._small * 0.45
        return y

    def _laps(self, surface: pygame.Surface, car: CarView, x: float, y: float, width: int) -> float:
        watch = car.stopwatch
        rows = [
            ("lap", "out" if watch.lap < 1 else str(watch.lap)),
            ("current", seconds(watch.current)),
            *([("last", seconds(watch.last))] if len(watch.laps) < 2 else []),  # the first line of the list below
            ("best", seconds(watch.best)),
        ]
        for name, value in rows:
            place = draw_text(surface, name, (x, y), self._small, self._palette.text_dim)
            draw_text(surface, value, (x + width, y), self._small, self._palette.text, "topright")
            y = place.bottom + self._small * 0.35
        return self._lap_list(surface, watch, x, y, width) if len(watch.laps) > 1 else y

    def _lap_list(self, surface: pygame.Surface, watch: Stopwatch, x: float, y: float, width: int) -> float:
        """Draw the latest laps, with how much slower than the best each one was."""
        pygame.draw.line(surface, self._palette.panel_line, (x, y), (x + width, y))
        y += self._small * 0.6
        best = min(watch.laps)
        for number in range(len(watch.laps), max(len(watch.laps) - LAPS_LISTED, 0), -1):
            time = watch.laps[number - 1]
            colour = self._palette.text if time == best else self._palette.text_dim
            behind = "best" if time == best else f"+{time - best:.2f}"
            place = draw_text(surface, str(number), (x, y), self._small, self._palette.text_dim)
            draw_text(surface, seconds(time), (x + width * 0.6, y), self._small, colour, "topright")
            draw_text(surface, behind, (x + width, y), self._small, colour, "topright")
            y = place.bottom + self._small * 0.25
        return y

    def _list(
        self,
        surface: pygame.Surface,
        cars: Sequence[CarView],
        focus: int,
        gaps: Sequence[float | None] | None,
        x: float,
        y: float,
        width: int,
        end: float,
    ) -> None:
        pygame.draw.line(surface, self._palette.panel_line, (x, y), (x + width, y))
        y += self._small * 0.6
        side = self._small * 0.5
        for index, car in enumerate(cars):
            if y + self._small * 2.2 > end and index < len(cars) - 1:
                draw_text(surface, f"and {len(cars) - index} more", (x, y), self._small, self._palette.text_dim)
                return
            colour = self._palette.text if index == focus else self._palette.text_dim
            if gaps is None or index == focus:
                time, shade = seconds(car.stopwatch.best), colour
            else:
                time, shade = self._gap(gaps[index])
            place = draw_text(surface, time, (x + width, y), self._small, shade, "topright")
            room = int(place.left - x - side - 16)
            name = draw_text(surface, car.name, (x + side + 8, y), self._small, colour, width=room)
            self._swatch(surface, car, x, name.centery, side)
            y = name.bottom + self._small * 0.3

    def _gap(self, gap: float | None) -> tuple[str, style.Colour]:
        """Return a gap as displayed, and its colour: ahead of the car in focus, or behind it."""
        if gap is None:
            return "-", self._palette.text_dim
        return f"{gap:+.2f} s", self._palette.ahead if gap < 0 else self._palette.behind

    def _legend(self, surface: pygame.Surface, x: float, y: float, width: int) -> None:
        """Draw the legend of a trail's colours and their speeds."""
        thick = max(4, self._small // 3)
        surface.blit(_colour_bar(width, thick), (round(x), round(y)))
        draw_text(surface, "0", (x, y + thick + 3), self._small - 2, self._palette.text_dim)
        top = f"{self.max_speed:g} {_UNIT}"
        draw_text(surface, top, (x + width, y + thick + 3), self._small - 2, self._palette.text_dim, "topright")
