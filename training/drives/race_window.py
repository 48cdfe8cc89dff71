"""The window of ``training.watch``: a race, its pictures, and its keys."""

from collections.abc import Callable, Sequence

import numpy as np
import pygame

from racer_env.contract import TICKS_PER_SECOND
from racer_env.errors import RenderError
from racer_env.rendering import CAMERAS
from racer_env.rendering.painter import Painter
from racer_env.rendering.window import TOO_SLOW, Window
from racer_env.tracks import Track
from training.console.messages import note
from training.drives.race import Entrant, PersonEntrant, Race

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
COUNTDOWN = 3  # seconds before a race
SIZE = (1280, 720)  # pixels, width and height
FOOTER = 26  # pixels, height of the line of help
HELP = "space pause   Enter again   + - speed   C camera   V rays   T trails   N track   Tab car"
HELP_TO_DRIVE = "arrows or W A S D by place drive   Esc quit   "

# Places on the keyboard, the same for every layout.
_LEFT, _RIGHT = (pygame.KSCAN_LEFT, pygame.KSCAN_A), (pygame.KSCAN_RIGHT, pygame.KSCAN_D)
_THROTTLE, _BRAKE = (pygame.KSCAN_UP, pygame.KSCAN_W), (pygame.KSCAN_DOWN, pygame.KSCAN_S)
_DRIVING = {*_LEFT, *_RIGHT, *_THROTTLE, *_BRAKE}


def show_race(entrants: Sequence[Entrant], tracks: Sequence[Track], camera: str, laps: int | None) -> str:
    """Show a race until its window is closed; the arguments are those of ``RaceWindow``.

    Returns:
        The result of the race; empty if there was none.

    Raises:
        RenderError: There is no display.
    """
    try:
        window = Window("Top-Down Racer", SIZE)
    except RenderError as error:
        raise RenderError(
            f"{error}; python -m training.evaluate --model MODEL --video lap.mp4 makes a video, which needs none"
        ) from error
    try:
        return RaceWindow(window, entrants, tracks, camera, laps).run()
    finally:
        window.close()


