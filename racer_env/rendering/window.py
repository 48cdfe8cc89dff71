"""A window on the screen that shows frames and takes keys."""

import os
import sys
from collections.abc import Iterator

import pygame

from racer_env.contract import TICKS_PER_SECOND
from racer_env.errors import RenderError

NO_SCREEN_DRIVERS = ("dummy", "offscreen", "evdev")


class Window:
    """A window of a fixed size.

    Attributes:
        size: Width and height of the window, in pixels.
        is_open: Whether the window is open, that is, not closed by the user.
        keys: The keys held down, as pygame's numbers.
    """

    _shown: "Window | None" = None  # SDL has one window per process: a new one replaces the old one

    def __init__(self, title: str, size: tuple[int, int]) -> None:
        """Open the window.

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
            self._screen = pygame.display.set_mode(size)
        except pygame.error as error:
            raise RenderError(f"cannot open a window: {error}") from error
        if not driver and pygame.display.get_driver() in NO_SCREEN_DRIVERS:
            pygame.display.quit()
            raise RenderError("the display cannot be opened, DISPLAY names none that answers")
        pygame.display.set_caption(title)
        Window._shown = self
        self.is_open = True
        self.keys: set[int] = set()
        self._clock = pygame.time.Clock()

    def show(self, picture: pygame.Surface, fps: float = TICKS_PER_SECOND) -> None:
        """Show a frame, waiting for its time at ``fps`` frames a second."""
        if Window._shown is not self:
            self.is_open = False
        if not self.is_open:
            return
        self._screen.blit(picture, (0, 0))
        pygame.display.flip()
        self._clock.tick(fps)

    def pressed(self) -> Iterator[int]:
        """Process the events since the last call, and yield the keys pressed."""
        if not self.is_open:
            return
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.is_open = False
            elif event.type == pygame.KEYDOWN:
                self.keys.add(event.key)
                yield event.key
            elif event.type == pygame.KEYUP:
                self.keys.discard(event.key)
            elif event.type == pygame.WINDOWFOCUSLOST:
                self.keys.clear()

    def close(self) -> None:
        """Close the window; safe to call twice."""
        self.is_open = False
        if Window._shown is self:
            Window._shown = None
            pygame.display.quit()
