"""The window of ``training.watch``: a race, its pictures, and its keys."""

from collections.abc import Callable, Sequence

import numpy as np
import pygame

from racer_env.contract import TICKS_PER_SECOND
from racer_env.errors import RenderError
from racer_env.rendering import CAMERAS, DARK
from racer_env.rendering.painter import MAX_SIZE, MIN_SIZE, Painter
from racer_env.rendering.window import TOO_SLOW, Window
from racer_env.tracks import Track
from training.console.messages import note
from training.drives.gamepad import CAMERA, PAUSE, PUT_BACK, RAYS, RESTART, Devices
from training.drives.person import BestDrives, PersonEntrant
from training.drives.race import Entrant, Race

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
COUNTDOWN = 3  # seconds before a race
SIZE = (1280, 720)  # pixels, width and height
FOOTER = 26  # pixels, height of the line of help
HELP = "space pause   Enter again   + - speed   C camera   V rays   T trails   N car   M track   F1 all keys"
HELP_TO_DRIVE = "arrows or W A S D by place drive   H assist {assist}   R back on the road   Esc quit   F1 all keys"
ALL_KEYS = (
    ("left and right, A and D", "steer"),
    ("up, W", "accelerate"),
    ("down, S", "brake"),
    ("H", "steering assist on or off: it limits the lock by speed"),
    ("R, Backspace", "put the car back on the road; the lap does not count"),
    ("space or P, Enter", "pause; start again"),
    ("C, V, T", "camera; rays; trails"),
    ("+ and -", "faster and slower"),
    ("N, M", "look at the next car; next track"),
    ("Escape", "quit"),
    ("gamepad", "left stick or cross steers; triggers, or A and B"),
    ("gamepad", "Start pauses, Back starts again, Y: back on the road"),
    ("gamepad", "X rays, right shoulder camera"),
)

# Places on the keyboard, the same for every layout.
_LEFT, _RIGHT = (pygame.KSCAN_LEFT, pygame.KSCAN_A), (pygame.KSCAN_RIGHT, pygame.KSCAN_D)
_THROTTLE, _BRAKE = (pygame.KSCAN_UP, pygame.KSCAN_W), (pygame.KSCAN_DOWN, pygame.KSCAN_S)
_DRIVING = {*_LEFT, *_RIGHT, *_THROTTLE, *_BRAKE}