class RaceWindow:
    """Shows a race in a window until it is closed.

    Attributes:
        race: The race on the track now shown.
        painter: Painter of the pictures.
        focus: Index of the car that camera, rays and read-out belong to.
        speed: Game ticks per tick of real time.
        is_paused: Whether the user has paused the game.
    """

    def __init__(
        self, window: Window, entrants: Sequence[Entrant], tracks: Sequence[Track], camera: str, laps: int | None
    ) -> None:
        """Make the window's contents.

        Args:
            window: Window that shows the race.
            entrants: Entrants, one for each car.
            tracks: Tracks to go through, the first one first.
            camera: Camera at the beginning, WHOLE or FOLLOW.
            laps: Number of laps in the race; None is driving without a race.
        """
        self.focus = 0
        self.speed = 1.0
        self.is_paused = False
        self._window = window
        self._entrants = list(entrants)
        self._tracks = list(tracks)
        self._camera = camera
        self._laps = laps
        self._person = next((entrant for entrant in entrants if isinstance(entrant, PersonEntrant)), None)
        self._keys: dict[int, Callable[[], None]] = {
            pygame.K_SPACE: self._pause,
            pygame.K_c: self._change_camera,
            pygame.K_v: self._switch_rays,
            pygame.K_t: self._switch_trails,
            pygame.K_PLUS: lambda: self._change_speed(1),
            pygame.K_EQUALS: lambda: self._change_speed(1),
            pygame.K_KP_PLUS: lambda: self._change_speed(1),
            pygame.K_MINUS: lambda: self._change_speed(-1),
            pygame.K_KP_MINUS: lambda: self._change_speed(-1),
            pygame.K_n: self._next_track,
            pygame.K_TAB: self._next_car,
            pygame.K_RETURN: self._restart,
            pygame.K_q: self._quit,
            pygame.K_ESCAPE: self._quit,
        }
        self._told = set[str]()
        self._show_track(0)

    def run(self) -> str:
        """Show the race until the window is closed; return its result, empty if there was none."""
        while self._window.is_open:
            self.frame()
        return self.race.result()

    def frame(self) -> None:
        """Show one frame: process the keys, drive the ticks that are due, draw the picture."""
        for key, place in self._window.pressed():
            if self._person is None or place not in _DRIVING:  # on AZERTY, Q is where A is elsewhere
                self._keys.get(key, lambda: None)()
        if self._person is not None:
            self._person.action = self._steered()
        if not self.is_paused:
            self._advance()
        picture = self.painter.draw(self.race.cars, self.focus, self._message())
        self.painter.draw_footer(self._footer())
        self._frames = self._window.show(picture, TICKS_PER_SECOND)

    def _footer(self) -> str:
        pace = self._window.metronome.pace
        slow = f"only {pace:.0%} of real time   " if pace < TOO_SLOW else ""
        speed = f"speed {self.speed:g}   " if self.speed != 1.0 else ""
        doubt = f"{self._doubts[self.focus]}   " if self._doubts[self.focus] else ""
        return slow + speed + doubt + ("Q quit   " if self._person is None else HELP_TO_DRIVE) + HELP

    def _advance(self) -> None:
        waited = min(self._wait, self._frames)
        self._wait -= waited
        self._due += self.speed * (self._frames - waited)
        while self._due >= 1.0:
            self._due -= 1.0
            self.race.step()

    def _message(self) -> str:
        if self.is_paused:
            return "paused"
        if self._wait > 0:
            return str(-(-self._wait // TICKS_PER_SECOND))
        if self._laps is not None and self.race.tick < TICKS_PER_SECOND:
            return "go"
        result = self.race.result()
        return f"{result}\nEnter starts again" if result else ""

    def _steered(self) -> np.ndarray:
        def held(places: tuple[int, ...]) -> float:
            return float(not self._window.held.isdisjoint(places))

        return np.array([held(_RIGHT) - held(_LEFT), held(_THROTTLE), held(_BRAKE)])

    def _show_track(self, index: int) -> None:
        self._at = index
        self.race = Race(self._tracks[index], self._entrants, self._laps)
        self._doubts = [entrant.doubt_on(self._tracks[index]) for entrant in self._entrants]
        for doubt in self._doubts:
            if doubt is not None and doubt not in self._told:
                self._told.add(doubt)
                note(doubt)
        self.painter = Painter(self._tracks[index], self._window.size, camera=self._camera, footer=FOOTER)
        self._restart()

    def _restart(self) -> None:
        self._due = 0.0
        self._frames = 1  # frames of real time that are due, more than 1 after a late one
        self._wait = COUNTDOWN * TICKS_PER_SECOND if self._laps is not None else 0
        self.race.restart()

    def _pause(self) -> None:
        self.is_paused = not self.is_paused

    def _change_camera(self) -> None:
        self._camera = CAMERAS[(CAMERAS.index(self._camera) + 1) % len(CAMERAS)]
        self.painter.camera = self._camera

    def _switch_rays(self) -> None:
        self.painter.rays = not self.painter.rays

    def _switch_trails(self) -> None:
        self.painter.trails = not self.painter.trails

    def _change_speed(self, by: int) -> None:
        self.speed = SPEEDS[min(max(SPEEDS.index(self.speed) + by, 0), len(SPEEDS) - 1)]

    def _next_track(self) -> None:
        rays, trails = self.painter.rays, self.painter.trails
        self._show_track((self._at + 1) % len(self._tracks))
        self.painter.rays, self.painter.trails = rays, trails

    def _next_car(self) -> None:
        self.focus = (self.focus + 1) % len(self._entrants)

    def _quit(self) -> None:
        self._window.close()
