"""The scene that an environment draws: its cars, followed tick by tick, as arrays or in a window."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pygame

from racer_env.contract import TICKS_PER_SECOND
from racer_env.errors import ConfigError
from racer_env.rendering import DARK, WHOLE, style
from racer_env.rendering.car_view import CarView
from racer_env.rendering.painter import MIN_SIZE, SIZE, Painter, check_size
from racer_env.rendering.window import Window
from racer_env.tracks import Track


@dataclass(frozen=True)
class View:
    """How an environment is drawn.

    Attributes:
        size: Width and height of a picture, in pixels.
        camera: ``"track"`` shows all of the track, ``"follow"`` follows the first car with north up, and ``"heading"``
            with its heading up.
        rays: Whether to draw the rays of the first car.
        trails: Whether to draw where the cars have been, coloured by speed.
        colours: ``"dark"`` or ``"light"``.
    """

    size: tuple[int, int] = SIZE
    camera: str = WHOLE
    rays: bool = True
    trails: bool = True
    colours: str = DARK


def view_of(view: View | dict[str, Any] | None) -> View:
    """Return how an environment that was given this is drawn; None is the default.

    Raises:
        ConfigError: A dict has another key than the attributes of ``View``.
    """
    if not isinstance(view, dict):
        return View() if view is None else view
    known = [field.name for field in dataclasses.fields(View)]
    unknown = sorted(set(view) - set(known))
    if unknown:
        raise ConfigError(f"view: unknown key {unknown[0]!r}; allowed: {', '.join(known)}")
    return View(**view)


class Scene:
    """Cars on one or several tracks; several tracks share the picture.

    Attributes:
        cars: The drawn view of each car.
    """

    def __init__(self, tracks: Sequence[Track], num_cars: int, view: View, fps: float = TICKS_PER_SECOND) -> None:
        """Make the scene; car i is on track i modulo the number of tracks.

        Args:
            tracks: Tracks of the cars.
            num_cars: Number of cars.
            view: How they are drawn.
            fps: Pictures in a second of the game, for the window.

        Raises:
            ConfigError: The view asks for something impossible.
        """
        self.cars = [
            CarView(f"car {index + 1}" if num_cars > 1 else "car", style.car_colour(index // len(tracks)))
            for index in range(num_cars)
        ]
        self._view = view
        self._fps = fps
        self._window: Window | None = None
        self.change_tracks(tracks)

    def change_tracks(self, tracks: Sequence[Track]) -> None:
        """Move the cars to other tracks."""
        view = self._view
        self._tracks = list(tracks)
        self._columns = math.ceil(math.sqrt(len(tracks)))
        rows = math.ceil(len(tracks) / self._columns)
        check_size(view.size)
        self._part = (view.size[0] // self._columns, view.size[1] // rows)
        if min(self._part) < MIN_SIZE:
            raise ConfigError(f"a picture of {view.size[0]} x {view.size[1]} is too small for {len(tracks)} tracks")
        self._painters = self._make_painters()

    def begin(self, car: int, state: Any, observation: npt.NDArray[np.floating]) -> None:
        """Place a car at the start of its episode; see ``CarView``."""
        self.cars[car].begin(state, observation, self._physics_of(car))

    def see(self, car: int, state: Any, observation: npt.NDArray[np.floating]) -> None:
        """Update a car to its state after a tick; see ``CarView``."""
        self.cars[car].see(state, observation, self._physics_of(car))

    def render(self) -> npt.NDArray[np.uint8]:
        """Return the picture (height, width, 3); see ``View``."""
        self._draw()
        width, height = self._view.size
        pictures = [painter.pixels() for painter in self._painters]
        if len(pictures) == 1:
            return pictures[0]
        whole = np.empty((height, width, 3), np.uint8)
        whole[:] = style.PALETTES[self._view.colours].outside
        for index, picture in enumerate(pictures):
            left = index % self._columns * picture.shape[1]
            top = index // self._columns * picture.shape[0]
            whole[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
        return whole

    def render_each(self) -> list[npt.NDArray[np.uint8]]:
        """Return a picture of each car, alone on its track; several tracks still share the size of one picture."""
        pictures = []
        for index, car in enumerate(self.cars):
            painter = self._painters[index % len(self._tracks)]
            painter.draw([car])
            pictures.append(painter.pixels())
        return pictures

    def show(self) -> None:
        """Show the picture in a window, opened on first use; a window that the user has closed stays closed.

        Raises:
            RenderError: There is no display.
        """
        if self._window is None:
            self._window = Window("Top-Down Racer", self._view.size)
        for _ in self._window.pressed():
            pass
        if self._window.is_open:
            self._window.show(pygame.surfarray.make_surface(self.render().swapaxes(0, 1)), self._fps, most=1)

    def close(self) -> None:
        """Close the window; safe to call twice."""
        if self._window is not None:
            self._window.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_window": None, "_painters": None}  # surfaces cannot be copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._painters = self._make_painters()

    def _make_painters(self) -> list[Painter]:
        view = self._view
        return [
            Painter(track, self._part, camera=view.camera, rays=view.rays, trails=view.trails, colours=view.colours)
            for track in self._tracks
        ]

    def _draw(self) -> None:
        count = len(self._tracks)
        for index, painter in enumerate(self._painters):
            painter.draw(self.cars[index::count])

    def _physics_of(self, car: int) -> Any:
        return self._tracks[car % len(self._tracks)].physics