def show_race(
    entrants: Sequence[Entrant],
    tracks: Sequence[Track],
    camera: str,
    laps: int | None,
    best_drives: BestDrives | None = None,
    colours: str = DARK,
) -> str:
    """Show a race until its window is closed; the arguments are those of ``RaceWindow``.

    Returns:
        The result of the race; empty if there was none.

    Raises:
        RenderError: There is no display.
    """
    try:
        window = Window("Top-Down Racer", SIZE, is_resizable=True)
    except RenderError as error:
        raise RenderError(
            f"{error}; python -m training.evaluate --model MODEL --video lap.mp4 makes a video, which needs none"
        ) from error
    try:
        return RaceWindow(window, entrants, tracks, camera, laps, best_drives, colours).run()
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
        self,
        window: Window,
        entrants: Sequence[Entrant],
        tracks: Sequence[Track],
        camera: str,
        laps: int | None,
        best_drives: BestDrives | None = None,
        colours: str = DARK,
    ) -> None:
        """Make the window's contents.

        Args:
            window: Window that shows the race.
            entrants: Entrants, one for each car.
            tracks: Tracks to go through, the first one first.
            camera: Camera at the beginning, one of CAMERAS.
            laps: Number of laps in the race; None is driving without a race.
            best_drives: Takes down what a person drives; None if nobody wants to know.
            colours: Colours of the pictures, one of COLOURS.
        """
        self.focus = 0
        self.speed = 1.0
        self.is_paused = False
        self._window = window
        self._entrants = list(entrants)
        self._tracks = list(tracks)
        self._camera, self._rays, self._trails = camera, True, True
        self._colours = colours
        self._laps = laps
        self._best_drives = best_drives
        self._person = next((entrant for entrant in entrants if isinstance(entrant, PersonEntrant)), None)
        self._devices = None if self._person is None else Devices()
        self._keys = self._commands()
        self._buttons: dict[str, Callable[[], None]] = {
            PUT_BACK: self._put_back,
            PAUSE: self._pause,
            RESTART: self._restart,
            CAMERA: self._change_camera,
            RAYS: self._switch_rays,
        }
        self._told = set[str]()
        self._shows_help = False
        self._show_track(0)

    def _commands(self) -> dict[int, Callable[[], None]]:
        """Return what keys do besides driving."""
        return {
            pygame.K_SPACE: self._pause,
            pygame.K_p: self._pause,
            pygame.K_c: self._change_camera,
            pygame.K_v: self._switch_rays,
            pygame.K_t: self._switch_trails,
            pygame.K_PLUS: lambda: self._change_speed(1),
            pygame.K_EQUALS: lambda: self._change_speed(1),
            pygame.K_KP_PLUS: lambda: self._change_speed(1),
            pygame.K_MINUS: lambda: self._change_speed(-1),
            pygame.K_KP_MINUS: lambda: self._change_speed(-1),
            pygame.K_n: self._next_car,
            pygame.K_TAB: self._next_car,
            pygame.K_m: self._next_track,
            pygame.K_RETURN: self._restart,
            pygame.K_h: self._switch_assist,
            pygame.K_r: self._put_back,
            pygame.K_BACKSPACE: self._put_back,
            pygame.K_F1: self._switch_help,
            pygame.K_QUESTION: self._switch_help,
            pygame.K_q: self._quit,
            pygame.K_ESCAPE: self._quit,
        }

    def run(self) -> str:
        """Show the race until the window is closed; return its result, empty if there was none."""
        while self._window.is_open:
            self.frame()
        return self.race.result()

    def frame(self) -> None:
        """Show one frame: process keys and buttons, drive the ticks that are due, draw the picture."""
        for key, place in self._window.pressed():
            if self._person is None or place not in _DRIVING:  # on AZERTY, Q is where A is elsewhere
                self._keys.get(key, lambda: None)()
        if self._person is not None and self._devices is not None:
            self._person.wish = np.clip(self._keys_held() + self._devices.wish(), (-1.0, 0.0, 0.0), 1.0)
            for purpose in self._devices.pressed():
                self._buttons[purpose]()
        if not self.is_paused:
            self._advance()
        if self._size() != self.painter.size:
            self._make_painter()
        gaps = None if self._laps is None else self.race.gaps(self.focus)
        picture = self.painter.draw(self.race.cars, self.focus, self._message(), gaps)
        self.painter.draw_footer(self._footer())
        if self._shows_help:
            self.painter.draw_help(ALL_KEYS)
        self._frames = self._window.show(picture, TICKS_PER_SECOND)

    def _footer(self) -> str:
        pace = self._window.metronome.pace
        slow = f"only {pace:.0%} of real time   " if pace < TOO_SLOW else ""
        speed = f"speed {self.speed:g}   " if self.speed != 1.0 else ""
        doubt = f"{self._doubts[self.focus]}   " if self._doubts[self.focus] else ""
        if self._person is None:
            return f"{slow}{speed}{doubt}Q quit   {HELP}"
        return slow + speed + doubt + HELP_TO_DRIVE.format(assist="on" if self._person.is_assisted else "off")

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

    def _keys_held(self) -> np.ndarray:
        def held(places: tuple[int, ...]) -> float:
            return float(not self._window.held.isdisjoint(places))

        return np.array([held(_RIGHT) - held(_LEFT), held(_THROTTLE), held(_BRAKE)])

    def _show_track(self, index: int) -> None:
        self._at = index
        self.race = Race(self._tracks[index], self._entrants, self._laps, self._best_drives)
        self._doubts = [entrant.doubt_on(self._tracks[index]) for entrant in self._entrants]
        for doubt in self._doubts:
            if doubt is not None and doubt not in self._told:
                self._told.add(doubt)
                note(doubt)
        self._make_painter()
        self._restart()

    def _make_painter(self) -> None:
        self.painter = Painter(
            self.race.track,
            self._size(),
            camera=self._camera,
            rays=self._rays,
            trails=self._trails,
            colours=self._colours,
            footer=FOOTER,
        )

    def _size(self) -> tuple[int, int]:
        """Return the size of the pictures: the window's, as far as pictures can have it."""
        width, height = (min(max(side, MIN_SIZE), MAX_SIZE) for side in self._window.size)
        return width, height

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
        self.painter.rays = self._rays = not self._rays

    def _switch_trails(self) -> None:
        self.painter.trails = self._trails = not self._trails

    def _switch_assist(self) -> None:
        if self._person is not None:
            self._person.is_assisted = not self._person.is_assisted

    def _put_back(self) -> None:
        if self._person is not None and self._wait == 0:
            self.race.put_back(self._entrants.index(self._person))

    def _change_speed(self, by: int) -> None:
        self.speed = SPEEDS[min(max(SPEEDS.index(self.speed) + by, 0), len(SPEEDS) - 1)]

    def _next_track(self) -> None:
        self._show_track((self._at + 1) % len(self._tracks))

    def _next_car(self) -> None:
        self.focus = (self.focus + 1) % len(self._entrants)

    def _switch_help(self) -> None:
        self._shows_help = not self._shows_help

    def _quit(self) -> None:
        self._window.close()
