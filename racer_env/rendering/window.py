"""A window on the screen that shows frames and takes keys."""

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pygame

from racer_env.errors import RenderError
from racer_env.rendering.metronome import MAX_DUE, Metronome

NO_SCREEN_DRIVERS = ("dummy", "offscreen", "evdev")


TOO_SLOW = 0.95  # share of real time below which the title says so


class Press(NamedTuple):
    """A key that was pressed.

    Attributes:
        key: What the keyboard layout calls it, as pygame's ``K_`` numbers.
        place: Where on the keyboard it is, whatever the layout, as pygame's ``KSCAN_`` numbers.
    """

    key: int
    place: int


class Window:
    """A window.

    Attributes:
        size: Width and height of the window now, in pixels.
        is_open: Whether the window is open, that is, not closed by the user.
        held: Places of the keys held down, see ``Press``.
        metronome: Beat of the frames.
    """

    _shown: "Window | None" = None  # SDL has one window per process: a new one replaces the old one

    def __init__(self, title: str, size: tuple[int, int], is_resizable: bool = False) -> None:
        """Open the window.

        Args:
            title: Its title.
            size: Width and height, in pixels.
            is_resizable: Whether the user may change its size; ``size`` then tells it.

        Raises:
            RenderError: There is no display.
        """
        self.size = size
        driver = os.environ.get("SDL_VIDEODRIVER", "")
        has_screen = sys.platform in ("win32", "darwin") or bool(
            os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        )
        if not has_screen and driver not in NO_SCREEN_DRIVERS:  # SDL would draw into nothing, without an error
            raise RenderError("there is no display to open a window on")
        try:
            pygame.display.init()
            pygame.display.set_mode(size, pygame.RESIZABLE if is_resizable else 0)
        except pygame.error as error:
            raise RenderError(f"cannot open a window: {error}") from error
        if not driver and pygame.display.get_driver() in NO_SCREEN_DRIVERS:
            pygame.display.quit()
            raise RenderError("the display cannot be opened, DISPLAY names none that answers")
        self._title = title
        pygame.display.set_caption(title)
        Window._shown = self
        self.is_open = True
        self.held: set[int] = set()
        self.metronome = Metronome()

    def show(self, picture: pygame.Surface, fps: float, most: int = MAX_DUE) -> int:
        """Show a frame, wait for the next one's time, and return how many are then due; see ``Metronome.wait``.

        If frames come too slowly for real time, the title says so.
        """
        if Window._shown is not self:
            self.is_open = False
        if not self.is_open:
            return 1
        screen = pygame.display.get_surface()  # another one after the user has changed the window's size
        assert screen is not None
        screen.blit(picture, (0, 0))
        pygame.display.flip()
        frames = self.metronome.wait(fps, most)
        pace = self.metronome.pace
        title = self._title if pace >= TOO_SLOW else f"{self._title} ({pace:.0%} of real time)"
        if title != pygame.display.get_caption()[0]:
            pygame.display.set_caption(title)
        return frames

    def pressed(self) -> Iterator[Press]:
        """Process the events since the last call, and yield the keys pressed."""
        if not self.is_open:
            return
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.is_open = False
            elif event.type == pygame.VIDEORESIZE:
                self.size = event.size
            elif event.type == pygame.KEYDOWN:
                self.held.add(event.scancode)
                is_question = getattr(event, "unicode", "") == "?"  # which layouts have above different keys
                yield Press(pygame.K_QUESTION if is_question else event.key, event.scancode)
            elif event.type == pygame.KEYUP:
                self.held.discard(event.scancode)
            elif event.type == pygame.WINDOWFOCUSLOST:
                self.held.clear()

    def close(self) -> None:
        """Close the window; safe to call twice."""
        self.is_open = False
        if Window._shown is self:
            Window._shown = None
            pygame.display.quit()
